/** What a question about a small list reads: by the plan, not by the time that it takes. */
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { membersOf } from "./members-as-relation.ts";

const FEW = 5;
const MANY = 8_000;

const db = await testDatabase();
const clock = stubClock();
const settings = { name: "Test", timezone: "UTC", plan: "enterprise" } as const;
const newWorkspace = async () => (await createWorkspace(db, settings, clock)).workspace.id;
const [here, elsewhere] = [await newWorkspace(), await newWorkspace()];
const fill = async (workspaceId: WorkspaceId, people: number) => {
  const list = await newList(db, workspaceId);
  const emails = Array.from({ length: people }, (_, at) => ({ email: `p${at}@of${people}.example` }));
  await addPeople(db, workspaceId, list, emails);
  return list;
};
const large = await fill(here, MANY);
const small = await fill(here, FEW);
const alone = await fill(elsewhere, FEW);

interface Node {
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly Node[];
}

/** Rows of people that are looked at. */
function readIn(node: Node): number {
  const looked =
    node["Actual Rows"] +
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  const own = node["Relation Name"] === "subscribers" ? looked * node["Actual Loops"] : 0;
  return (node.Plans ?? []).reduce((sum, plan) => sum + readIn(plan), own);
}

async function readFor(workspaceId: WorkspaceId, list: string, conditions: Conditions): Promise<number> {
  const relation = await membersOf(db, workspaceId, list, { conditions }, clock.now());
  const [plan] = await db.rows<{ "QUERY PLAN": [{ Plan: Node }] }>(sql`
    explain (analyze, format json) select count(*) from ${relation} a`);
  return readIn(plan?.["QUERY PLAN"][0].Plan as Node);
}

const one = (field: string, operator: string, value: unknown): Conditions => ({
  logic: "or",
  rules: [
    { field, operator, value },
    { field: "first_name", operator: "equals", value: "ann" },
  ],
});

describe.each(["nothing", "everything"])("people who are looked at when statistics know %s", (known) => {
  test.each([
    ["a part of the address", one("email", "contains", "p")],
    ["a list", one("mailing_list", "is_not_active_in", large)],
    ["a date of the membership", one("subscribed_at", "after", "2020-01-01")],
    ["the status", one("status", "is_not", "bounced")],
  ])("are those of a small list, for a rule on %s", async (_what, conditions) => {
    if (known === "everything") await db.run(sql`analyze subscribers, memberships`);
    expect(await readFor(here, small, conditions)).toBeLessThanOrEqual(FEW);
    expect(await readFor(elsewhere, alone, conditions)).toBeLessThanOrEqual(FEW);
  });
});

test("a list with most people is read by a table scan, each person once", async () => {
  const conditions = one("email", "contains", "p");
  const relation = await membersOf(db, here, large, { conditions }, clock.now());
  expect(relation.text).not.toContain("memberships");
});
