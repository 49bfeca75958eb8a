/**
 * Takes accepted messages from the allowance of their workspace, in the statement that accepts them. A suppressed message
 * and the service's own mail cost nothing.
 */
import sql, { type Sql } from "sql-template-tag";
import {
  addressOf,
  findSuppressions,
  type Recipient,
} from "#audience/suppression-lists/suppression-check.ts";
import type { NewMessage } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import { uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { tryLockAccount } from "#workspace/billing/account-store.ts";
import { type Capacity, capacityFor } from "#workspace/billing/derive-meter-reading.ts";
import { limitError } from "#workspace/billing/limit-error.ts";
import type { OnLimit } from "#workspace/billing/log-reached-limits.ts";
import { getMeterReading, type SettledAccount, settleAccount } from "#workspace/billing/meter.ts";
import {
  addEntriesSql,
  addStoredEntriesSql,
  isFarFromLimitsSql,
  type RequestedUsage,
} from "#workspace/billing/meter-store.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { requireBytes, storageRefusal } from "#workspace/billing/storage-limit.ts";

/**
 * Whether all workspaces of the messages are far enough from their limits that no account has to be locked (`is_wide`).
 */
export function areCoveredSql(messages: readonly NewMessage[], now: Date): Sql {
  return isFarFromLimitsSql(askedOf(messages), now);
}

function askedOf(messages: readonly NewMessage[]): RequestedUsage[] {
  const byWorkspace = Map.groupBy(messages.filter(isMetered), ({ workspaceId }) => workspaceId);
  return [...byWorkspace].map(([workspaceId, all]) => ({
    workspaceId,
    quantity: all.length,
    bytes: storedBytes(all),
  }));
}

/**
 * Counts the accepted messages and the bytes of their contents as usage.
 * @param accepted the relation of the log rows that the statement inserts
 * @param isPlain whether all of the messages are accepted or none, and none is a submission
 */
export function takeAcceptedSql(
  messages: readonly NewMessage[],
  { accepted, now, isPlain }: { readonly accepted: Sql; readonly now: Date; readonly isPlain: boolean },
): Sql {
  const isTaken = sql`status = 'queued' and source <> 'platform'`;
  if (isPlain) {
    const asked = askedOf(messages);
    return addStoredEntriesSql(
      sql`(
        select workspace_id, count(*)::int as quantity, min(asked.bytes) as bytes
        from ${accepted} join unnest(${uuidArray(asked.map(({ workspaceId }) => workspaceId))}::uuid[],
          ${asked.map(({ bytes }) => bytes)}::bigint[]) as asked (workspace_id, bytes) using (workspace_id)
        where ${isTaken} group by workspace_id) accepted`,
      now,
    );
  }
  return addStoredEntriesSql(
    sql`(
      select workspace_id, sum(quantity)::int as quantity, sum(bytes)::bigint as bytes
      from (
        select ${accepted}.workspace_id, content_id, count(*) as quantity, max(bytes) as bytes
        from ${accepted} join unnest(${uuidArray(messages.map(({ id }) => id))}::uuid[],
          ${uuidArray(messages.map(contentIdOf))}::uuid[], ${messages.map(contentBytes)}::bigint[])
          as c (id, content_id, bytes) using (id)
        where ${isTaken} group by ${accepted}.workspace_id, content_id) contents
      group by workspace_id) accepted`,
    now,
  );
}

/** Counts one message of usage for each row of `mail`, which a step of a campaign or an autoresponder inserts. */
export function takeBulkMailSql(mail: Sql, workspaceId: WorkspaceId, now: Date): Sql {
  const made = sql`(select ${workspaceId}::uuid as workspace_id, count(*)::int as quantity from ${mail}) made`;
  return addEntriesSql("email", made, now);
}

/**
 * How many of the next `wanted` emails the allowance and the balance cover. Near a limit the account stays locked until
 * the transaction ends, because a step inserts thousands of messages, too many for the lock-free path.
 */
export async function coveredByAllowance(
  tx: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  wanted: number,
  now: Date,
): Promise<{ readonly covered: number; readonly refusal: Capacity["refusal"] | null }> {
  const asked = { workspaceId, quantity: Number.MAX_SAFE_INTEGER, bytes: 0 };
  if (await isWide(tx, asked, now)) return { covered: wanted, refusal: null };
  const { most, refusal } = await capacityOf(tx, plans, workspaceId, now);
  return { covered: Math.min(wanted, most ?? wanted), refusal };
}

/**
 * The mails that cannot be accepted now, by their places. Plan and balance cover all others until the transaction ends.
 */
export interface Uncovered {
  readonly refused: ReadonlyMap<number, ApiError>;
  /** Mails whose account another transaction has locked: the caller retries them, so that the batch does not wait. */
  readonly busy: ReadonlySet<number>;
}

/**
 * The allowance and the storage go to the mails in their order. A mail that does not fit is refused whole, and leaves what
 * is left to the mails after it. Messages to suppressed recipients cost nothing and are never refused.
 * @param mails the messages that are accepted together or not at all; those of one mail belong to one workspace
 */
export async function findUncovered(
  tx: Queryable,
  plans: Plans,
  mails: readonly (readonly NewMessage[])[],
  now: Date,
): Promise<Uncovered> {
  const refused = new Map<number, ApiError>();
  const busy = new Set<number>();
  const metered = mails.flatMap((messages, place): MeteredMail[] => {
    const own = messages.filter(isMetered);
    return own[0] === undefined ? [] : [{ place, workspaceId: own[0].workspaceId, messages: own }];
  });
  const byWorkspace = [...Map.groupBy(metered, ({ workspaceId }) => workspaceId)];
  for (const [workspaceId, ofWorkspace] of byWorkspace.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const all = ofWorkspace.flatMap(({ messages }) => messages);
    const asked = { workspaceId, quantity: all.length, bytes: storedBytes(all) };
    if (await isWide(tx, asked, now)) continue;
    if (!(await tryLockAccount(tx, workspaceId))) {
      for (const { place } of ofWorkspace) busy.add(place);
      continue;
    }
    const reading = await settleAccount(tx, plans, workspaceId, now);
    const { most } = capacityFor(reading, "email");
    const room = reading.contentRoom;
    const isCovered = most === null || most >= asked.quantity;
    if (isCovered && (room === null || room >= asked.bytes)) continue;
    const verdicts = await findSuppressions(tx, all.map(recipientOf));
    const suppressed = new Set(all.filter((_, at) => verdicts[at] !== undefined));
    const rest = new RestOfAllowance(reading, now);
    for (const { place, messages } of ofWorkspace) {
      const refusal = rest.take(messages.filter((message) => !suppressed.has(message)));
      if (refusal !== null) refused.set(place, refusal);
    }
  }
  return { refused, busy };
}

/** The messages of a mail that cost something, and its place among the mails. */
interface MeteredMail {
  readonly place: number;
  readonly workspaceId: WorkspaceId;
  readonly messages: readonly NewMessage[];
}

/** What the mails before have left of a workspace's allowance and storage. */
class RestOfAllowance {
  readonly #reading: SettledAccount;
  readonly #now: Date;
  readonly #refusal: Capacity["refusal"];
  /** Null is no limit. */
  #most: number | null;
  #room: number | null;

  constructor(reading: SettledAccount, now: Date) {
    const { most, refusal } = capacityFor(reading, "email");
    this.#reading = reading;
    this.#now = now;
    this.#refusal = refusal;
    this.#most = most;
    this.#room = reading.contentRoom;
  }

  /** Takes what one mail needs, or nothing. @returns why it does not fit; null if it does */
  take(messages: readonly NewMessage[]): ApiError | null {
    if (messages.length === 0) return null;
    if (this.#most !== null && messages.length > this.#most) {
      return limitError(this.#refusal, this.#reading, "email", this.#now, messages.length);
    }
    const added = storedBytes(messages);
    const { name, storage } = this.#reading.plan;
    if (this.#room !== null && storage.bytes !== null && added > this.#room) {
      const used = storage.bytes - this.#room;
      return storageRefusal("bytes", name, { used, added, limit: storage.bytes });
    }
    if (this.#most !== null) this.#most -= messages.length;
    if (this.#room !== null) this.#room -= added;
    return null;
  }
}

/** All recipients of one submission share its content. */
function contentIdOf({ id, submission }: NewMessage): string {
  return submission?.id ?? id;
}

/** Octets of a message's content as stored, with attachments in Base64. */
function contentBytes({ html, text, attachments, submission }: NewMessage): number {
  const attached = attachments.reduce((sum, { content }) => sum + content.length, 0);
  return (
    Buffer.byteLength(html ?? "") + Buffer.byteLength(text ?? "") + attached + (submission?.raw?.length ?? 0)
  );
}

/** Octets that messages of one workspace store; each shared content counts once. */
function storedBytes(messages: readonly NewMessage[]): number {
  const contents = new Map(messages.map((message) => [contentIdOf(message), message]));
  return [...contents.values()].reduce((sum, message) => sum + contentBytes(message), 0);
}

async function isWide(db: Queryable, asked: RequestedUsage, now: Date): Promise<boolean> {
  const row = await db.row<{ is_wide: boolean }>(isFarFromLimitsSql([asked], now));
  return row?.is_wide === true;
}

/** The recipient as the suppression check takes it. */
export function recipientOf(message: NewMessage): Recipient {
  const { workspaceId, domain } = message;
  return { workspaceId, address: addressOf(message), domain };
}

/**
 * Checks that one more email is covered. At an hourly cap it passes, because a cap only delays a campaign.
 * @throws ApiError PLAN_LIMIT_REACHED or INSUFFICIENT_BALANCE
 */
export async function requireOneMore(
  db: Queryable,
  plans: Plans,
  workspaceId: WorkspaceId,
  now: Date,
  onLimit?: OnLimit,
): Promise<void> {
  const reading = await getMeterReading(db, plans, workspaceId, now);
  const { most, refusal } = capacityFor(reading, "email");
  if (most !== 0 || refusal === "hourly_cap") return;
  onLimit?.(workspaceId, refusal);
  throw limitError(refusal, reading, "email", now);
}

/** Checks that the message would be accepted. @throws ApiError as requireOneMore does, and when the storage is full */
export async function requireAcceptable(
  db: Queryable,
  deps: { readonly plans: Plans; readonly clock: Clock },
  message: NewMessage,
): Promise<void> {
  await requireOneMore(db, deps.plans, message.workspaceId, deps.clock.now());
  await requireBytes(deps, db, message.workspaceId, contentBytes(message));
}

async function capacityOf(tx: Queryable, plans: Plans, workspaceId: WorkspaceId, now: Date) {
  return capacityFor(await settleAccount(tx, plans, workspaceId, now), "email");
}

function isMetered({ source }: NewMessage): boolean {
  return source !== "platform";
}
