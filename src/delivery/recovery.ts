/**
 * After a crash: the journals of dead workers on this machine say what had been learned, and what they held is free.
 * A worker lives as long as the session that holds its lock; a kill -9 closes that session within the kernel.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { lockKey } from "../platform/database/advisory-lock.ts";
import type { Database } from "../platform/database/pool.ts";
import type { Log } from "../platform/log.ts";
import { listJournals, readJournal, removeJournal } from "./journal.ts";
import { settle } from "./settler.ts";
import { releaseLeasesOf } from "./store.ts";

const BATCH = 500;
const RETRY_MS = 1_000;

type Session = Awaited<ReturnType<Database["openSession"]>>;

function lockOf(workerId: string): number {
  return lockKey(`delivery worker ${workerId}`);
}

/**
 * Marks a worker as alive, again and again when the database was away; resolves once the mark is there for the first
 * time, to what ends it.
 */
export async function markAlive(db: Database, workerId: string): Promise<() => Promise<void>> {
  let isOver = false;
  const mark = async (): Promise<Session> => {
    const session = await db.openSession();
    await session.query(sql`select pg_advisory_lock(${lockOf(workerId)})`);
    session.once("end", () => {
      if (!isOver) current = markAgain();
    });
    return session;
  };
  const markAgain = async (): Promise<Session | undefined> => {
    while (!isOver) {
      try {
        return await mark();
      } catch {
        await delay(RETRY_MS);
      }
    }
    return undefined;
  };
  let current: Promise<Session | undefined> = Promise.resolve(await mark());
  return async () => {
    isOver = true;
    await (await current)?.end();
  };
}

/** Settles what dead workers had learned and gives back what they held. Does nothing to living ones. */
export async function recoverDead(db: Database, journalFolder: string, log: Log): Promise<void> {
  for (const workerId of listJournals(journalFolder)) {
    await db.transaction(async (tx) => {
      const dead = await tx.row<{ dead: boolean }>(
        sql`select pg_try_advisory_xact_lock(${lockOf(workerId)}) as dead`,
      );
      if (!dead?.dead) return;
      const learned = readJournal(journalFolder, workerId);
      for (let from = 0; from < learned.length; from += BATCH)
        await settle(db, learned.slice(from, from + BATCH));
      const released = await releaseLeasesOf(db, workerId);
      removeJournal(journalFolder, workerId);
      log.info({ worker: workerId, replayed: learned.length, released }, "recovered a dead delivery worker");
    });
  }
}
