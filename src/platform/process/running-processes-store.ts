/** The SQL of running processes: where they run, their version, and which secret keys they have. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";

/** Running processes renew their rows every 20 s. A row this old belongs to a process that was killed. */
const GONE_SECONDS = 90;

export interface RunningProcess {
  readonly process_id: string;
  readonly host: string;
  readonly pid: number;
  /** Of the program, such as "0.2.0". */
  readonly version: string;
  /** Of its secret keys, in the order of the ring; the first key encrypts and signs. */
  readonly fingerprints: readonly Buffer[];
}

/** The running processes, and those that were killed in the last GONE_SECONDS. */
export function listRunningProcesses(db: Pick<Queryable, "rows">): Promise<RunningProcess[]> {
  return db.rows(sql`
    select process_id, host, pid, version, fingerprints from running_processes
    where seen_at > now() - make_interval(secs => ${GONE_SECONDS}) order by host, pid, process_id`);
}

/** Records that the process runs and uses its first key. Deletes processes that were killed. */
export async function saveRunningProcess(db: Queryable, process: RunningProcess): Promise<void> {
  await db.run(sql`
    with used as (
      update secret_keys set last_used_at = now()
      where fingerprint = ${process.fingerprints[0]} and retired_at is null
    ), gone as (
      delete from running_processes where seen_at < now() - make_interval(secs => ${GONE_SECONDS})
        and process_id <> ${process.process_id}
    )
    insert into running_processes (process_id, host, pid, version, fingerprints)
    values (${process.process_id}, ${process.host}, ${process.pid}, ${process.version},
      ${[...process.fingerprints]}::bytea[])
    on conflict (process_id) do update set seen_at = now(), fingerprints = excluded.fingerprints`);
}

export async function removeRunningProcess(db: Queryable, processId: string): Promise<void> {
  await db.run(sql`delete from running_processes where process_id = ${processId}`);
}

/** Such as "mail1 (process 4711), mail2 (process 12)". */
export function processNames(processes: readonly Pick<RunningProcess, "host" | "pid">[]): string {
  return processes.map(({ host, pid }) => `${host} (process ${pid})`).join(", ");
}
