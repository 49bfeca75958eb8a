/** The SQL of the requests that API keys made. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { KeyAnswer } from "#platform/http/server.ts";
import { firstIdAt, timeOfId, type WorkspaceId } from "#platform/ids.ts";

/** An answered request as it is written. */
export interface RecordedRequest extends KeyAnswer {
  /** Has the time of the answer. */
  readonly id: string;
  /** Requests before it that were not recorded (request-log.ts). */
  readonly leftOut: number;
}

export async function insertRequests(db: Queryable, requests: readonly RecordedRequest[]): Promise<void> {
  const column = <Value>(read: (request: RecordedRequest) => Value) => requests.map(read);
  await db.run(sql`
    insert into api_requests (workspace_id, id, key_id, operation, status, ms, request_id, left_out)
    select * from unnest(
      ${column((one) => one.workspaceId)}::uuid[], ${column((one) => one.id)}::uuid[],
      ${column((one) => one.keyId)}::uuid[], ${column((one) => one.operation)}::text[],
      ${column((one) => one.status)}::smallint[], ${column((one) => one.ms)}::integer[],
      ${column((one) => one.requestId)}::text[], ${column((one) => one.leftOut)}::integer[])`);
}

export interface RequestRow {
  readonly id: string;
  readonly at: Date;
  readonly key_id: string;
  /** null when the key was deleted. */
  readonly key_name: string | null;
  readonly operation: string | null;
  readonly status: number;
  readonly ms: number;
  readonly request_id: string;
  readonly left_out: number;
}

export interface RequestFilter {
  readonly keyId: string | undefined;
  readonly operation: string | undefined;
  /** The lowest and the highest status. */
  readonly status: readonly [number, number] | undefined;
  readonly from: Date | undefined;
  /** Requests before this time. */
  readonly to: Date | undefined;
}

/** Newest first. @param after the id of the last request of the page before */
export async function listRequests(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: RequestFilter,
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): Promise<RequestRow[]> {
  const rows = await db.rows<Omit<RequestRow, "at">>(sql`
    select r.id, r.key_id, k.name as key_name, r.operation, r.status, r.ms, r.request_id, r.left_out
    from api_requests r
    left join api_keys k on k.workspace_id = r.workspace_id and k.id = r.key_id
    where r.workspace_id = ${workspaceId} ${matching(filter)} ${after === undefined ? empty : sql`and r.id < ${after}`}
    order by r.id desc limit ${limit}`);
  return rows.map((row) => ({ ...row, at: timeOfId(row.id) }));
}

function matching({ keyId, operation, status, from, to }: RequestFilter): Sql {
  return sql`
    ${keyId === undefined ? empty : sql`and r.key_id = ${keyId}`}
    ${operation === undefined ? empty : sql`and r.operation = ${operation}`}
    ${status === undefined ? empty : sql`and r.status between ${status[0]} and ${status[1]}`}
    ${from === undefined ? empty : sql`and r.id >= ${firstIdAt(from)}`}
    ${to === undefined ? empty : sql`and r.id < ${firstIdAt(to)}`}`;
}

export const REQUEST_DAYS = 7;

/** Of all workspaces. */
export function removeOldRequests(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from api_requests where (workspace_id, id) in (
      select workspace_id, id from api_requests where id < ${firstIdAt(before)} order by id limit ${most})`);
}
