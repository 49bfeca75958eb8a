/** Counts what each holder has of a shared resource in this process, so that no holder can take all of it. */
import type { Limit } from "./limit.ts";

/** A limit, and the holder for whom it is counted: a workspace id, key id or network. */
export interface Share {
  readonly limit: Limit;
  readonly holder: string;
}

/** An amount that was taken of some shares. */
export interface Held {
  /** Takes more. @returns the first limit that would be exceeded, or undefined if it was taken */
  takeMore(amount: number): Limit | undefined;
  /** Gives everything back; further calls do nothing. */
  release(): void;
}

export class HeldShares {
  readonly #used = new Map<Limit, Map<string, number>>();

  /**
   * Takes `amount` of each share, or nothing.
   * @returns what to release later, or the first limit that would be exceeded
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
