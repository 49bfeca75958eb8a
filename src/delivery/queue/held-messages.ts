/** The leased messages of this process, each with the end of its lease. */
import type { LeasedMessage } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Lease, leaseKey } from "./settle-leases-store.ts";

/** The held messages of one workspace. */
export interface Holding {
  readonly messages: number;
  readonly bytes: number;
}

const nothing: Holding = { messages: 0, bytes: 0 };

export class HeldMessages {
  /** The end of each lease on the clock of performance.now(), which also runs while the process is frozen. */
  readonly #until = new Map<LeasedMessage, number>();
  readonly #holdings = new Map<WorkspaceId, Holding>();
  #bytes = 0;
  /** Leases ending before this time may have been taken over. */
  #doubted = 0;

  get size(): number {
    return this.#until.size;
  }

  /** The size of the content of all held messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** By workspace, for those with held messages. */
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

  /** Milliseconds until the lease ends; 0 or less when it is lost, doubted, or was never held. */
  timeLeft(message: LeasedMessage): number {
    const until = this.#until.get(message) ?? 0;
    return until < this.#doubted ? 0 : until - performance.now();
  }

  /** Other workers may have taken over leases: those ending before `until` count as lost until a heartbeat extends them. */
  doubt(until: number): void {
    this.#doubted = until;
  }

  /**
   * To be called after a heartbeat: the `extended` ones of the `asked` leases end at `until`, the others are lost. No message is
   * started on a lost lease; one that is being sent cannot be stopped.
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
