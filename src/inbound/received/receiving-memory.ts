/**
 * Memory for mail to inbound routes, apart from that for returned mail: a flood of it must not make the port refuse bounces.
 * One workspace may use a part of it only.
 */
import { type MemoryBudget, MessageMemory } from "#inbound/listener/message-data.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { HeldShares } from "#platform/limits/in-process-shares.ts";
import { MIB } from "#platform/limits/limit.ts";
import { limits } from "#platform/limits/limits.ts";

const ALL_BYTES = 160 * MIB;

export class ReceivingMemory {
  readonly #all = new MessageMemory(ALL_BYTES);
  readonly #shares = new HeldShares();

  /** The memory for one mail of a workspace. */
  of(workspaceId: WorkspaceId): MemoryBudget {
    const share = { limit: limits.receivedBytesUnderWay, holder: workspaceId };
    const all = this.#all;
    const shares = this.#shares;
    const taken = shares.take([share], 0);
    return {
      reserve(bytes) {
        if ("reached" in taken || taken.held.takeMore(bytes) !== undefined) return false;
        if (all.reserve(bytes)) return true;
        taken.held.takeMore(-bytes);
        return false;
      },
      release(bytes) {
        if ("held" in taken) taken.held.takeMore(-bytes);
        all.release(bytes);
      },
    };
  }
}
