import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import { requireBelowRowLimit, type WorkspaceRowLimit } from "./row-limit-store.ts";

const database = await testDatabase();
await database.run(sql`create table boxes (workspace_id uuid not null, is_gone boolean not null)`);

const boxes: WorkspaceRowLimit = { table: sql`boxes`, what: "boxes", most: 3, counted: sql`and not is_gone` };

const newWorkspaceId = () => asWorkspaceId(newId());

function add(workspaceId: WorkspaceId, room = boxes): Promise<number> {
  return database.transaction(async (tx) => {
    await requireBelowRowLimit(tx, workspaceId, room);
    return tx.run(sql`insert into boxes values (${workspaceId}, false)`);
  });
}

test("of many concurrent inserts, only as many succeed as are allowed", async () => {
  const workspaceId = newWorkspaceId();
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => add(workspaceId)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") continue;
    expect(outcome.reason).toMatchObject({
      code: "BAD_REQUEST",
      message: "There can be 3 boxes; delete one first",
    });
  }
});

test("rows of another workspace, and rows that do not count, are not limited", async () => {
  const [full, own] = [newWorkspaceId(), newWorkspaceId()];
  for (let added = 0; added < 3; added++) await add(full);
  await database.run(sql`insert into boxes select ${own}, true from generate_series(1, 3)`);
  expect(await add(own)).toBe(1);
});

test.each<[string, Partial<WorkspaceRowLimit>, string, string]>([
  [
    "an advice of its own",
    { way: "delete one for good first" },
    "BAD_REQUEST",
    "There can be 3 boxes; delete one for good first",
  ],
  [
    "a conflict",
    { code: "CONFLICT" },
    "CONFLICT",
    "There are 3 boxes; delete one that is not needed any more",
  ],
])("a row above the limit is refused as it says: %s", async (_what, changes, code, message) => {
  const workspaceId = newWorkspaceId();
  const room = { ...boxes, ...changes };
  for (let added = 0; added < 3; added++) await add(workspaceId, room);
  await expect(add(workspaceId, room)).rejects.toMatchObject({ code, message });
});
