import * as fc from "fast-check";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { addPeople, findMiscounts, type Newcomer, newList, relationOf } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { insertMembers } from "./add-members.ts";
import { countMembers } from "./counters.ts";
import { removeMembers, updateStatuses } from "./membership-changes.ts";
import { stage, staged, stagedLine, unstage } from "./staging-table.ts";
import { type SubscriberStatus, subscriberStatuses } from "./status.ts";

const db = await testDatabase();
const badness = (status: SubscriberStatus) => subscriberStatuses.indexOf(status);
const holds = (status: SubscriberStatus) => badness(status) >= badness("bounced");
const worse = (a: SubscriberStatus, b: SubscriberStatus) => (badness(a) > badness(b) ? a : b);

/** The statuses of all people of a workspace, by address and list. */
type World = Map<string, Map<string, SubscriberStatus>>;

async function readWorld(workspaceId: WorkspaceId): Promise<World> {
  const rows = await db.rows<{ email: string; list: string; status: SubscriberStatus }>(sql`
    select s.email, m.mailing_list_id as list, m.status from memberships m
    join subscribers s on s.workspace_id = m.workspace_id and s.id = m.subscriber_id
    where m.workspace_id = ${workspaceId}`);
  return new Map(
    [...Map.groupBy(rows, ({ email }) => email)].map(([email, places]) => [
      email,
      new Map(places.map(({ list, status }) => [list, status])),
    ]),
  );
}

const personStatus = (places: ReadonlyMap<string, SubscriberStatus>): SubscriberStatus => {
  const all = [...places.values()];
  return (
    (["complained", "bounced", "active"] as const).find((status) => all.includes(status)) ?? "unsubscribed"
  );
};

const emails = [
  "ann@example.com",
  "bob@example.com",
  "cyd@example.org",
  "dan@example.org",
  "eve@example.net",
];
const status = fc.constantFrom(...subscriberStatuses);
const email = fc.constantFrom(...emails);
const list = fc.nat({ max: 2 });
const operation = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    list,
    resubscribe: fc.boolean(),
    people: fc.uniqueArray(fc.record({ email, status: fc.option(status) }), {
      minLength: 1,
      selector: (p) => p.email,
    }),
  }),
  fc.record({ kind: fc.constant("set" as const), list, email, status }),
  fc.record({ kind: fc.constant("remove" as const), list, emails: fc.uniqueArray(email, { minLength: 1 }) }),
);

/** What the decisions say should happen. */
const expected = {
  add(world: World, list: string, people: readonly Newcomer[], resubscribe: boolean) {
    for (const { email, status } of people) {
      const wanted = status ?? "active";
      const places = world.get(email) ?? new Map<string, SubscriberStatus>();
      const before = personStatus(places);
      const held = places.get(list);
      if (held === undefined)
        places.set(list, places.size > 0 && holds(before) ? worse(before, wanted) : wanted);
      else if (badness(wanted) > badness(held)) places.set(list, wanted);
      else if (resubscribe && wanted === "active" && held === "unsubscribed") places.set(list, "active");
      world.set(email, places);
      // A status that the person and this membership already had is not applied to other lists again.
      const isNews =
        (places.size > 1 && badness(wanted) > badness(before)) || (held && badness(wanted) > badness(held));
      if (holds(wanted) && isNews) for (const [other, had] of places) places.set(other, worse(had, wanted));
    }
  },
  set(world: World, list: string, email: string, status: SubscriberStatus) {
    const places = world.get(email) ?? new Map<string, SubscriberStatus>();
    const isMember = places.has(list);
    if (holds(status)) {
      for (const [other, had] of places) places.set(other, had === "complained" ? had : status);
    }
    if (isMember) places.set(list, status);
  },
  remove(world: World, list: string, gone: readonly string[]) {
    for (const email of gone) {
      world.get(email)?.delete(list);
      if (world.get(email)?.size === 0) world.delete(email);
    }
  },
};

async function idOf(workspaceId: WorkspaceId, emails: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    select id from subscribers where workspace_id = ${workspaceId} and email = any(${emails})`);
  return rows.map(({ id }) => id);
}

test("after any sequence of changes, memberships follow the rules and counters equal a count", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 25 }), async (operations) => {
      const workspaceId = await insertBareWorkspace(db);
      const lists = [
        await newList(db, workspaceId),
        await newList(db, workspaceId),
        await newList(db, workspaceId),
      ];
      const world: World = new Map();
      for (const one of operations) {
        const listId = lists[one.list] ?? "";
        if (one.kind === "add") {
          await addPeople(db, workspaceId, listId, one.people, { resubscribe: one.resubscribe });
          expected.add(world, listId, one.people, one.resubscribe);
        } else if (one.kind === "set") {
          const [id = null] = await idOf(workspaceId, [one.email]);
          const move = sql`
            select ${listId}::uuid as mailing_list_id, ${id}::uuid as subscriber_id, ${one.status} as status`;
          await db.transaction((tx) => updateStatuses(tx, workspaceId, move, new Date()));
          expected.set(world, listId, one.email, one.status);
        } else {
          const ids = await idOf(workspaceId, one.emails);
          await db.transaction((tx) => removeMembers(tx, workspaceId, listId, ids, new Date()));
          expected.remove(world, listId, one.emails);
        }
        expect(await readWorld(workspaceId)).toEqual(world);
        expect(await findMiscounts(db)).toEqual([]);
      }
    }),
    { numRuns: 20 },
  );
});

test("the day of a change is in the workspace's time zone, and only changes to and from active count", async () => {
  const workspaceId = await insertBareWorkspace(db);
  await db.run(sql`update workspaces set timezone = 'Pacific/Auckland' where id = ${workspaceId}`);
  const listId = await newList(db, workspaceId);
  const now = new Date("2026-03-01T12:30:00Z");
  await addPeople(
    db,
    workspaceId,
    listId,
    [{ email: "a@example.com" }, { email: "b@example.com", status: "unsubscribed" }],
    { now },
  );
  const [a = "", b = ""] = [
    ...(await idOf(workspaceId, ["a@example.com"])),
    ...(await idOf(workspaceId, ["b@example.com"])),
  ];
  const set = (id: string, status: SubscriberStatus) =>
    db.transaction((tx) =>
      updateStatuses(
        tx,
        workspaceId,
        sql`select ${listId}::uuid as mailing_list_id, ${id}::uuid as subscriber_id, ${status} as status`,
        now,
      ),
    );
  await set(b, "bounced");
  await set(a, "unsubscribed");
  await set(a, "active");
  await set(a, "complained");
  const days = await db.rows(sql`
    select day::text as day, subscribed, unsubscribed, bounced, complained from list_days
    where workspace_id = ${workspaceId}`);
  expect(days).toEqual([{ day: "2026-03-02", subscribed: 2, unsubscribed: 1, bounced: 0, complained: 1 }]);
});

test("names and custom fields given for known people replace stored ones only if asked; omitted ones stay", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const [one, two] = [await newList(db, workspaceId), await newList(db, workspaceId)];
  const ann = {
    email: "ann@example.com",
    first_name: "Ann",
    last_name: "Lee",
    custom_fields: { city: "Rome", age: 7 },
  };
  const read = () =>
    db.row(
      sql`select first_name, last_name, custom_fields from subscribers where workspace_id = ${workspaceId}`,
    );
  expect(await addPeople(db, workspaceId, one, [ann])).toEqual({
    given: 1,
    created: 1,
    updated: 0,
    joined: 1,
    changed: 0,
  });
  const change = { email: ann.email, first_name: "Anna", custom_fields: { city: "Oslo" } };
  expect(await addPeople(db, workspaceId, one, [change], { updateExisting: false })).toEqual({
    given: 1,
    created: 0,
    updated: 0,
    joined: 0,
    changed: 0,
  });
  expect(await read()).toEqual({
    first_name: "Ann",
    last_name: "Lee",
    custom_fields: { city: "Rome", age: 7 },
  });
  expect(await addPeople(db, workspaceId, two, [change])).toEqual({
    given: 1,
    created: 0,
    updated: 1,
    joined: 1,
    changed: 0,
  });
  expect(await read()).toEqual({
    first_name: "Anna",
    last_name: "Lee",
    custom_fields: { city: "Oslo", age: 7 },
  });
  expect(await addPeople(db, workspaceId, two, [change])).toMatchObject({ updated: 0, changed: 0 });
  const back = { ...change, first_name: "Ann" };
  expect(await addPeople(db, workspaceId, two, [back])).toMatchObject({ updated: 1, joined: 0, changed: 1 });
});

test("a known person who joins another list gets the values they lack: given or stored ones, then the defaults", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const [home, replacing, filling] = [
    await newList(db, workspaceId),
    await newList(db, workspaceId),
    await newList(db, workspaceId),
  ];
  const email = "ann@example.com";
  const read = () =>
    db.row(
      sql`select first_name, last_name, custom_fields from subscribers where workspace_id = ${workspaceId}`,
    );
  await addPeople(db, workspaceId, home, [{ email, first_name: "Ann", custom_fields: { city: "Rome" } }]);
  const filled = { email, first_name: "Eve", last_name: "Lee", custom_fields: { city: "Oslo", age: 7 } };
  const keeping = { updateExisting: false, defaults: { city: "Bonn", age: 1, plan: "free" } };
  const joins = { given: 1, created: 0, updated: 1, joined: 1, changed: 0 };
  expect(await addPeople(db, workspaceId, filling, [filled], keeping)).toEqual(joins);
  expect(await read()).toEqual({
    first_name: "Ann",
    last_name: "Lee",
    custom_fields: { city: "Rome", age: 7, plan: "free" },
  });
  const replaced = { email, first_name: "Eve", custom_fields: { city: "Oslo" } };
  const writing = { defaults: { city: "Bonn", plan: "paid", size: "L" } };
  expect(await addPeople(db, workspaceId, replacing, [replaced], writing)).toEqual(joins);
  const after = {
    first_name: "Eve",
    last_name: "Lee",
    custom_fields: { city: "Oslo", age: 7, plan: "free", size: "L" },
  };
  expect(await read()).toEqual(after);
  // A member is given no defaults, and with updateExisting off nothing at all.
  const late = { defaults: { late: true } };
  const none = { given: 1, created: 0, updated: 0, joined: 0, changed: 0 };
  expect(await addPeople(db, workspaceId, replacing, [replaced], late)).toEqual(none);
  const news = { email, custom_fields: { city: "Kyiv", extra: 1 } };
  expect(await addPeople(db, workspaceId, replacing, [news], { ...late, updateExisting: false })).toEqual(
    none,
  );
  expect(await read()).toEqual(after);
});

test("another workspace's list and people are never changed", async () => {
  const [mine, theirs] = [await insertBareWorkspace(db), await insertBareWorkspace(db)];
  const [myList, theirList] = [await newList(db, mine), await newList(db, theirs)];
  await addPeople(db, theirs, theirList, [{ email: "ann@example.com" }]);
  await addPeople(db, mine, myList, [{ email: "ann@example.com" }]);
  const ids = await idOf(theirs, ["ann@example.com"]);
  await expect(addPeople(db, mine, theirList, [{ email: "x@example.com" }])).rejects.toThrow(
    "Mailing list not found",
  );
  const removed = await db.transaction((tx) => removeMembers(tx, mine, theirList, ids, new Date()));
  const move = sql`select ${theirList}::uuid as mailing_list_id, ${ids[0]}::uuid as subscriber_id, 'bounced' as status`;
  const moved = await db.transaction((tx) => updateStatuses(tx, mine, move, new Date()));
  expect([removed, moved]).toEqual([0, 0]);
  expect(await countMembers(db, theirs, theirList)).toMatchObject({ active: 1, bounced: 0 });
});

test("concurrent imports, status changes and removals of the same people neither deadlock nor miscount", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const lists = [await newList(db, workspaceId), await newList(db, workspaceId)];
  const people = Array.from({ length: 40 }, (_, at) => ({ email: `p${at}@example.com` }));
  const shuffled = (seed: number) =>
    people.toSorted((a, b) => ((a.email.length * seed) % 7) - ((b.email.length * seed * 3) % 5));
  const work = Array.from({ length: 64 }, (_, at) => async () => {
    const listId = lists[at % 2] ?? "";
    if (at % 4 < 2) await addPeople(db, workspaceId, listId, shuffled(at));
    else {
      const ids = (
        await idOf(
          workspaceId,
          people.map(({ email }) => email),
        )
      ).toReversed();
      if (at % 3 === 0) await db.transaction((tx) => removeMembers(tx, workspaceId, listId, ids, new Date()));
      else {
        const moves = sql`
          select ${listId}::uuid as mailing_list_id, unnest(${ids}::uuid[]) as subscriber_id,
            ${subscriberStatuses[at % 4] ?? "active"} as status`;
        await db.transaction((tx) => updateStatuses(tx, workspaceId, moves, new Date()));
      }
    }
  });
  await Promise.all(work.map((run) => run()));
  expect(await findMiscounts(db)).toEqual([]);
});

test("staged people are added as written, except for removed rows", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const listId = await newList(db, workspaceId);
  const said = { last_name: null, source: null, status: null };
  const odd = "tab\t, break\r\n, back\\slash, \\N";
  const lines = [
    { email: "ann@example.com", first_name: "First", ...said, custom_fields: "{}" },
    { email: "bob@example.com", first_name: odd, ...said, custom_fields: JSON.stringify({ note: odd }) },
    { email: "ann@example.com", first_name: "Last", ...said, custom_fields: "{}" },
  ].map((person, line) => stagedLine(line, newId(), person));
  const arrived = await db.transaction(async (tx) => {
    await stage(tx, lines);
    await unstage(tx, [0]);
    const options = { people: staged, now: new Date(), updateExisting: true, resubscribe: false };
    return insertMembers(tx, workspaceId, { mailingListId: listId, ...options });
  });
  expect(arrived).toEqual({ given: 2, created: 2, updated: 0, joined: 2, changed: 0 });
  const people = await db.rows(
    sql`select first_name, custom_fields from subscribers where workspace_id = ${workspaceId} order by email`,
  );
  expect(people).toEqual([
    { first_name: "Last", custom_fields: {} },
    { first_name: odd, custom_fields: { note: odd } },
  ]);
});

test("with likelyNew, people are written once even if one of them is known", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const [one, other] = [await newList(db, workspaceId), await newList(db, workspaceId)];
  const options = { likelyNew: true, defaults: { plan: "free", city: "Rome" } };
  const people = ["a", "b", "c"].map((name) => ({
    email: `${name}@example.com`,
    custom_fields: { city: "Oslo" },
  }));
  expect(await addPeople(db, workspaceId, one, people.slice(1, 2), options)).toMatchObject({ created: 1 });
  await db.run(
    sql`update subscribers set custom_fields = '{"city": "Bonn"}' where workspace_id = ${workspaceId}`,
  );
  expect(await addPeople(db, workspaceId, other, people, options)).toEqual({
    given: 3,
    created: 2,
    updated: 1,
    joined: 3,
    changed: 0,
  });
  const held = await db.rows(sql`
    select email, custom_fields from subscribers where workspace_id = ${workspaceId} order by email`);
  // Defaults are for all who join, where neither they nor the arrival has a value.
  expect(held).toEqual([
    { email: "a@example.com", custom_fields: { plan: "free", city: "Oslo" } },
    { email: "b@example.com", custom_fields: { plan: "free", city: "Oslo" } },
    { email: "c@example.com", custom_fields: { plan: "free", city: "Oslo" } },
  ]);
  expect(await findMiscounts(db)).toEqual([]);
});

test("two additions in one transaction each count their own changes, also after likelyNew", async () => {
  const workspaceId = await insertBareWorkspace(db);
  const mailingListId = await newList(db, workspaceId);
  const arrived = await db.transaction(async (tx) => {
    await lockMailingList(tx, workspaceId, mailingListId);
    const options = { mailingListId, now: new Date(), updateExisting: true, resubscribe: false };
    const arrive = (people: Newcomer[], likelyNew: boolean) =>
      insertMembers(tx, workspaceId, { ...options, people: relationOf(people), likelyNew });
    const [ann, bob] = [{ email: "ann@example.com" }, { email: "bob@example.com" }];
    return [
      await arrive([ann, bob], true),
      await arrive([{ ...ann, first_name: "Ann" }, bob, { email: "cy@example.com" }], true),
      await arrive([{ ...ann, status: "unsubscribed" }, bob], false),
    ];
  });
  expect(arrived).toEqual([
    { given: 2, created: 2, updated: 0, joined: 2, changed: 0 },
    { given: 3, created: 1, updated: 1, joined: 1, changed: 1 },
    { given: 2, created: 0, updated: 0, joined: 0, changed: 1 },
  ]);
  expect(await findMiscounts(db)).toEqual([]);
});

test("without statistics, tens of thousands of known people are looked up one by one", async () => {
  const people = (name: string) =>
    Array.from({ length: 15_000 }, (_, at) => ({ email: `p${at}@big.example`, first_name: name }));
  // With these statistics the planner would scan all given people for each known one, for hours.
  const old = await insertBareWorkspace(db);
  await addPeople(db, old, await newList(db, old), people("Old"), { likelyNew: true });
  await db.run(sql`analyze subscribers, memberships`);
  const workspaceId = await insertBareWorkspace(db);
  const [one, other] = [await newList(db, workspaceId), await newList(db, workspaceId)];
  const all = { given: 15_000, created: 0, updated: 15_000, joined: 0, changed: 0 };
  await addPeople(db, workspaceId, one, people("First"), { likelyNew: true });
  expect(await addPeople(db, workspaceId, other, people("Second"))).toEqual({ ...all, joined: 15_000 });
  expect(await addPeople(db, workspaceId, one, people("Third"))).toEqual({ ...all, changed: 15_000 });
  expect(await findMiscounts(db)).toEqual([]);
});
