/** What a living worker does every 20 seconds: it keeps its leases from lapsing, and looks after workers that died. */

import type { HeldMessages } from "#delivery/queue/held-messages.ts";
import { LEASE_SECONDS } from "#delivery/queue/leasing.ts";
import { extendLeases } from "#delivery/queue/queue-result-store.ts";
import type { Database } from "#platform/database/pool.ts";
import type { ProcessLock } from "#platform/database/process-lock.ts";
import type { Log } from "#platform/log/log.ts";
import type { ResultWriter } from "./result-writer.ts";

export interface HeartbeatOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: HeldMessages;
  readonly writer: Pick<ResultWriter, "unwritten">;
  readonly lock: Pick<ProcessLock, "check">;
  /** Settles what dead workers had learned (recovery.ts). */
  readonly recover: () => Promise<void>;
  readonly log: Log;
}

export function createHeartbeat(options: HeartbeatOptions): () => Promise<void> {
  const { db, workerId, held, writer, lock, recover, log } = options;
  let isRecovering = false;
  /** Not awaited: a replay may wait for locks longer than a lease lasts. */
  const lookAfterOthers = async () => {
    if (isRecovering) return;
    isRecovering = true;
    await recover().catch((err: unknown) => log.error({ err }, "dead delivery workers were not recovered"));
    isRecovering = false;
  };
  return async () => {
    const until = performance.now() + LEASE_SECONDS * 1000;
    const asked = [...held.leases, ...writer.unwritten];
    held.extend(asked, await extendLeases(db, workerId, asked, LEASE_SECONDS), until);
    void lookAfterOthers();
    await lock.check();
  };
}
