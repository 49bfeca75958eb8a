/** The list of standbys that commits wait for: the value of `synchronous_standby_names` (PostgreSQL manual, 19.6.2). */

/** `FIRST n (…)`, `ANY n (…)` or `n (…)`; a bare list is another form. */
const COUNTED = /^\s*(?:(?:first|any)\s+)?(\d+)\s*\((.*)\)\s*$/is;
/** A name in double quotes, in which `""` is a quote, or without. */
const NAME = /"((?:[^"]|"")*)"|([^\s,"]+)/g;

export class SynchronousStandbys {
  /** How many standbys must confirm a commit. */
  readonly needed: number;
  /** As in the setting, without quotes. */
  readonly names: readonly string[];
  /** Whether the list has `*`, which stands for every name. */
  readonly isForAll: boolean;

  /** @param setting as PostgreSQL reports it, so its form is right; not empty */
  constructor(setting: string) {
    const [, count = "1", list = setting] = COUNTED.exec(setting) ?? [];
    this.needed = Number(count);
    this.names = [...list.matchAll(NAME)].map(([, quoted, plain = ""]) =>
      quoted === undefined ? plain : quoted.replaceAll('""', '"'),
    );
    this.isForAll = this.names.includes("*");
  }

  /** Upper and lower case are the same, as for PostgreSQL. */
  has(name: string): boolean {
    return this.isForAll || this.names.some((listed) => isSame(listed, name));
  }

  /** The names of the list that none of these standbys has. */
  without(standbys: readonly { readonly name: string }[]): string[] {
    if (this.isForAll) return [];
    return this.names.filter((listed) => !standbys.some(({ name }) => isSame(listed, name)));
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
