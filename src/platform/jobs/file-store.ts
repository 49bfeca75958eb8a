/** The SQL of the files of jobs, which are stored in parts in the table job_file_parts. */
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
import { isOver } from "./job-record-store.ts";

/** Identifies a file of a job. */
export interface FileKey {
  readonly workspaceId: WorkspaceId;
  readonly jobId: string;
  readonly name: string;
}

/**
 * Adds a part to a file. With COPY the octets are not copied in memory; as a parameter, the driver would make two more copies
 * of a mebibyte, and V8 collects memory outside its heap late.
 *
 * @throws the database's error 23505 (unique violation) if the file already has this part
 */
export async function insertPart(
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
  await tx.copy(
    "copy job_file_parts (workspace_id, job_id, name, number, octets) from stdin (format binary)",
    [BINARY_HEAD, ...row, BINARY_END],
  );
}

/** Passes the octets of up to `count` parts, from `first` on, to `read` in chunks. */
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

/** The size of a file in bytes; undefined if it does not exist. */
export async function findSize(
  db: Queryable,
  { workspaceId, jobId, name }: FileKey,
): Promise<number | undefined> {
  const row = await db.row<{ bytes: number | null }>(sql`
    select sum(octet_length(octets)) as bytes from job_file_parts
    where workspace_id = ${workspaceId} and job_id = ${jobId} and name = ${name}`);
  return row?.bytes ?? undefined;
}

/** A range of bytes of a part; undefined if the part does not exist. */
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

/** Deletes all files of a job except `kept`. */
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

/** Deletes up to `most` parts of expired jobs. @returns how many */
export function removePartsOver(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from job_file_parts
    where (workspace_id, job_id, name, number) in (
      select p.workspace_id, p.job_id, p.name, p.number
      from jobs j join job_file_parts p on p.workspace_id = j.workspace_id and p.job_id = j.id
      where ${isOver} limit ${most})`);
}
