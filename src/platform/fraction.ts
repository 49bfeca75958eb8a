/**
 * The share of a part in a whole, from 0 to 1; 0 if the whole is 0. It is cut at 1 because counts of events may exceed the
 * whole: an opened message may bounce later and no longer count as delivered, or an event may concern mail of an earlier day.
 */
export function fraction(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole);
}
