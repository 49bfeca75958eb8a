/** Reads the lanes that wait in all delivery processes, as they wrote them last (table running_processes). */
import sql from "sql-template-tag";
import type { WaitingLane } from "#delivery/message/lane-wait.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { SILENT_SECONDS } from "#platform/process/running-processes-store.ts";

const MOST_PROCESSES = 200;

/** A waiting lane, with the machine of its process. */
export interface HostWaitingLane extends WaitingLane {
  readonly host: string;
}

/** The processes with waiting lanes are bounded, and each process has written a bounded number. */
export async function listWaitingLanes(db: Queryable): Promise<HostWaitingLane[]> {
  const rows = await db.rows<{ host: string; waits: readonly WaitingLane[] }>(sql`
    select host, waits from running_processes
    where waits <> '[]' and seen_at > now() - make_interval(secs => ${SILENT_SECONDS})
    order by id limit ${MOST_PROCESSES}`);
  return rows.flatMap(({ host, waits }) => waits.map((wait) => ({ ...wait, host })));
}

/** How many lanes and sites of each provider send nothing now, over all processes; 0 for the other providers. */
export async function countPausedLanes(
  db: Queryable,
  providers: readonly string[],
): Promise<Record<string, number>> {
  const rows = await db.rows<{ name: string; count: number }>(sql`
    select p.name, coalesce(sum((paused_lanes ->> p.name)::int), 0)::int as count
    from unnest(${[...providers]}::text[]) as p (name)
    left join running_processes on paused_lanes ? p.name
      and seen_at > now() - make_interval(secs => ${SILENT_SECONDS})
    group by p.name`);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}
