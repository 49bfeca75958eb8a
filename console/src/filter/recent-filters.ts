/** The filters that a person used last in a list. Remembered in this browser for each person. */
import type { FilterValues } from "./filter.ts";

const MOST = 5;

export class RecentFilters {
  readonly #key: string;

  constructor(personId: string, list: string) {
    this.#key = `filters ${personId} ${list}`;
  }

  read(): readonly FilterValues[] {
    try {
      return JSON.parse(localStorage.getItem(this.#key) ?? "[]") as FilterValues[];
    } catch {
      return [];
    }
  }

  add(values: FilterValues): void {
    if (Object.keys(values).length === 0) return;
    const same = JSON.stringify(values);
    const others = this.read().filter((one) => JSON.stringify(one) !== same);
    localStorage.setItem(this.#key, JSON.stringify([values, ...others].slice(0, MOST)));
  }
}
