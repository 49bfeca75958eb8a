import { afterAll, expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { reviewMigration } from "./review-migration.ts";

const database = await testDatabase();
const client = await database.openSession();
afterAll(() => client.end());

test.each([
  ["a dropped table", "drop table attempt_buckets", /^attempt_buckets is dropped/],
  [
    "a renamed column",
    "alter table media rename name to file_name",
    /^column media.name is dropped or renamed/,
  ],
  [
    "another type",
    "alter table campaigns alter column name type varchar(10)",
    /^column campaigns.name was text and is character varying\(10\).*campaigns is rewritten/,
  ],
  [
    "a required column without a default",
    "alter table attempt_buckets add column kind text not null",
    /^column attempt_buckets.kind is required/,
  ],
  [
    "a column that becomes required",
    "alter table workspaces alter column default_sender set not null",
    /^column workspaces.default_sender is required/,
  ],
  [
    "a new constraint",
    "alter table workspaces add constraint short check (length(name) < 9) not valid",
    /^constraint workspaces.short is new/,
  ],
  [
    "an index whose building blocks writers",
    "create index blocking on workspaces (name)",
    /^an index of workspaces is built while its writers wait/,
  ],
])("%s is found", async (_, statements, fault) => {
  expect((await reviewMigration(client, statements)).join("; ")).toMatch(fault);
});

test("new tables, and new columns that former programs need not write, are right", async () => {
  const statements = `
    create table later (workspace_id uuid, id uuid, note text not null, primary key (workspace_id, id));
    create index later_by_note on later (note);
    alter table workspaces add column color text not null default 'blue', add column mood text`;
  expect(await reviewMigration(client, statements)).toEqual([]);
});
