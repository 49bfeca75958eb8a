/**
 * What part of a whole something is: from 0 to 1; 0 of nothing. Never above 1, though what is counted may outgrow its
 * whole: mail that was opened comes back and leaves the delivered, and what happens on a day may concern mail of before.
 */
export function fraction(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole);
}
