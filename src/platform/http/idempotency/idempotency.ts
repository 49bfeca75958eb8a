/**
 * Idempotency-Key: the same key with the same body gets the same answer for 24 hours, per workspace and path.
 *
 * The key is reserved before the work (a unique row, committed), so that two concurrent calls cannot both run. A
 * handler that stores its answer in the transaction of its own work (answeredIn, or updateAnswers for many) makes the
 * pair atomic: a crash between commit and reply is then answered by replay, never by doing the work twice.
 *
 * A reservation has a token. Whoever takes a key over that was not answered in time puts in its own, and from then on
 * the slower request can neither store an answer nor give the key back.
 */
import { hash } from "node:crypto";
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** How long a reservation blocks its key when it is not settled; that of a dead process is free at once. */
export const RESERVED_SECONDS = 60;
const KEPT_HOURS = 24;

/** An answer as it is stored and replayed: the envelope's bytes. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

/** A key that this request holds. */
export interface Reservation {
  readonly workspaceId: WorkspaceId;
  readonly path: string;
  readonly key: string;
  /** A UUID of this request's own. */
  readonly token: string;
  /** The lock by which the process is known to live (process-mark.ts). */
  readonly holder: number | null;
  /** The stored form of the answer the endpoint would give for this data. */
  answerFor(data: unknown): StoredAnswer;
}

/** What a handler returns when it has stored its answer itself. */
export class Answered {
  readonly data: unknown;
  constructor(data: unknown) {
    this.data = data;
  }
}

/** The header's value, or undefined when there is none. @throws ApiError VALIDATION_ERROR */
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

/** What tells the bodies of two requests with the same key apart: spaces between their values do not. */
export function digestOf(body: unknown): string {
  return hash("sha256", JSON.stringify(body) ?? "", "hex");
}

/**
 * Takes the key for this request, or gives the stored answer back.
 * @param digest of the body, where it is known already
 * @throws ApiError CONFLICT while the first request runs, and for another body.
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

/** The process that holds this lock while it lives is gone. */
async function isDead(db: Queryable, holder: number): Promise<boolean> {
  const held = await db.row(sql`
    select from pg_locks
    where locktype = 'advisory' and granted and objsubid = 1
      and database = (select oid from pg_database where datname = current_database())
      and classid = (${holder}::bigint >> 32)::oid and objid = (${holder}::bigint & 4294967295)::oid`);
  return held === undefined;
}

/**
 * Stores answers, alone or in the transaction of the work that they speak of, and says whose they were: the tokens of
 * the reservations that still hold their keys. Work whose token is missing must not be committed.
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
 * What a handler returns at the end of the transaction of its work: the answer is kept together with the work, or
 * neither is. Without a key there is nothing to keep.
 * @throws ApiError CONFLICT when another request took the key over: the work must not be committed
 */
export async function answeredIn(
  tx: Queryable,
  held: Reservation | undefined,
  data: unknown,
): Promise<Answered> {
  if (held !== undefined) {
    const holding = await updateAnswers(tx, [{ held, answer: held.answerFor(data) }]);
    if (!holding.has(held.token)) throw takenOver();
  }
  return new Answered(data);
}

/** Of a request that was so slow that the next one with its key got it. */
export function takenOver(): ApiError {
  return new ApiError("CONFLICT", "Another request with this Idempotency-Key was quicker");
}

/** Gives the key back after a failure that may be retried (5xx, 429). */
export async function release(db: Queryable, held: Reservation): Promise<void> {
  await releaseAll(db, [held]);
}

/** @returns the tokens of those whose keys were given back, or had an answer already */
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

/** Drops up to `most` of the keys that are older than a day. */
export function removeOldKeys(db: Queryable, most: number): Promise<number> {
  return db.run(sql`
    delete from idempotency_keys
    where (workspace_id, path, key) in (
      select workspace_id, path, key from idempotency_keys
      where created_at < now() - make_interval(hours => ${KEPT_HOURS}) order by created_at limit ${most})`);
}
