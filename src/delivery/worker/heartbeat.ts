/** What a living worker does every 20 seconds: it extends its leases, checks its lock and recovers dead workers. */

import { setTimeout as delay } from "node:timers/promises";
import type { HeldMessages } from "#delivery/queue/held-messages.ts";
import { LEASE_SECONDS } from "#delivery/queue/lease-pacing.ts";
import { extendLeases } from "#delivery/queue/settle-leases-store.ts";
import type { Database } from "#platform/database/pool.ts";
import type { ProcessLock } from "#platform/database/process-lock.ts";
import type { Log } from "#platform/log/log.ts";
import type { Recovery } from "./recovery.ts";
import type { ResultWriter } from "./result-writer.ts";

const HEARTBEAT_MS = 20_000;

export interface HeartbeatOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: HeldMessages;
  readonly writer: Pick<ResultWriter, "unwritten">;
  readonly lock: Pick<ProcessLock, "check">;
  readonly recovery: Pick<Recovery, "run">;
  readonly log: Log;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #isRecovering = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Beats until the signal; resolves when the last beat has ended. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await delay(HEARTBEAT_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await this.beat().catch((err: unknown) =>
        this.#options.log.error({ err }, "heartbeat failed: leases were not extended"),
      );
    }
  }

  /** @throws the error of the database; leases that the next beat does not extend either will lapse */
  async beat(): Promise<void> {
    const { db, workerId, held, writer, lock } = this.#options;
    const until = performance.now() + LEASE_SECONDS * 1000;
    const leases = [...held.leases, ...writer.unwritten];
    held.extend(leases, await extendLeases(db, workerId, leases, LEASE_SECONDS), until);
    // Not awaited: a replay may wait for locks longer than a lease lasts.
    void this.#recover();
    await lock.check();
  }

  async #recover(): Promise<void> {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    await this.#options.recovery
      .run()
      .catch((err: unknown) => this.#options.log.error({ err }, "dead workers were not recovered"));
    this.#isRecovering = false;
  }
}
