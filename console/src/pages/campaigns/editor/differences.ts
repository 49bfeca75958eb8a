/** Compares versions of a draft field by field. */

type Fields = Readonly<Record<string, unknown>>;
export type Names<Draft> = readonly (keyof Draft & string)[];

/** The names in `one` whose values differ in `other`. */
export function differing<Draft extends object>(
  one: Partial<Draft>,
  other: Partial<Draft>,
): (keyof Draft & string)[] {
  const names = Object.keys(one) as (keyof Draft & string)[];
  return names.filter((name) => !isSame(one[name], other[name]));
}

export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object") return false;
  return JSON.stringify(one) === JSON.stringify(other);
}

export function picked<Draft extends object>(draft: Draft, names: Names<Draft>): Partial<Draft> {
  return Object.fromEntries(names.map((name) => [name, (draft as Fields)[name]])) as Partial<Draft>;
}
