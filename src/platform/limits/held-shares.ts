/** Counts what each holder has of a shared resource in this process, so that no holder takes all of it. */
import type { Limit } from "./limit.ts";

/** One holder's share of a resource: the limit, and the workspace id, key id or network that it is counted for. */
export interface Share {
  readonly limit: Limit;
  readonly holder: string;
}

/** Gives back all or a part of what was taken; what was given back already is not given back twice. */
export interface Held {
  /** @returns the first limit that has no room for `amount` more, or undefined when it was taken */
  takeMore(amount: number): Limit | undefined;
  release(): void;
}

export class HeldShares {
  readonly #used = new Map<Limit, Map<string, number>>();

  /**
   * Takes `amount` of each share, or of none.
   * @returns what to release later, or the first limit that has no room
   */
  take(shares: readonly Share[], amount = 1): { held: Held } | { reached: Limit } {
    const reached = this.#reached(shares, amount);
    if (reached !== undefined) return { reached };
    this.#add(shares, amount);
    let taken = amount;
    const held: Held = {
      takeMore: (more) => {
        const full = this.#reached(shares, more);
        if (full !== undefined) return full;
        this.#add(shares, more);
        taken += more;
        return undefined;
      },
      release: () => {
        this.#add(shares, -taken);
        taken = 0;
      },
    };
    return { held };
  }

  used(limit: Limit, holder: string): number {
    return this.#used.get(limit)?.get(holder) ?? 0;
  }

  #reached(shares: readonly Share[], amount: number): Limit | undefined {
    return shares.find(({ limit, holder }) => this.used(limit, holder) + amount > limit.most)?.limit;
  }

  #add(shares: readonly Share[], amount: number): void {
    for (const { limit, holder } of shares) {
      const holders = this.#used.get(limit) ?? new Map<string, number>();
      this.#used.set(limit, holders);
      const used = (holders.get(holder) ?? 0) + amount;
      if (used > 0) holders.set(holder, used);
      else holders.delete(holder);
    }
  }
}
