/** The messages of one lane that wait: transactional mail in front of bulk mail, each in the order in which it came. */

import type { LeasedMessage } from "../queue/lease-store.ts";
import type { Priority } from "../queue/queue-store.ts";
import type { Destination } from "../routes/destination.ts";

/** A message and where it has to go. */
export interface Load {
  readonly message: LeasedMessage;
  readonly destination: Destination;
}

export class WaitingLine {
  readonly #loads: Readonly<Record<Priority, Load[]>> = { 0: [], 1: [] };

  get length(): number {
    return this.#loads[0].length + this.#loads[1].length;
  }

  /** Those of bulk mail. */
  get bulkLength(): number {
    return this.#loads[1].length;
  }

  add(load: Load): void {
    this.#loads[load.message.priority].push(load);
  }

  /** Takes out who is next among those who can go, of equal priority the first for `site`. */
  take(canGo: (load: Load) => boolean, site?: string): Load | undefined {
    for (const line of [this.#loads[0], this.#loads[1]]) {
      const sameSite = line.findIndex((load) => load.destination.site === site && canGo(load));
      const at = sameSite < 0 ? line.findIndex(canGo) : sameSite;
      const [load] = at < 0 ? [] : line.splice(at, 1);
      if (load) return load;
    }
    return undefined;
  }

  /** Takes out who would be last. */
  takeLast(): Load | undefined {
    return this.#loads[1].pop() ?? this.#loads[0].pop();
  }

  takeAll(): Load[] {
    return [...this.#loads[0].splice(0), ...this.#loads[1].splice(0)];
  }
}
