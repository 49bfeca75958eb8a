import sql, { type Sql } from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { nilId, type WorkspaceId } from "#platform/ids.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { membersOf, membersOfWorkspace } from "./members-as-relation.ts";
import type { IdRange } from "./workspace-members-store.ts";

const db = await testDatabase();
const now = new Date();
const LISTS = 12;
let workspaceId: WorkspaceId;
let lists: { id: string }[];

beforeAll(async () => {
  workspaceId = await insertBareWorkspace(db);
  const statuses: SubscriberStatus[] = ["active", "active", "unsubscribed", "bounced"];
  lists = [];
  for (let at = 0; at < LISTS; at += 1) {
    const id = await newList(db, workspaceId, `List ${at}`);
    lists.push({ id });
    const joined = new Date(Date.UTC(2026, 0, 1 + at));
    const people = Array.from({ length: 8 }, (_, place) => ({
      email: `p${place < 3 ? place : `${at}-${place}`}@example.test`,
      status: statuses[(place + at) % statuses.length] ?? null,
      custom_fields: { city: place % 2 === 0 ? "Bonn" : "Rome" },
    }));
    await addPeople(db, workspaceId, id, people, { now: joined });
  }
  // Known on one list only: elsewhere its rule matches no one.
  await db.run(sql`
    insert into custom_fields (workspace_id, id, mailing_list_id, field_name, field_label, field_type, display_order,
      created_at, updated_at)
    values (${workspaceId}, gen_random_uuid(), ${lists[2]?.id}, 'city', 'City', 'text', 1, now(), now())`);
});

const conditions = (...rules: [string, string, unknown][]) =>
  ({
    logic: "and",
    rules: rules.map(([field, operator, value]) => ({ field, operator, value })),
  }) as Conditions;
const anywhere = (asked: Conditions, stretch?: IdRange) =>
  membersOfWorkspace(db, workspaceId, lists, { conditions: asked, stretch }, now);
const idsIn = async (relation: Sql) =>
  (await db.rows<{ id: string }>(sql`select id from ${relation} a order by id`)).map(({ id }) => id);
const idsOnLists = async (asked: Conditions) => {
  const found = await Promise.all(
    lists.map(async ({ id }) => idsIn(await membersOf(db, workspaceId, id, { conditions: asked }, now))),
  );
  return [...new Set(found.flat())].sort();
};

test.each<[string, () => Conditions]>([
  ["of the person", () => conditions(["email", "starts_with", "p1"])],
  ["of a field that one list has", () => conditions(["city", "equals", "Bonn"])],
  ["of membership", () => conditions(["subscribed_at", "after", "2026-01-05"])],
  ["of one of the lists", () => conditions(["mailing_list", "is_not_active_in", lists[0]?.id])],
])("conditions %s find on any list whom they find on each, in whatever stretches", async (_, make) => {
  const wanted = await idsOnLists(make());
  expect(wanted).not.toEqual([]);
  expect(await idsIn(await anywhere(make()))).toEqual(wanted);
  const everybody = await idsIn(sql`(select id from subscribers where workspace_id = ${workspaceId})`);
  const middle = everybody[Math.floor(everybody.length / 2)];
  const halves = [
    { after: nilId, to: middle },
    { after: middle ?? nilId, to: undefined },
  ];
  const found = await Promise.all(halves.map(async (half) => idsIn(await anywhere(make(), half))));
  expect(found.flat()).toEqual(wanted);
});

test("a range of ids is read once for all lists, and no person beyond it", async () => {
  const crowd = Array.from({ length: 5_000 }, (_, at) => ({ email: `q${at}@example.test` }));
  await addPeople(db, workspaceId, lists[0]?.id ?? "", crowd);
  await db.run(sql`analyze subscribers`);
  const everybody = await idsIn(sql`(select id from subscribers where workspace_id = ${workspaceId})`);
  const people = await anywhere(conditions(["email", "starts_with", "p1"]), {
    after: nilId,
    to: everybody[9],
  });
  const [explained] = await db.rows<Record<string, [{ Plan: Node }]>>(
    sql`explain (analyze, format json) select id from ${people} a`,
  );
  const looks = looksAt("subscribers", explained?.["QUERY PLAN"]?.[0].Plan ?? expect.fail("no plan"));
  const read = looks.map(
    (node) => (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
  );
  expect(read).toEqual([10]);
});

interface Node {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Node[];
}

function looksAt(relation: string, node: Node): Node[] {
  const below = (node.Plans ?? []).flatMap((child) => looksAt(relation, child));
  return node["Relation Name"] === relation ? [node, ...below] : below;
}
