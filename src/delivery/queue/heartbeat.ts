/** What a living worker does every 20 seconds: it keeps its leases from lapsing, and looks after workers that died. */

import type { Database } from "#platform/database/pool.ts";
import type { Mark } from "#platform/database/process-lock.ts";
import type { Log } from "#platform/log/log.ts";
import type { Holdings } from "./held-messages.ts";
import { LEASE_SECONDS } from "./leasing.ts";
import { extendLeases } from "./queue-result-store.ts";
import type { Settler } from "./result-writer.ts";

export interface HeartbeatOptions {
  readonly db: Database;
  readonly workerId: string;
  readonly held: Holdings;
  readonly settler: Pick<Settler, "unsettled">;
  readonly mark: Pick<Mark, "check">;
  /** Settles what dead workers had learned (recovery.ts). */
  readonly recover: () => Promise<void>;
  readonly log: Log;
}

export function createHeartbeat(options: HeartbeatOptions): () => Promise<void> {
  const { db, workerId, held, settler, mark, recover, log } = options;
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
    const asked = [...held.leases, ...settler.unsettled];
    held.extend(asked, await extendLeases(db, workerId, asked, LEASE_SECONDS), until);
    void lookAfterOthers();
    await mark.check();
  };
}
