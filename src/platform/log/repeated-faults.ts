/**
 * Faults that come again and again, in an outage with every request: the first is logged whole, the others of the next
 * seconds are counted and told in one line.
 */
import type { Log } from "./log.ts";

const INTERVAL_MS = 10_000;
/** Kinds told apart at once; what is beyond is counted together. */
const MOST_KINDS = 500;
const OTHERS = "others";

export interface Fault {
  /** Faults of one kind are one fault that repeats itself. */
  readonly kind: string;
  readonly level: "warn" | "error";
  readonly message: string;
  /** What is known of the first of them. */
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Repeated extends Fault {
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

  /** @param operation what failed, for the count */
  note(fault: Fault, operation: string): void {
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
