/**
 * Limits log lines for repeated faults, such as those of every request during an outage: the first is logged in full,
 * those of the next seconds are counted and logged in one line.
 */
import type { Log } from "./log.ts";

const INTERVAL_MS = 10_000;
/** Kinds that are counted separately; further ones are counted together. */
const MOST_KINDS = 500;
const OTHERS = "others";

export interface RepeatedFault {
  /** Faults of the same kind count as repetitions. */
  readonly kind: string;
  readonly level: "warn" | "error";
  readonly message: string;
  /** Logged with the first fault. */
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Repeated extends RepeatedFault {
  more: number;
  readonly operations: Map<string, number>;
}

export class RepeatedFaults {
  readonly #log: Log;
  readonly #intervalMs: number;
  readonly #open = new Map<string, Repeated>();

  constructor(log: Log, intervalMs: number = INTERVAL_MS) {
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** @param operation that failed; repetitions are counted by operation */
  note(fault: RepeatedFault, operation: string): void {
    const kind = this.#open.size >= MOST_KINDS && !this.#open.has(fault.kind) ? OTHERS : fault.kind;
    const known = this.#open.get(kind);
    if (known !== undefined) {
      known.more += 1;
      known.operations.set(operation, (known.operations.get(operation) ?? 0) + 1);
      return;
    }
    this.#log[fault.level](fault.fields, fault.message);
    this.#open.set(kind, { ...fault, more: 0, operations: new Map() });
    this.#tellLater(kind);
  }

  #tellLater(kind: string): void {
    setTimeout(() => this.#tell(kind), this.#intervalMs).unref();
  }

  #tell(kind: string): void {
    const repeated = this.#open.get(kind);
    if (repeated === undefined) return;
    if (repeated.more === 0) {
      this.#open.delete(kind);
      return;
    }
    const { level, message, more, operations } = repeated;
    const times = more === 1 ? "once more" : `${more} times more`;
    this.#log[level](
      { kind, more, operations: Object.fromEntries(operations) },
      `${message}, ${times} in ${this.#intervalMs / 1_000} s`,
    );
    repeated.more = 0;
    operations.clear();
    this.#tellLater(kind);
  }
}
