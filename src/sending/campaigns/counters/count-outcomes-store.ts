/**
 * Counts outcomes for campaigns, autoresponders, their lists and recipients, in the transaction that records the outcomes
 * (an OnMoved of messages/message/outcome.ts). A batch is summed up first, so that each counter row is updated once. All
 * writers lock in the same order: domains, then campaigns, then hours, each by ascending key.
 */
import sql from "sql-template-tag";
import {
  countMailOfLists,
  countMailOfPeople,
  lockDays,
  lockPeopleByAddress,
} from "#audience/subscribers/mail-counters-store.ts";
import { addressOf } from "#audience/suppression-lists/suppression-check.ts";
import type { MovedMessage, SuppressingMessage } from "#messages/message/outcome.ts";
import type { MessageStatus, StoredStatus } from "#messages/message/status.ts";
import { integerArray, timestamptzArray, uuidArray } from "#platform/database/binary-arrays.ts";
import type { Queryable } from "#platform/database/pool.ts";
import {
  type BulkOrigin,
  type CounterTable,
  listOfMailSql,
  stepCounters,
  tablesOf,
} from "#sending/bulk-origin-tables-store.ts";
import { findStepsOfMail } from "./steps-of-mail-store.ts";

/** Statuses that the activity feed shows. */
const shown: ReadonlySet<MessageStatus> = new Set(["delivered", "bounced", "complained"]);
const arrived: ReadonlySet<MessageStatus> = new Set(["delivered", "complained"]);
/** The statuses in which a first attempt ends. */
const attempted: ReadonlySet<MessageStatus> = new Set(["delivered", "deferred", "bounced", "failed"]);

/** Statuses of messages that were not sent, unless they had an attempt before. */
const withheld: ReadonlySet<MessageStatus> = new Set(["suppressed", "cancelled"]);

/** The change of each status counter. */
type Change = Map<StoredStatus, number>;

const isOf = (wanted: BulkOrigin) => (one: MovedMessage) => one.source === wanted && one.originId !== null;
const isOfCampaign = isOf("campaign");
const isOfAutoresponder = isOf("autoresponder");
const isCounted = (one: MovedMessage) => isOfCampaign(one) || isOfAutoresponder(one);

/** The id by which listOfMailSql finds the list: the campaign's, because all its mail goes to one list, or the message's. */
const writtenBy = (one: MovedMessage) => (isOfCampaign(one) ? one.originId : one.messageId);
const listOfMail = listOfMailSql(sql`m.written_by`, sql`m.written_by`);

/**
 * Counts outcomes for the recipients. It is separate from countMoved because it locks the figures of people, which must
 * happen before suppression (audience/suppression-lists/suppress-after-outcome.ts) and before the counters. People who
 * will be suppressed are locked here, before any figures, as all transactions do.
 */
export async function countRecipients(
  tx: Queryable,
  moved: readonly MovedMessage[],
  lost: readonly SuppressingMessage[],
): Promise<void> {
  const results = moved.filter(isCounted).filter(isMailResult);
  if (results.length === 0) return;
  if (lost.length > 0) await lockPeopleByAddress(tx, addressesOf(lost));
  await countMailOfPeople(
    tx,
    sql`(
      select m.workspace_id, r.subscriber_id, m.sent, m.delivered, m.bounced, m.complained, m.time
      from unnest(
        ${uuidArray(results.map((one) => one.workspaceId))}::uuid[], ${uuidArray(results.map((one) => one.messageId))}::uuid[],
        ${integerArray(results.map((one) => Number(isFirstAttempt(one))))}::int[],
        ${integerArray(results.map(deliveredBy))}::int[],
        ${integerArray(results.map(bouncedBy))}::int[],
        ${integerArray(results.map((one) => Number(one.status === "complained")))}::int[],
        ${timestamptzArray(results.map((one) => one.time))}::timestamptz[])
        as m (workspace_id, message_id, sent, delivered, bounced, complained, time)
      cross join lateral (
        select c.subscriber_id from campaign_recipients c
        where c.workspace_id = m.workspace_id and c.message_id = m.message_id
        union all
        select a.subscriber_id from autoresponder_mails a
        where a.workspace_id = m.workspace_id and a.message_id = m.message_id) r)`,
  );
}

/** A relation with the columns workspace_id and email. */
const addressesOf = (lost: readonly SuppressingMessage[]) => sql`
  (select * from unnest(${lost.map((one) => one.workspaceId)}::uuid[], ${lost.map(addressOf)}::text[])
    as l (workspace_id, email))`;

/**
 * For a batch with suppressed people: locks the day counters of their lists together with those of the campaigns' lists,
 * because two statements will update them. Runs after the subscribers are locked.
 */
export async function holdDays(
  tx: Queryable,
  moved: readonly MovedMessage[],
  lost: readonly SuppressingMessage[],
  now: Date,
): Promise<void> {
  const results = moved.filter(isCounted).filter(isMailResult);
  if (lost.length === 0 || results.length === 0) return;
  await lockDays(
    tx,
    sql`(
      select m.workspace_id, o.mailing_list_id, m.time
      from unnest(${results.map((one) => one.workspaceId)}::uuid[], ${results.map(writtenBy)}::uuid[],
        ${results.map((one) => one.time)}::timestamptz[]) as m (workspace_id, written_by, time)
      cross join ${listOfMail} o
      union all
      select m.workspace_id, m.mailing_list_id, ${now}::timestamptz
      from ${addressesOf(lost)} l
      join subscribers s on s.workspace_id = l.workspace_id and s.email = l.email
      join memberships m on m.workspace_id = s.workspace_id and m.subscriber_id = s.id and m.status = 'active')`,
  );
}

/** Updates the counters of the messages' campaigns and autoresponders, and of their lists. */
export async function countMoved(tx: Queryable, moved: readonly MovedMessage[]): Promise<void> {
  await moveLists(tx, moved.filter(isCounted).filter(isMailResult));
  const ofCampaigns = moved.filter(isOfCampaign);
  if (ofCampaigns.length > 0) {
    await moveDomains(tx, ofCampaigns);
    await moveTotals(tx, tablesOf.campaign, ofCampaigns);
    await moveHours(tx, ofCampaigns);
  }
  const ofAutoresponders = moved.filter(isOfAutoresponder);
  if (ofAutoresponders.length > 0) {
    await moveTotals(tx, tablesOf.autoresponder, ofAutoresponders);
    const stepOf = await findStepsOfMail(tx, ofAutoresponders);
    const ofSteps = ofAutoresponders.map((one) => ({ ...one, originId: stepOf(one) }));
    const counted = ofSteps.filter(isCounted);
    if (counted.length > 0) await moveTotals(tx, stepCounters, counted);
  }
}

async function moveDomains(tx: Queryable, moved: readonly MovedMessage[]): Promise<void> {
  const groups = grouped(moved, (one) => `${one.workspaceId} ${one.originId} ${one.domain}`);
  await tx.rows(
    sql`
    with change as (
      select * from unnest(${keys(groups, 0)}::uuid[], ${keys(groups, 1)}::uuid[], ${keys(groups, 2)}::text[],
        ${changes(groups, "queued")}::int[], ${changes(groups, "deferred")}::int[],
        ${changes(groups, "delivered")}::int[], ${changes(groups, "bounced")}::int[],
        ${changes(groups, "failed")}::int[], ${changes(groups, "suppressed")}::int[],
        ${changes(groups, "cancelled")}::int[], ${changes(groups, "complained")}::int[])
        as c (workspace_id, campaign_id, domain, queued, deferred, delivered, bounced, failed, suppressed, cancelled,
          complained)
    ), held as materialized (
      select d.workspace_id, d.campaign_id, d.domain from campaign_domains d
      join change using (workspace_id, campaign_id, domain)
      order by d.workspace_id, d.campaign_id, d.domain for no key update of d
    )
    update campaign_domains d
    set queued = d.queued + c.queued, deferred = d.deferred + c.deferred, delivered = d.delivered + c.delivered,
      bounced = d.bounced + c.bounced, failed = d.failed + c.failed, suppressed = d.suppressed + c.suppressed,
      cancelled = d.cancelled + c.cancelled, complained = d.complained + c.complained
    from change c join held using (workspace_id, campaign_id, domain)
    where d.workspace_id = c.workspace_id and d.campaign_id = c.campaign_id and d.domain = c.domain`,
    "count campaign domains",
  );
}

async function moveTotals(
  tx: Queryable,
  { counters, originId: id }: CounterTable,
  moved: readonly MovedMessage[],
): Promise<void> {
  const groups = grouped(moved, (one) => `${one.workspaceId} ${one.originId}`);
  const count = (is: (one: MovedMessage) => boolean) => groups.map(({ all }) => all.filter(is).length);
  await tx.rows(
    sql`
    with change as (
      select * from unnest(${keys(groups, 0)}::uuid[], ${keys(groups, 1)}::uuid[],
        ${changes(groups, "queued")}::int[], ${changes(groups, "deferred")}::int[],
        ${changes(groups, "delivered")}::int[], ${changes(groups, "bounced")}::int[],
        ${changes(groups, "failed")}::int[], ${changes(groups, "suppressed")}::int[],
        ${changes(groups, "cancelled")}::int[], ${changes(groups, "complained")}::int[],
        ${count(isFirstAttempt)}::int[], ${count(isHardBounce)}::int[], ${count(({ status }) => shown.has(status))}::int[],
        ${groups.map(({ all }) => failuresAtEnd(all))}::int[], ${groups.map(({ all }) => !all.some(isNoFailure))}::boolean[])
        as c (workspace_id, ${id}, queued, deferred, delivered, bounced, failed, suppressed, cancelled, complained,
          sent, hard_bounced, activities, failures, goes_on)
    ), held as materialized (
      select n.workspace_id, n.${id} from ${counters} n join change using (workspace_id, ${id})
      order by n.workspace_id, n.${id} for no key update of n
    )
    update ${counters} n
    set queued = n.queued + c.queued, deferred = n.deferred + c.deferred, delivered = n.delivered + c.delivered,
      bounced = n.bounced + c.bounced, failed = n.failed + c.failed, suppressed = n.suppressed + c.suppressed,
      cancelled = n.cancelled + c.cancelled, complained = n.complained + c.complained, sent = n.sent + c.sent,
      hard_bounced = n.hard_bounced + c.hard_bounced, activities = n.activities + c.activities,
      failures_in_a_row = case when c.goes_on then n.failures_in_a_row else 0 end + c.failures
    from change c join held using (workspace_id, ${id})
    where n.workspace_id = c.workspace_id and n.${id} = c.${id}`,
    `count in ${counters.sql}`,
  );
}

async function moveLists(tx: Queryable, results: readonly MovedMessage[]): Promise<void> {
  if (results.length === 0) return;
  // In some time zones a day begins at a quarter of an hour.
  const groups = grouped(results, (one) => `${one.workspaceId} ${writtenBy(one)} ${quarterOf(one.time)}`);
  const count = (is: (one: MovedMessage) => boolean) => groups.map(({ all }) => all.filter(is).length);
  await countMailOfLists(
    tx,
    sql`(
      select m.*, o.mailing_list_id
      from unnest(${keys(groups, 0)}::uuid[], ${keys(groups, 1)}::uuid[], ${keys(groups, 2)}::timestamptz[],
        ${count(isFirstAttempt)}::int[], ${groups.map(({ all }) => sumOf(all, deliveredBy))}::int[],
        ${groups.map(({ all }) => sumOf(all, bouncedBy))}::int[], ${count(({ status }) => status === "complained")}::int[])
        as m (workspace_id, written_by, time, sent, delivered, bounced, complained)
      cross join ${listOfMail} o)`,
  );
}

/** Counts first attempts and complaints by the hour in which they happened. */
async function moveHours(tx: Queryable, moved: readonly MovedMessage[]): Promise<void> {
  const results = moved.filter((one) => isFirstAttempt(one) || one.status === "complained");
  if (results.length === 0) return;
  const groups = grouped(results, (one) => `${one.workspaceId} ${one.originId} ${hourOf(one.time)}`);
  const count = (is: (one: MovedMessage) => boolean) => groups.map(({ all }) => all.filter(is).length);
  await tx.rows(
    sql`
    insert into campaign_hours as h (workspace_id, campaign_id, hour, sent, complaints)
    select * from unnest(${keys(groups, 0)}::uuid[], ${keys(groups, 1)}::uuid[], ${keys(groups, 2)}::timestamptz[],
      ${count(isFirstAttempt)}::int[], ${count(({ status }) => status === "complained")}::int[])
    order by 1, 2, 3
    on conflict (workspace_id, campaign_id, hour) do update
    set sent = h.sent + excluded.sent, complaints = h.complaints + excluded.complaints`,
    "count campaign hours",
  );
}

interface Group {
  readonly key: readonly string[];
  readonly all: readonly MovedMessage[];
  readonly change: Change;
}

function grouped(moved: readonly MovedMessage[], keyOf: (one: MovedMessage) => string): Group[] {
  return [...Map.groupBy(moved, keyOf)].map(([key, all]) => ({
    key: key.split(" "),
    all,
    change: changeOf(all),
  }));
}

function changeOf(moved: readonly MovedMessage[]): Change {
  const change: Change = new Map();
  const add = (status: MessageStatus, by: number) => {
    // `sending` is never stored.
    if (status !== "sending") change.set(status, (change.get(status) ?? 0) + by);
  };
  for (const { from, status } of moved) {
    add(from, -1);
    add(status, 1);
  }
  return change;
}

const keys = (groups: readonly Group[], at: number) => groups.map(({ key }) => key[at] ?? null);
const changes = (groups: readonly Group[], status: StoredStatus) =>
  groups.map(({ change }) => change.get(status) ?? 0);

/** Also true for a complaint about a message that has no recorded attempt: it proves that there was one. */
function isFirstAttempt({ from, status, attempts }: MovedMessage): boolean {
  if (from === "queued") return attempted.has(status);
  return status === "complained" && attempts === 0 && withheld.has(from);
}

/** Whether the outcome says that the message was sent, delivered, bounced or complained about. */
function isMailResult(one: MovedMessage): boolean {
  return isFirstAttempt(one) || shown.has(one.status);
}

/** The change of the delivered count. A late bounce takes a delivery back; a complaint counts as delivered. */
function deliveredBy({ from, status }: MovedMessage): number {
  return Number(arrived.has(status)) - Number(arrived.has(from));
}

/** The change of the bounced count. */
function bouncedBy({ from, status }: MovedMessage): number {
  return Number(status === "bounced") - Number(from === "bounced");
}

function sumOf(moved: readonly MovedMessage[], by: (one: MovedMessage) => number): number {
  return moved.reduce((sum, one) => sum + by(one), 0);
}

function isHardBounce({ status, isAddressFault }: MovedMessage): boolean {
  return status === "bounced" && isAddressFault;
}

/** Whether the remote server answered. Any answer shows that the fault is not on our side. */
function isNoFailure({ status }: MovedMessage): boolean {
  return status !== "failed" && attempted.has(status);
}

function failuresAtEnd(moved: readonly MovedMessage[]): number {
  const inOrder = moved.toSorted((a, b) => a.time.getTime() - b.time.getTime());
  return inOrder.slice(inOrder.findLastIndex(isNoFailure) + 1).filter(({ status }) => status === "failed")
    .length;
}

const QUARTER_MS = 15 * 60_000;

function hourOf(time: Date): string {
  return `${time.toISOString().slice(0, 13)}:00:00Z`;
}

function quarterOf(time: Date): string {
  return new Date(Math.floor(time.getTime() / QUARTER_MS) * QUARTER_MS).toISOString();
}
