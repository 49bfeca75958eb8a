/**
 * last_used_at of API keys: written at most once a minute for each key, in bulk and outside the request. A crash loses
 * at most the last second of use.
 */

import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import type { Log } from "#platform/log/log.ts";
import { type KeyUse, updateLastUsed } from "./store.ts";

const PER_KEY_SECONDS = 60;
/** How long uses are collected before they are written together. */
const GATHER_MS = 1_000;

export interface LastUsed {
  /** The onUse of the authenticator: queues the time of use and returns at once. */
  note(caller: Caller): void;
  /** Writes the queued uses. Never rejects: a failure is logged, and the next use of the key is written instead. */
  flush(): Promise<void>;
}

/** Call `flush` once more before the database connection closes. */
export function createLastUsed(options: { db: Database; clock: Clock; log: Pick<Log, "warn"> }): LastUsed {
  const { db, clock, log } = options;
  const notedAt = new Map<string, number>();
  let noted: KeyUse[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const uses = noted;
    noted = [];
    const past = clock.now().getTime() - PER_KEY_SECONDS * 1_000;
    for (const [keyId, at] of notedAt) if (at <= past) notedAt.delete(keyId);
    if (uses.length === 0) return;
    try {
      await updateLastUsed(db, uses, PER_KEY_SECONDS);
    } catch (err) {
      for (const use of uses) notedAt.delete(use.keyId);
      log.warn({ err }, "last_used_at of API keys could not be written");
    }
  };

  return {
    note({ workspaceId, actor: { id: keyId } }) {
      const at = clock.now();
      const before = notedAt.get(keyId);
      if (before !== undefined && at.getTime() - before < PER_KEY_SECONDS * 1_000) return;
      notedAt.set(keyId, at.getTime());
      noted.push({ workspaceId, keyId, at });
      timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
    },
    flush,
  };
}
