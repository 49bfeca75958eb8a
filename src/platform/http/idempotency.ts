/**
 * Idempotency-Key: the same key with the same body gets the same answer for 24 hours, per workspace and path.
 *
 * The key is reserved before the work (a unique row, committed), so that two concurrent calls cannot both run. A
 * handler that stores its answer in the transaction of its own work (answersSql) makes the pair atomic: a crash
 * between commit and reply is then answered by replay, never by doing the work twice.
 */
import { hash } from "node:crypto";
import sql, { join, type Sql } from "sql-template-tag";
import type { Queryable } from "../database/pool.ts";
import { ApiError, invalid } from "../errors.ts";
import type { WorkspaceId } from "../ids.ts";

/** How long a reservation whose process died blocks its key. Longer than any request may run. */
const RESERVED_SECONDS = 60;
const KEPT_HOURS = 24;

/** An answer as it is stored and replayed: the envelope's bytes. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

interface KeyedPath {
  readonly workspaceId: WorkspaceId;
  readonly path: string;
  readonly key: string;
}

/** A key that this request holds. */
export interface Reservation extends KeyedPath {
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

/**
 * Takes the key for this request, or gives the stored answer back.
 * @throws ApiError CONFLICT while the first request runs, and for another body.
 */
export async function reserve(
  db: Queryable,
  workspaceId: WorkspaceId,
  path: string,
  key: string,
  body: unknown,
): Promise<StoredAnswer | undefined> {
  const requestHash = Buffer.from(hash("sha256", JSON.stringify(body) ?? "", "hex"), "hex");
  const taken = await db.run(sql`
    insert into idempotency_keys as held (workspace_id, path, key, request_hash, reserved_until)
    values (${workspaceId}, ${path}, ${key}, ${requestHash}, now() + make_interval(secs => ${RESERVED_SECONDS}))
    on conflict (workspace_id, path, key) do update
      set request_hash = excluded.request_hash, reserved_until = excluded.reserved_until,
          answer_status = null, answer_body = null, created_at = now()
      where held.created_at < now() - make_interval(hours => ${KEPT_HOURS})
         or (held.answer_status is null and held.reserved_until < now())`);
  if (taken === 1) return undefined;
  const first = await db.row<{
    request_hash: Buffer;
    answer_status: number | null;
    answer_body: string | null;
  }>(sql`
    select request_hash, answer_status, answer_body from idempotency_keys
    where workspace_id = ${workspaceId} and path = ${path} and key = ${key}`);
  if (first && !first.request_hash.equals(requestHash)) {
    throw new ApiError("CONFLICT", "This Idempotency-Key was used with another body: use a new key");
  }
  if (first?.answer_status == null || first.answer_body === null) {
    throw new ApiError("CONFLICT", "The first request with this Idempotency-Key is still running", {
      headers: { "Retry-After": "1" },
    });
  }
  return { status: first.answer_status, body: first.answer_body };
}

/** Stores answers: a statement of its own, or a part of the one that does the work. */
export function answersSql(answers: readonly { held: KeyedPath; answer: StoredAnswer }[]): Sql {
  const rows = answers.map(
    ({ held, answer }) =>
      sql`(${held.workspaceId}::uuid, ${held.path}, ${held.key}, ${answer.status}::smallint, ${answer.body})`,
  );
  return sql`
    update idempotency_keys as held set answer_status = answer.status, answer_body = answer.body
    from (values ${join(rows)}) as answer (workspace_id, path, key, status, body)
    where held.workspace_id = answer.workspace_id and held.path = answer.path and held.key = answer.key`;
}

/** Gives the key back after a failure that may be retried (5xx, 429). */
export async function release(db: Queryable, held: KeyedPath): Promise<void> {
  await db.run(sql`
    delete from idempotency_keys
    where workspace_id = ${held.workspaceId} and path = ${held.path} and key = ${held.key}
      and answer_status is null`);
}

/** Drops what is older than a day; called by the daily clean-up. */
export async function removeOldKeys(db: Queryable): Promise<number> {
  return db.run(
    sql`delete from idempotency_keys where created_at < now() - make_interval(hours => ${KEPT_HOURS})`,
  );
}
