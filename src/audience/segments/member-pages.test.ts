import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { lockMailingList } from "#audience/mailing-lists/store.ts";
import { updateStatuses } from "#audience/subscribers/memberships/membership-changes.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { createMemberPages, type MemberPages } from "./member-pages.ts";
import { membersOf } from "./members-as-relation.ts";
import { countMembersIn, withDeadline } from "./members-store.ts";

const db = await testDatabase();
const clock = stubClock();
const settings = { name: "Test", timezone: "UTC", plan: "enterprise" } as const;
const workspaceId = (await createWorkspace(db, settings, clock)).workspace.id;

const PEOPLE = 400;
const list = await newList(db, workspaceId);
await addPeople(
  db,
  workspaceId,
  list,
  Array.from({ length: PEOPLE }, (_, at) => ({
    email: `p${at}@${at % 4 === 0 ? "four" : "other"}.example`,
    first_name: at % 8 === 0 ? "Ann" : "Bob",
  })),
);
const conditions: Conditions = {
  logic: "or",
  rules: [
    { field: "email_domain", operator: "equals", value: "four.example" },
    { field: "first_name", operator: "equals", value: "bob" },
  ],
};
const target = { mailing_list_id: list, conditions };

/** Every page, one after the other, the last first. */
async function walk(pages: MemberPages, limit: number): Promise<string[]> {
  const { total } = await pages.find(workspaceId, target, { offset: 0, limit, search: undefined });
  const found: string[] = [];
  for (let page = Math.ceil(total / limit) + 1; page >= 1; page--) {
    const answer = await pages.find(workspaceId, target, {
      offset: (page - 1) * limit,
      limit,
      search: undefined,
    });
    expect(answer.total).toBe(total);
    found.unshift(...answer.ids);
  }
  return found;
}

async function everybody(): Promise<string[]> {
  const relation = await membersOf(db, workspaceId, list, { conditions }, clock.now());
  const rows = await db.rows<{ id: string }>(sql`select id from ${relation} a order by id desc`);
  return rows.map(({ id }) => id);
}

describe.each([
  ["a small list", { smallList: 1_000, landmarks: 1_000, shallow: 50 }],
  ["few members of a large list", { smallList: 10, landmarks: 1_000, shallow: 50 }],
  ["many members of a large list", { smallList: 10, landmarks: 30, shallow: 50 }],
])("pages of %s", (_name, bounds) => {
  test.each([7, 50, 1_000])("show every member once, newest first, %i at a time", async (limit) => {
    const found = await walk(createMemberPages(db, clock, bounds), limit);
    expect(found).toEqual(await everybody());
  });

  test("by cursor show every member once, and skip none when the last one shown leaves", async () => {
    const pages = createMemberPages(db, clock, bounds);
    const wanted = await everybody();
    const found: string[] = [];
    for (let after: string | undefined; ; after = found.at(-1)) {
      const page = { limit: 7, offset: 0, search: undefined, ...(after !== undefined && { after }) };
      const { ids, total } = await pages.find(workspaceId, target, page);
      expect(total).toBe(wanted.length);
      if (ids.length === 0) break;
      found.push(...ids);
    }
    expect(found).toEqual(wanted);
  });

  test("change at once when a member leaves", async () => {
    const pages = createMemberPages(db, clock, bounds);
    const [gone = ""] = (await walk(pages, 50)).slice(120);
    const move = async (status: string) =>
      db.transaction(async (tx) => {
        await lockMailingList(tx, workspaceId, list);
        const moves = sql`
          select ${list}::uuid as mailing_list_id, ${gone}::uuid as subscriber_id, ${status}::text as status`;
        await updateStatuses(tx, workspaceId, moves, clock.now());
      });
    await move("unsubscribed");
    const left = await walk(pages, 50);
    expect(left).not.toContain(gone);
    expect(left).toEqual(await everybody());
    await move("active");
  });

  test("never show a person who has left the segment", async () => {
    const pages = createMemberPages(db, clock, bounds);
    const [changed = ""] = (await walk(pages, 50)).slice(120);
    const rename = (name: string, domain: string) =>
      db.run(sql`
        update subscribers set first_name = ${name}, email = split_part(email, '@', 1) || ${domain} where id = ${changed}`);
    const before = await db.row<{ first_name: string; domain: string }>(sql`
      select first_name, '@' || email_domain as domain from subscribers where id = ${changed}`);
    await rename("Zoe", "@else.example");
    const shown = [];
    for (let page = 1; page <= 8; page++) {
      shown.push(
        ...(await pages.find(workspaceId, target, { offset: (page - 1) * 50, limit: 50, search: undefined }))
          .ids,
      );
    }
    expect(shown).not.toContain(changed);
    await rename(before?.first_name ?? "", before?.domain ?? "");
  });
});

test("conditions that take too long are refused, and nothing keeps running", async () => {
  const slow = withDeadline(db, workspaceId, 50, (tx) => tx.run(sql`select pg_sleep(10)`));
  await expect(slow).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect(await db.row(sql`select current_setting('statement_timeout') as most`)).toEqual({ most: "30s" });
});

test("conditions of more values than a statement can hold are refused", async () => {
  const words = Array.from({ length: 61_000 }, (_, at) => String(at));
  const many = {
    logic: "or",
    rules: words.map((value) => ({ field: "email", operator: "equals", value })),
  } as const;
  const relation = await membersOf(db, workspaceId, list, { conditions: many }, clock.now());
  await expect(countMembersIn(db, relation)).rejects.toMatchObject({ code: "BAD_REQUEST" });
});
