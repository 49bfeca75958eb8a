/** What a worker holds: leased messages, each with the moment until which it may be started. */
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Lease, leaseKey } from "./queue-result-store.ts";

/** How much of what a worker holds is one workspace's. */
export interface Holding {
  readonly messages: number;
  readonly bytes: number;
}

const nothing: Holding = { messages: 0, bytes: 0 };

export class HeldMessages {
  /** On the monotonic clock of performance.now(), which also runs while the process is frozen. */
  readonly #until = new Map<LeasedMessage, number>();
  readonly #holdings = new Map<WorkspaceId, Holding>();
  #bytes = 0;
  /** Leases that end earlier are in doubt. */
  #doubted = 0;

  get size(): number {
    return this.#until.size;
  }

  /** Content of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of the workspaces that have anything under way. */
  get workspaces(): ReadonlyMap<WorkspaceId, Holding> {
    return this.#holdings;
  }

  ofWorkspace(workspaceId: WorkspaceId): Holding {
    return this.#holdings.get(workspaceId) ?? nothing;
  }

  get leases(): Lease[] {
    return [...this.#until.keys()].map(leaseOf);
  }

  add(message: LeasedMessage, until: number): void {
    if (!this.#until.has(message)) this.#count(message, 1);
    this.#until.set(message, until);
  }

  remove(message: LeasedMessage): void {
    if (this.#until.delete(message)) this.#count(message, -1);
  }

  #count({ workspace_id: workspaceId, bytes: size }: LeasedMessage, change: 1 | -1): void {
    const { messages, bytes } = this.ofWorkspace(workspaceId);
    const holding = { messages: messages + change, bytes: bytes + change * size };
    this.#bytes += change * size;
    if (holding.messages === 0) this.#holdings.delete(workspaceId);
    else this.#holdings.set(workspaceId, holding);
  }

  /** Milliseconds that its lease has left; none or fewer when it is lost, in doubt or was never held. */
  timeLeft(message: LeasedMessage): number {
    const until = this.#until.get(message) ?? 0;
    return until < this.#doubted ? 0 : until - performance.now();
  }

  /** Others may have what is held: until a heartbeat finds otherwise, leases that end before this moment count as lost. */
  doubt(until: number): void {
    this.#doubted = until;
  }

  /**
   * After a heartbeat: those of the `asked` leases that were extended have time until `until`, the others are lost.
   * Nothing may be started on a lost lease; a conversation under way cannot be called back.
   */
  extend(asked: readonly Lease[], extended: ReadonlySet<string>, until: number): void {
    const keys = new Set(asked.map(leaseKey));
    for (const message of this.#until.keys()) {
      const key = leaseKey(leaseOf(message));
      if (keys.has(key)) this.#until.set(message, extended.has(key) ? until : 0);
    }
  }
}

function leaseOf(message: LeasedMessage): Lease {
  const { workspace_id: workspaceId, message_id: messageId, lease_number: leaseNumber } = message;
  return { workspaceId, messageId, leaseNumber };
}
