/**
 * Idempotency-Key: for 24 hours, the same key with the same body gets the same response, per workspace and path.
 *
 * The key is reserved before the work (a unique row, committed), so that of two concurrent requests only one runs. A handler
 * may store its response in the transaction of its work (storeResponseIn, or updateAnswers for many). Then both are atomic:
 * after a crash between commit and response, a retry gets the stored response, and the work is not done twice.
 *
 * A reservation has a token. A request that takes over a key that was not answered in time replaces the token, so that the
 * slower request can neither store a response nor release the key.
 */
import { hash } from "node:crypto";
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** How long an unsettled reservation blocks its key. The keys of a dead process are free at once. */
export const RESERVED_SECONDS = 60;
const KEPT_HOURS = 24;

/** A response as it is stored and replayed. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

/** A key that is reserved for this request. */
export interface Reservation {
  readonly workspaceId: WorkspaceId;
  readonly path: string;
  readonly key: string;
  /** A UUID, unique to this request. */
  readonly token: string;
  /** Key of the lock that this process holds while it lives (process-liveness.ts). */
  readonly holder: number | null;
  /** The response of the endpoint for this data, as it is stored. */
  answerFor(data: unknown): StoredAnswer;
}

/** Returned by a handler that has stored its response itself. */
export class ResponseStored {
  readonly data: unknown;
  constructor(data: unknown) {
    this.data = data;
  }
}

/** The value of the header; undefined if it is absent. @throws ApiError VALIDATION_ERROR */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== "string" || !/^[\x21-\x7e]{1,256}$/.test(header)) {
    throw invalid({
      field: "Idempotency-Key",
      message: "Idempotency-Key must be 1 to 256 printable ASCII characters without spaces",
    });
  }
  return header;
}

/** A digest of a parsed body, to detect another body with the same key. White space in the JSON does not matter. */
export function digestOf(body: unknown): string {
  return hash("sha256", JSON.stringify(body) ?? "", "hex");
}

/**
 * Reserves the key for this request.
 * @param digest of the body, if it is already known
 * @returns the stored response if the key was used before
 * @throws ApiError CONFLICT while the first request runs, and for another body
 */
export async function reserve(
  db: Queryable,
  { workspaceId, path, key, token, holder }: Reservation,
  body: unknown,
  digest = digestOf(body),
): Promise<StoredAnswer | undefined> {
  const requestHash = Buffer.from(digest, "hex");
  const taken = await db.run(sql`
    insert into idempotency_keys as held (workspace_id, path, key, token, holder, request_hash, reserved_until)
    values (${workspaceId}, ${path}, ${key}, ${token}, ${holder}, ${requestHash}, now() + make_interval(secs => ${RESERVED_SECONDS}))
    on conflict (workspace_id, path, key) do update
      set token = excluded.token, holder = excluded.holder, request_hash = excluded.request_hash, reserved_until = excluded.reserved_until,
          answer_status = null, answer_body = null, created_at = now()
      where held.created_at < now() - make_interval(hours => ${KEPT_HOURS})
         or (held.answer_status is null and held.reserved_until < now())`);
  if (taken === 1) return undefined;
  const first = await db.row<{
    request_hash: Buffer;
    token: string;
    holder: number | null;
    answer_status: number | null;
    answer_body: string | null;
  }>(sql`
    select request_hash, token, holder, answer_status, answer_body from idempotency_keys
    where workspace_id = ${workspaceId} and path = ${path} and key = ${key}`);
  if (first && !first.request_hash.equals(requestHash)) {
    throw new ApiError("CONFLICT", "This Idempotency-Key was used with another body: use a new key");
  }
  if (first?.answer_status == null || first.answer_body === null) {
    if (first?.holder != null && (await isDead(db, first.holder))) {
      const takenOver = await db.run(sql`
        update idempotency_keys
        set token = ${token}, holder = ${holder},
            reserved_until = now() + make_interval(secs => ${RESERVED_SECONDS})
        where workspace_id = ${workspaceId} and path = ${path} and key = ${key}
          and token = ${first.token} and answer_status is null`);
      if (takenOver === 1) return undefined;
    }
    throw new ApiError("CONFLICT", "The first request with this Idempotency-Key is still running", {
      headers: { "Retry-After": "1" },
    });
  }
  return { status: first.answer_status, body: first.answer_body };
}

/** Whether the process that held this lock has ended. */
async function isDead(db: Queryable, holder: number): Promise<boolean> {
  const held = await db.row(sql`
    select from pg_locks
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and classid = (${holder}::bigint >> 32)::oid and objid = (${holder}::bigint & 4294967295)::oid`);
  return held === undefined;
}

/**
 * Stores responses, alone or in the transaction of the work.
 * @returns the tokens of the reservations that still held their keys; work for a reservation whose token is missing
 * must not be committed
 */
export async function updateAnswers(
  db: Queryable,
  answers: readonly { readonly held: Reservation; readonly answer: StoredAnswer }[],
): Promise<Set<string>> {
  const column = <Value>(read: (one: (typeof answers)[number]) => Value) => answers.map(read);
  const stored = await db.rows<{ token: string }>(
    sql`
    update idempotency_keys as held set answer_status = answer.status, answer_body = answer.body
    from unnest(
      ${column(({ held }) => held.workspaceId)}::uuid[], ${column(({ held }) => held.path)}::text[],
      ${column(({ held }) => held.key)}::text[], ${column(({ held }) => held.token)}::uuid[],
      ${column(({ answer }) => answer.status)}::smallint[], ${column(({ answer }) => answer.body)}::text[])
      as answer (workspace_id, path, key, token, status, body)
    where held.workspace_id = answer.workspace_id and held.path = answer.path and held.key = answer.key
      and held.token = answer.token
    returning held.token`,
    "store answers",
  );
  return new Set(stored.map(({ token }) => token));
}

/**
 * Stores the response in the transaction of the work, as its last step; the handler returns the result. Does nothing without
 * a key.
 * @throws ApiError CONFLICT if another request has taken over the key: the work must not be committed
 */
export async function storeResponseIn(
  tx: Queryable,
  held: Reservation | undefined,
  data: unknown,
): Promise<ResponseStored> {
  if (held !== undefined) {
    const holding = await updateAnswers(tx, [{ held, answer: held.answerFor(data) }]);
    if (!holding.has(held.token)) throw takenOver();
  }
  return new ResponseStored(data);
}

/** The error for a request that was so slow that another request took over its key. */
export function takenOver(): ApiError {
  return new ApiError(
    "CONFLICT",
    "Another request with this Idempotency-Key is being processed: retry to get its response",
  );
}

/** Releases the key after an error that may be retried (5xx, 429). */
export async function release(db: Queryable, held: Reservation): Promise<void> {
  await releaseAll(db, [held]);
}

/** Releases keys. @returns the tokens of those that were released, or already had a response */
export async function releaseAll(db: Queryable, all: readonly Reservation[]): Promise<string[]> {
  const column = <Value>(read: (one: Reservation) => Value) => all.map(read);
  const rows = await db.rows<{ token: string }>(sql`
    with given as (
      select * from unnest(
        ${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(({ path }) => path)}::text[],
        ${column(({ key }) => key)}::text[], ${column(({ token }) => token)}::uuid[]
      ) as given (workspace_id, path, key, token)),
    released as (
      delete from idempotency_keys as held using given
      where held.workspace_id = given.workspace_id and held.path = given.path and held.key = given.key
        and held.token = given.token and held.answer_status is null
      returning held.token)
    select token from released
    union all
    select held.token from idempotency_keys as held join given using (workspace_id, path, key, token)
    where held.answer_status is not null`);
  return rows.map(({ token }) => token);
}

/** Deletes up to `most` keys that are older than a day. @returns how many */
export function removeOldKeys(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from idempotency_keys
    where (workspace_id, path, key) in (
      select workspace_id, path, key from idempotency_keys
      where created_at < now() - make_interval(hours => ${KEPT_HOURS}) order by created_at limit ${most})`);
}
