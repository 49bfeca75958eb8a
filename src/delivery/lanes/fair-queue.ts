/**
 * The waiting messages of one lane. Transactional mail goes before bulk mail; within each, the workspaces take turns, so that
 * a large workspace does not delay the others. The messages of one workspace keep their order.
 */

import type { Priority, ReadyMessage } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Destination } from "./lanes-by-mx-host.ts";

/** A message and its destination. */
export interface RoutedMessage {
  readonly message: ReadyMessage;
  readonly destination: Destination;
}

export class FairQueue {
  readonly #queues: Readonly<Record<Priority, WorkspaceQueues>> = {
    0: new WorkspaceQueues(),
    1: new WorkspaceQueues(),
  };

  get length(): number {
    return this.#queues[0].length + this.#queues[1].length;
  }

  /** How many of them are bulk mail. */
  get bulkLength(): number {
    return this.#queues[1].length;
  }

  add(routed: RoutedMessage): void {
    this.#queues[routed.message.priority].add(routed);
  }

  /** Removes the next message that can go; of each workspace, messages for `site` first. */
  take(canGo: (routed: RoutedMessage) => boolean, site?: string): RoutedMessage | undefined {
    return this.#queues[0].take(canGo, site) ?? this.#queues[1].take(canGo, site);
  }

  /** Removes the last message of the workspace that has the most. */
  takeLast(): RoutedMessage | undefined {
    return this.#queues[1].takeLast() ?? this.#queues[0].takeLast();
  }

  takeAll(): RoutedMessage[] {
    return [...this.#queues[0].takeAll(), ...this.#queues[1].takeAll()];
  }
}

/** The messages of one priority. */
class WorkspaceQueues {
  /** Without empty queues, in the order of turns: the workspace served last is last. */
  readonly #queues = new Map<WorkspaceId, RoutedMessage[]>();
  length = 0;

  add(routed: RoutedMessage): void {
    const { workspace_id: workspaceId } = routed.message;
    const queue = this.#queues.get(workspaceId);
    if (queue === undefined) this.#queues.set(workspaceId, [routed]);
    else queue.push(routed);
    this.length += 1;
  }

  take(canGo: (routed: RoutedMessage) => boolean, site?: string): RoutedMessage | undefined {
    for (const [workspaceId, queue] of this.#queues) {
      const sameSite = queue.findIndex((routed) => routed.destination.site === site && canGo(routed));
      const at = sameSite < 0 ? queue.findIndex(canGo) : sameSite;
      if (at < 0) continue;
      // Moves the workspace to the end.
      this.#queues.delete(workspaceId);
      const routed = this.#takeFrom(queue, at);
      if (queue.length > 0) this.#queues.set(workspaceId, queue);
      return routed;
    }
    return undefined;
  }

  takeLast(): RoutedMessage | undefined {
    let longest: { readonly workspaceId: WorkspaceId; readonly queue: RoutedMessage[] } | undefined;
    for (const [workspaceId, queue] of this.#queues) {
      if (queue.length > (longest?.queue.length ?? 0)) longest = { workspaceId, queue };
    }
    if (longest === undefined) return undefined;
    const routed = this.#takeFrom(longest.queue, longest.queue.length - 1);
    if (longest.queue.length === 0) this.#queues.delete(longest.workspaceId);
    return routed;
  }

  takeAll(): RoutedMessage[] {
    const all = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.length = 0;
    return all;
  }

  #takeFrom(queue: RoutedMessage[], at: number): RoutedMessage | undefined {
    this.length -= 1;
    return queue.splice(at, 1)[0];
  }
}
