/** Generates many different people on three lists, and reads them in the form that conditions use. */

import sql from "sql-template-tag";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import type { Membership, Person, Receipt } from "#audience/segments/conditions/person.ts";
import { updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { addPeople, newList } from "./audience.ts";

/** A seeded generator of integers from 0 to `below` - 1. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export const names = [
  "Ann",
  "ann",
  "ANNA",
  "Élodie",
  "élodie",
  "İpek",
  "Straße",
  "ΣΊΣΥΦΟΣ",
  "50%",
  "a_b",
  "a\\b",
  "O'Brien",
  "Ann Marie",
  "x",
  "🙂k",
  "ǅ",
  "\u212ai",
];
const localParts = ["ann", "an_n", "50%off", "ö", "bob", "marie.ann", "x+tag"];
export const domains = ["gmail.com", "mail.example.com", "example.com", "xn--bcher-kva.de", "example.co.uk"];
export const cities = [
  "Paris",
  "paris ",
  "\u00a0PARIS",
  " Rome",
  "",
  "São Paulo",
  "100%",
  "a_b",
  "a\\b",
  "München",
  "\n",
  "\u212aİel ",
];
/** In Santiago 6 September 2026 begins at 01:00 local time, which is 04:00 UTC. */
export const days = [
  "2026-09-05",
  "2026-09-06",
  "2026-09-07",
  "2026-11-01",
  "2025-11-20",
  "2028-02-29",
  "0001-01-01",
  "9999-12-31",
];
export const instants = [
  "2026-09-06T04:00:00.000Z",
  "2026-09-06T03:59:59.999Z",
  "2026-11-01T12:00:00.000Z",
  "0001-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
];
export const colours = ["red", "Green", "BLUE"];

/** Random values of custom fields, including edge cases. A field without a value has no key. */
function customFieldsOf(roll: (below: number) => number): Record<string, unknown> {
  const one = <Value>(values: readonly Value[]) => values[roll(values.length)];
  const fields: Record<string, unknown> = {
    city: one<unknown>([...cities, 7, true, null, ["Paris"], { b: [1, "x"], aa: null }]),
    size: one<unknown>([0, -1.5, 3, 10, 9, 1e15, 0.1, "10", null, true, [3]]),
    born: one<unknown>([...days, ...instants, "soon", 5, null]),
    vip: one<unknown>([true, false, true, false, "yes", 1, null]),
    colour: one<unknown>([...colours, "green", "purple", ["red"], 3, null]),
    tags: one<unknown>([["red"], ["red", "BLUE"], [], ["green"], "red", ["purple", 3], null]),
    constructor: one<unknown>(["x", undefined]),
    'it\'s "odd"': one<unknown>(["Paris", undefined]),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && roll(4) > 0));
}

export interface SegmentPeople {
  readonly lists: readonly string[];
  readonly people: ReadonlyMap<string, Person>;
  /** Campaigns that half of the people got. */
  readonly campaigns: readonly string[];
}

/** Inserts the people. Each list has about two thirds of them. */
export async function insertSegmentPeople(
  db: Database,
  workspaceId: WorkspaceId,
  count: number,
  now: Date,
): Promise<SegmentPeople> {
  const roll = seededRandom(7);
  const one = <Value>(values: readonly Value[]) => values[roll(values.length)] as Value;
  const all = Array.from({ length: count }, (_, at) => ({
    email: `${one(localParts)}${at}@${one(domains)}`,
    first_name: one([...names, null]),
    last_name: one([...names, null]),
    source: one(["api", "Import", "Web form", null]),
    custom_fields: customFieldsOf(roll),
  }));
  const lists = [];
  for (const name of ["One", "Two", "Three"]) {
    const list = await newList(db, workspaceId, name);
    await addPeople(
      db,
      workspaceId,
      list,
      all.filter(() => roll(3) > 0),
    );
    lists.push(list);
  }
  await scatterStatuses(db, workspaceId, lists, roll, now);
  await scatterHistory(db, workspaceId, roll, now);
  const campaigns = await scatterReceipts(db, workspaceId, now);
  return { lists, campaigns, people: await readPeople(db, workspaceId) };
}

/** Two campaigns with some of the people as recipients, of whom some opened, clicked, clicked a link and unsubscribed. */
async function scatterReceipts(db: Database, workspaceId: WorkspaceId, now: Date): Promise<string[]> {
  const ids = [newId(), newId()];
  for (const [at, id] of ids.entries()) {
    await db.run(sql`
      insert into campaigns (workspace_id, id, name, subject, from_email, message_type, recipient_type,
        use_custom_headers, status, created_at, updated_at)
      values (${workspaceId}, ${id}, 'Spring', 'Hello', 'a@b.test', 'email', 'mailing_list', false, 'sent', ${now}, ${now})`);
    await db.run(sql`
      insert into campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id, first_opened_at, first_clicked_at,
        unsubscribed_at)
      select workspace_id, ${id}, id, gen_random_uuid(), case when number % 3 > 0 then ${now}::timestamptz end,
        case when number % 3 = 2 then ${now}::timestamptz end, case when number % 5 = 1 then ${now}::timestamptz end
      from (select *, row_number() over (order by email) + ${at} as number from subscribers
        where workspace_id = ${workspaceId}) numbered
      where number % 2 = ${at}`);
    await db.run(sql`
      insert into campaign_link_clicks (workspace_id, campaign_id, index, message_id)
      select workspace_id, campaign_id, 1, message_id from campaign_recipients
      where campaign_id = ${id} and first_clicked_at is not null and get_byte(uuid_send(message_id), 0) % 2 = 0`);
  }
  return ids;
}

/** Sets some people to unsubscribed, bounced or complained, and some of these to active again on one list. */
async function scatterStatuses(
  db: Database,
  workspaceId: WorkspaceId,
  lists: readonly string[],
  roll: (below: number) => number,
  now: Date,
): Promise<void> {
  for (const list of lists) {
    const members = await db.rows<{ id: string }>(sql`
      select subscriber_id as id from memberships where mailing_list_id = ${list} order by subscriber_id`);
    const moved = members.filter(() => roll(2) === 0);
    const statuses = moved.map(() => subscriberStatuses[roll(subscriberStatuses.length)]);
    await db.transaction(async (tx) => {
      await lockMailingList(tx, workspaceId, list);
      const moves = sql`
        select ${list}::uuid as mailing_list_id, subscriber_id, status
        from unnest(${moved.map(({ id }) => id)}::uuid[], ${statuses}::text[]) as v (subscriber_id, status)`;
      await updateStatuses(tx, workspaceId, moves, now);
    });
  }
}

/** Sets random dates of engagement, creation and membership. */
async function scatterHistory(
  db: Queryable,
  workspaceId: WorkspaceId,
  roll: (below: number) => number,
  now: Date,
): Promise<void> {
  const moment = () => {
    const moments = [...days, ...instants].map((text) => new Date(text));
    const ago = new Date(now.getTime() - roll(5) * 10 * DAY_MS + (roll(3) - 1));
    return [null, now, ago, ago, moments[roll(moments.length)] ?? null][roll(5)] ?? null;
  };
  for (const { id } of await db.rows<{ id: string }>(sql`select id from subscribers order by email`)) {
    await db.run(sql`
      update subscribers
      set open_count = ${roll(4)}, unique_open_count = ${roll(4)}, click_count = ${roll(3)},
        engagement_score = ${roll(101)}, last_opened_at = ${moment()}, last_clicked_at = ${moment()},
        created_at = ${moment() ?? now}
      where workspace_id = ${workspaceId} and id = ${id}`);
    await db.run(sql`
      update subscriber_stats set sent_count = ${roll(4)}, last_sent_at = ${moment()}
      where workspace_id = ${workspaceId} and subscriber_id = ${id}`);
    await db.run(sql`
      update memberships set subscribed_at = ${moment() ?? now}, unsubscribed_at = ${moment()}
      where workspace_id = ${workspaceId} and subscriber_id = ${id} and mailing_list_id in (
        select mailing_list_id from memberships where subscriber_id = ${id} limit ${roll(3)})`);
  }
}

/** All people of a workspace, by id. */
export async function readPeople(
  db: Queryable,
  workspaceId: WorkspaceId,
): Promise<ReadonlyMap<string, Person>> {
  const rows = await db.rows<Omit<Person, "memberships" | "campaigns"> & { readonly id: string }>(sql`
    select s.*, t.sent_count, t.last_sent_at
    from subscribers s join subscriber_stats t on t.workspace_id = s.workspace_id and t.subscriber_id = s.id
    where s.workspace_id = ${workspaceId} order by email`);
  const memberships = await db.rows<
    Membership & { readonly mailing_list_id: string; readonly subscriber_id: string }
  >(sql`select * from memberships where workspace_id = ${workspaceId}`);
  const receipts = await db.rows<
    Receipt & { campaign_id: string; subscriber_id: string; clicked: number[] }
  >(sql`
    select campaign_id, subscriber_id, first_opened_at is not null as "hasOpened",
      first_clicked_at is not null as "hasClicked", unsubscribed_at is not null as "hasUnsubscribed", array(
        select index from campaign_link_clicks c
        where c.campaign_id = r.campaign_id and c.message_id = r.message_id) as clicked
    from campaign_recipients r where workspace_id = ${workspaceId}`);
  const receiptsByPerson = Map.groupBy(receipts, (receipt) => receipt.subscriber_id);
  const campaignsOf = (id: string) =>
    new Map(
      (receiptsByPerson.get(id) ?? []).map(({ campaign_id, clicked, ...did }) => [
        campaign_id,
        { ...did, links: new Set(clicked) },
      ]),
    );
  const byPerson = Map.groupBy(memberships, (membership) => membership.subscriber_id);
  return new Map(
    rows.map((row) => {
      const own = byPerson.get(row.id) ?? [];
      const lists = new Map(own.map((each) => [each.mailing_list_id, each]));
      return [row.id, { ...row, memberships: lists, campaigns: campaignsOf(row.id) }];
    }),
  );
}
