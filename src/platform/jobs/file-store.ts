/** The SQL of the files of jobs, which lie in parts in the table job_file_parts. */
import pg from "pg";
import sql from "sql-template-tag";
import {
  BINARY_END,
  BINARY_HEAD,
  binaryRow,
  binaryValues,
  int4Octets,
  uuidOctets,
} from "#platform/database/binary-copy.ts";
import type { Queryable, Transaction } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { isOver } from "./store.ts";

/** Which file of which job. */
export interface FileKey {
  readonly workspaceId: WorkspaceId;
  readonly jobId: string;
  readonly name: string;
}

/**
 * Adds a part to a file. By COPY, which sends its octets from where they lie: the driver would make two more copies of a
 * parameter of a mebibyte, and memory outside its heap is what the collector sees last.
 *
 * @throws the database's error 23505 where the file has this part already
 */
export function insertPart(
  tx: Transaction,
  { workspaceId, jobId, name }: FileKey,
  number: number,
  octets: Buffer,
): Promise<void> {
  const row = binaryRow([
    uuidOctets(workspaceId),
    uuidOctets(jobId),
    Buffer.from(name),
    int4Octets(number),
    octets,
  ]);
  return tx.copy(
    "copy job_file_parts (workspace_id, job_id, name, number, octets) from stdin (format binary)",
    [BINARY_HEAD, ...row, BINARY_END],
  );
}

/** Hands `read` the octets of some parts, from the first one on, in order and in pieces; none where there are no such parts. */
export function readParts<Result>(
  tx: Transaction,
  { workspaceId, jobId, name }: FileKey,
  { first, count }: { readonly first: number; readonly count: number },
  read: (pieces: AsyncIterable<Buffer>) => Promise<Result>,
): Promise<Result> {
  const [workspace, job, file] = [workspaceId, jobId, name].map((text) => pg.escapeLiteral(text));
  return tx.copyOut(
    `copy (select octets from job_file_parts where workspace_id = ${workspace} and job_id = ${job} and name = ${file}
      and number >= ${first} and number < ${first + count} order by number) to stdout (format binary)`,
    (pieces) => read(binaryValues(pieces)),
  );
}

/** How many bytes a file has; undefined where there is none. */
export async function findSize(
  db: Queryable,
  { workspaceId, jobId, name }: FileKey,
): Promise<number | undefined> {
  const row = await db.row<{ bytes: number | null }>(sql`
    select sum(octet_length(octets)) as bytes from job_file_parts
    where workspace_id = ${workspaceId} and job_id = ${jobId} and name = ${name}`);
  return row?.bytes ?? undefined;
}

/** At most so many bytes of a part, from this one on; undefined where there is no such part. */
export async function findOctets(
  db: Queryable,
  { workspaceId, jobId, name }: FileKey,
  number: number,
  range: { readonly from: number; readonly most: number },
): Promise<Buffer | undefined> {
  const row = await db.row<{ octets: Buffer }>(sql`
    select substring(octets from ${range.from + 1}::int for ${range.most}::int) as octets from job_file_parts
    where workspace_id = ${workspaceId} and job_id = ${jobId} and name = ${name} and number = ${number}`);
  return row?.octets;
}

/** Drops all files of a job but these. */
export async function removeOtherFiles(
  db: Queryable,
  workspaceId: WorkspaceId,
  jobId: string,
  kept: readonly string[],
): Promise<void> {
  await db.run(sql`
    delete from job_file_parts
    where workspace_id = ${workspaceId} and job_id = ${jobId} and name <> all(${kept}::text[])`);
}

/** Drops up to `most` parts of jobs that are over, and says how many went. */
export function removePartsOver(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from job_file_parts
    where (workspace_id, job_id, name, number) in (
      select p.workspace_id, p.job_id, p.name, p.number
      from jobs j join job_file_parts p on p.workspace_id = j.workspace_id and p.job_id = j.id
      where ${isOver} limit ${most})`);
}
