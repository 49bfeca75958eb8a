/**
 * The messages of one lane that wait: transactional mail in front of bulk mail, and of each the workspaces in turn, so
 * that much of one workspace stands in front of nothing of another. A workspace's own go in the order in which they came.
 */

import type { Priority, ReadyMessage } from "#delivery/message/message.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Destination } from "./lanes.ts";

/** A message and where it has to go. */
export interface Load {
  readonly message: ReadyMessage;
  readonly destination: Destination;
}

export class WaitingLine {
  readonly #lines: Readonly<Record<Priority, Turns>> = { 0: new Turns(), 1: new Turns() };

  get length(): number {
    return this.#lines[0].length + this.#lines[1].length;
  }

  /** Those of bulk mail. */
  get bulkLength(): number {
    return this.#lines[1].length;
  }

  add(load: Load): void {
    this.#lines[load.message.priority].add(load);
  }

  /** Takes out the next one that can go, of each workspace the first for `site` before others. */
  take(canGo: (load: Load) => boolean, site?: string): Load | undefined {
    return this.#lines[0].take(canGo, site) ?? this.#lines[1].take(canGo, site);
  }

  /** Takes out the last one of the workspace with the most. */
  takeLast(): Load | undefined {
    return this.#lines[1].takeLast() ?? this.#lines[0].takeLast();
  }

  takeAll(): Load[] {
    return [...this.#lines[0].takeAll(), ...this.#lines[1].takeAll()];
  }
}

/** Messages of one priority. */
class Turns {
  /** None of them is empty; the workspace whose turn was last is the last. */
  readonly #lines = new Map<WorkspaceId, Load[]>();
  length = 0;

  add(load: Load): void {
    const { workspace_id: workspaceId } = load.message;
    const line = this.#lines.get(workspaceId);
    if (line === undefined) this.#lines.set(workspaceId, [load]);
    else line.push(load);
    this.length += 1;
  }

  take(canGo: (load: Load) => boolean, site?: string): Load | undefined {
    for (const [workspaceId, line] of this.#lines) {
      const sameSite = line.findIndex((load) => load.destination.site === site && canGo(load));
      const at = sameSite < 0 ? line.findIndex(canGo) : sameSite;
      if (at < 0) continue;
      // Its next turn is behind those of all others.
      this.#lines.delete(workspaceId);
      const load = this.#takeFrom(line, at);
      if (line.length > 0) this.#lines.set(workspaceId, line);
      return load;
    }
    return undefined;
  }

  takeLast(): Load | undefined {
    let longest: { readonly workspaceId: WorkspaceId; readonly line: Load[] } | undefined;
    for (const [workspaceId, line] of this.#lines) {
      if (line.length > (longest?.line.length ?? 0)) longest = { workspaceId, line };
    }
    if (longest === undefined) return undefined;
    const load = this.#takeFrom(longest.line, longest.line.length - 1);
    if (longest.line.length === 0) this.#lines.delete(longest.workspaceId);
    return load;
  }

  takeAll(): Load[] {
    const all = [...this.#lines.values()].flat();
    this.#lines.clear();
    this.length = 0;
    return all;
  }

  #takeFrom(line: Load[], at: number): Load | undefined {
    this.length -= 1;
    return line.splice(at, 1)[0];
  }
}
