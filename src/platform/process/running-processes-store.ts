/** The SQL of running processes (table running_processes), of every machine. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** A process writes its row every five seconds. One that is silent for this long is not counted as running. */
export const SILENT_SECONDS = 30;
/** How long a process that was killed is still listed. */
const LISTED_MINUTES = 10;
const MOST_LISTED = 100;

/** What a process says about itself once. */
export interface ProcessIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly roles: readonly string[];
  readonly version: string;
  readonly node_version: string;
  /** Null: its parent process has the same keys. */
  readonly key_fingerprints: readonly Buffer[] | null;
}

/** What a delivery process says about its lanes; empty for other processes. */
export interface ProcessReport {
  /** For what it waits, bounded, as JSON (delivery/message/lane-wait.ts). */
  readonly waits: readonly object[];
  /** How many lanes and sites send nothing now, by lane name. */
  readonly paused_lanes: Readonly<Record<string, number>>;
}

export interface RunningProcess extends Omit<ProcessIdentity, "key_fingerprints"> {
  readonly started_at: Date;
  readonly seen_at: Date;
  /** False for one that was killed, is frozen or has lost the database. */
  readonly is_running: boolean;
}

/** Writes the row of a process. Deletes the rows of those that were killed some time ago. */
export async function saveRunningProcess(
  db: Queryable,
  { id, host, pid, roles, version, node_version, key_fingerprints: keys }: ProcessIdentity,
  { waits, paused_lanes: paused }: ProcessReport,
): Promise<void> {
  await db.run(sql`
    with gone as (
      delete from running_processes
      where seen_at < now() - make_interval(mins => ${LISTED_MINUTES}) and id <> ${id}
    )
    insert into running_processes (id, host, pid, roles, version, node_version, key_fingerprints, waits, paused_lanes)
    values (${id}, ${host}, ${pid}, ${[...roles]}::text[], ${version}, ${node_version}, ${keys && [...keys]}::bytea[],
      ${JSON.stringify(waits)}::jsonb, ${JSON.stringify(paused)}::jsonb)
    on conflict (id) do update set seen_at = now(), waits = excluded.waits, paused_lanes = excluded.paused_lanes`);
}

export async function removeRunningProcess(db: Queryable, id: string): Promise<void> {
  await db.run(sql`delete from running_processes where id = ${id}`);
}

/**
 * Running processes, and those that were killed in the last minutes; at most 100. Without those that have no role of their
 * own, because they only start delivery processes.
 */
export function listProcesses(db: Queryable): Promise<RunningProcess[]> {
  return db.rows(sql`
    select id, host, pid, roles, version, node_version, started_at, seen_at,
      seen_at > now() - make_interval(secs => ${SILENT_SECONDS}) as is_running
    from running_processes
    where seen_at > now() - make_interval(mins => ${LISTED_MINUTES}) and roles <> '{}'
    order by host, started_at, id limit ${MOST_LISTED}`);
}

/** How many processes run with each of these roles. */
export async function countProcesses(
  db: Queryable,
  roles: readonly string[],
): Promise<Record<string, number>> {
  const rows = await db.rows<{ role: string; count: number }>(sql`
    select r.role, (select count(*)::int from running_processes
      where r.role = any (roles) and seen_at > now() - make_interval(secs => ${SILENT_SECONDS})) as count
    from unnest(${[...roles]}::text[]) as r (role)`);
  return Object.fromEntries(rows.map(({ role, count }) => [role, count]));
}
