/** When API keys and members were last used: queued by requests, and written in bulk outside them. */

import type { Clock } from "#platform/clock.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";

/** How long uses are collected before they are written together. */
const GATHER_MS = 1_000;

/** When an API key or a member was used. */
export interface TimeOfUse {
  readonly workspaceId: WorkspaceId;
  /** Id of the key, or of the member's user. */
  readonly id: string;
  readonly at: Date;
}

interface LastUsesOptions {
  /** The column in log lines. */
  readonly column: string;
  /** Each key or member is written at most once in this time. */
  readonly seconds: number;
  /** Writes the uses of those that were not written in the last `minimumSeconds`, by any machine. */
  readonly write: (uses: readonly TimeOfUse[], minimumSeconds: number) => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/**
 * Writes one column of last uses. A crash loses at most the last second. Call `flush` once more before the database
 * connection closes.
 */
export class LastUses {
  readonly #options: LastUsesOptions;
  readonly #notedAt = new Map<string, number>();
  #noted: TimeOfUse[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LastUsesOptions) {
    this.#options = options;
  }

  /** Queues the time of use and returns at once. */
  note(workspaceId: WorkspaceId, id: string): void {
    const at = this.#options.clock.now();
    const holder = holderOf(workspaceId, id);
    const before = this.#notedAt.get(holder);
    if (before !== undefined && at.getTime() - before < this.#options.seconds * 1_000) return;
    this.#notedAt.set(holder, at.getTime());
    this.#noted.push({ workspaceId, id, at });
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS).unref();
  }

  /** Writes the queued uses. Never rejects: a failure is logged, and the next use is written instead. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const uses = this.#noted;
    this.#noted = [];
    const { clock, column, log, seconds, write } = this.#options;
    const past = clock.now().getTime() - seconds * 1_000;
    for (const [holder, at] of this.#notedAt) if (at <= past) this.#notedAt.delete(holder);
    if (uses.length === 0) return;
    try {
      await write(uses, seconds);
    } catch (err) {
      for (const { workspaceId, id } of uses) this.#notedAt.delete(holderOf(workspaceId, id));
      log.warn({ err }, `${column} could not be written`);
    }
  }
}

/** A person may be a member of many workspaces. */
function holderOf(workspaceId: WorkspaceId, id: string): string {
  return `${workspaceId} ${id}`;
}
