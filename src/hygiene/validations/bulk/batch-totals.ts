import { counterNames } from "#hygiene/validations/counts-by-day.ts";
import type { ValidationStatus } from "#hygiene/validations/score.ts";
import type { LimitReason } from "#workspace/billing/meter-arithmetic.ts";
import type { AddressFile } from "./address-file.ts";
import type { DoneBatch } from "./store.ts";

/** The totals over the batches of a bulk validation. */
export class BatchTotals {
  readonly #batches = new Map<number, DoneBatch>();
  /** By counter name (counts-by-day.ts). */
  readonly #counts = Object.fromEntries(Object.values(counterNames).map((name) => [name, 0]));
  #answered = 0;
  #stoppedBy: LimitReason | null = null;

  /** Adds batches; a batch that was added before is ignored. */
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

  /** The limit that stopped the job; null: none so far. */
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

  /** @param rest the number of addresses without a result */
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
