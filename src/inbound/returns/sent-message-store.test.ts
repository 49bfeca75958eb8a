import sql, { type Sql } from "sql-template-tag";
import { expect, test } from "vitest";
import type { Queryable } from "#platform/database/pool.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { findLastMove, findSentMessage } from "./sent-message-store.ts";

const db = await testDatabase();

/** A message of a new workspace, with what its return path says. */
async function sendFrom(workspace: string) {
  const workspaceId = asWorkspaceId(workspace);
  await db.run(sql`insert into workspaces (id, name) values (${workspaceId}, 'Test')`);
  const mail = draft(workspaceId, "ann@example.test");
  await insertDrafts(db, [mail]);
  return { messageId: mail.message.id, workspacePrefix: workspace.replaceAll("-", "").slice(0, 12) };
}

/** The pages that the statements of `ask` read. */
async function pagesOf(ask: (explaining: Queryable) => Promise<unknown>): Promise<number> {
  let pages = 0;
  await ask({
    ...db,
    async row<Row>(statement: Sql) {
      const [plan] = await db.rows<{ "QUERY PLAN": { Plan: Record<string, number> }[] }>(
        sql`explain (analyze, buffers, format json) ${statement}`,
      );
      const { "Shared Hit Blocks": hit = 0, "Shared Read Blocks": read = 0 } =
        plan?.["QUERY PLAN"][0]?.Plan ?? {};
      pages += hit + read;
      return db.row<Row>(statement);
    },
  });
  return pages;
}

test("the message of a return path is found at the same cost among thousands of workspaces", async () => {
  const named = await sendFrom(newId());
  const alone = await pagesOf((explaining) => findLastMove(explaining, named));
  await db.run(sql`
    insert into workspaces (id, name)
    select (lpad(to_hex(n), 12, '0') || substr(md5(n::text), 1, 20))::uuid, 'Other' from generate_series(1, 5000) n`);
  await db.run(sql`analyze workspaces`);
  expect(await pagesOf((explaining) => findLastMove(explaining, named))).toBeLessThan(alone + 10);
});

test("workspaces that were created in the same millisecond are told apart", async () => {
  const [first, second] = ["7", "8"].map((digit) => `0198c5a2-7b1e-7c3d-9e4f-${digit.repeat(12)}`);
  const [one, other] = [await sendFrom(first ?? ""), await sendFrom(second ?? "")];
  expect(one.workspacePrefix).toBe(other.workspacePrefix);
  expect((await findSentMessage(db, one))?.workspaceId).toBe(first);
  expect((await findSentMessage(db, other))?.workspaceId).toBe(second);
});

test("a message is not found in a workspace that its return path does not name", async () => {
  const named = await sendFrom(newId());
  expect(await findSentMessage(db, { ...named, workspacePrefix: "000000000001" })).toBeUndefined();
});
