/** What the batches of a bulk validation come to, all together. */

import type { LimitReason } from "#workspace/billing/quota.ts";
import type { ValidationStatus } from "#hygiene/validations/score.ts";
import { counterNames } from "#hygiene/validations/stats.ts";
import type { AddressFile } from "./address-file.ts";
import type { DoneBatch } from "./store.ts";

export class BatchTotals {
  readonly #batches = new Map<number, DoneBatch>();
  /** By the names that statuses have in statistics. */
  readonly #counts = Object.fromEntries(Object.values(counterNames).map((name) => [name, 0]));
  #answered = 0;
  #stoppedBy: LimitReason | null = null;

  /** Each batch counts once. */
  add(batches: readonly DoneBatch[]): void {
    for (const done of batches) {
      if (this.#batches.has(done.batch)) continue;
      this.#batches.set(done.batch, done);
      this.#answered += done.answered;
      this.#stoppedBy ??= done.stopped_by;
      for (const [status, count] of Object.entries(done.counts)) {
        const name = counterNames[status as ValidationStatus];
        this.#counts[name] = (this.#counts[name] ?? 0) + count;
      }
    }
  }

  find(batch: number): DoneBatch | undefined {
    return this.#batches.get(batch);
  }

  /** Why nothing more is answered; null as long as something is. */
  get stoppedBy(): LimitReason | null {
    return this.#stoppedBy;
  }

  progress({ addresses, duplicates }: AddressFile) {
    return {
      total: addresses.length + duplicates,
      processed: this.#answered + duplicates,
      succeeded: this.#answered,
      skipped: duplicates,
      counts: { ...this.#counts, duplicates },
    };
  }

  /** @param rest how many were not answered */
  result({ addresses, duplicates, warnings }: AddressFile, rest: number) {
    return {
      addresses: addresses.length,
      duplicates,
      ...this.#counts,
      not_validated: rest,
      stopped_by: this.#stoppedBy,
      ...(warnings.length > 0 && { warnings }),
    };
  }
}
