import sql, { type Sql } from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { plans } from "#workspace/billing/plans.ts";
import { createAcceptor } from "./acceptor.ts";

const db = await testDatabase();
const acceptor = createAcceptor({ db, clock: systemClock, plans, onCommitted: () => {} });
let workspaceId: WorkspaceId;

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

const to = (...names: string[]) => names.map((name) => draft(workspaceId, `${name}@example.test`));

async function stored(): Promise<string[]> {
  const rows = await db.rows<{ localpart: string }>(
    sql`select localpart from messages where workspace_id = ${workspaceId} order by localpart`,
  );
  return rows.map(({ localpart }) => localpart);
}

const outcomes = async (calls: readonly Promise<void>[]) =>
  (await Promise.allSettled(calls)).map((call) =>
    call.status === "fulfilled" ? "accepted" : call.reason.code,
  );

test("drafts are accepted together", async () => {
  await acceptor.acceptTogether(to("a", "b", "c"));
  expect(await stored()).toEqual(["a", "b", "c"]);
});

test("a draft that the database rejects fails its whole request, and no other request", async () => {
  const [good, bad] = to("good", "bad");
  if (good === undefined || bad === undefined) throw new Error("two drafts");
  const broken = { ...bad, message: { ...bad.message, subject: "a\0b" } };
  const [alone] = to("alone");
  const calls = [acceptor.acceptTogether([good, broken]), acceptor.acceptTogether(alone ? [alone] : [])];
  expect((await outcomes(calls))[1]).toBe("accepted");
  expect(await stored()).toEqual(["alone"]);
});

test("one that may not be sent refuses them all", async () => {
  const drafts = to("a", "b").map((one, at) => ({
    ...one,
    sender: at === 0 ? null : { workspaceId, address: "ceo@bank.test", domain: "bank.test" },
  }));
  expect(await outcomes([acceptor.acceptTogether(drafts)])).toEqual(["VALIDATION_ERROR"]);
  expect(await stored()).toEqual([]);
});

test("if not all drafts of a request are covered, none is accepted, and other requests get the allowance", async () => {
  await db.run(sql`update workspaces set hourly_cap = 2 where id = ${workspaceId}`);
  const calls = [to("a", "b", "c"), to("d"), to("e"), to("f")].map((drafts) =>
    acceptor.acceptTogether(drafts),
  );
  expect(await outcomes(calls)).toEqual([
    "RATE_LIMIT_EXCEEDED",
    "accepted",
    "accepted",
    "RATE_LIMIT_EXCEEDED",
  ]);
  expect(await stored()).toEqual(["d", "e"]);
});

test("requests that are not covered are judged in one pass, however many they are", async () => {
  await db.run(sql`update workspaces set hourly_cap = 2 where id = ${workspaceId}`);
  let statements = 0;
  const counting = <Asked extends Queryable>(asked: Asked): Asked => ({
    ...asked,
    rows: (statement: Sql, name?: string) => {
      statements += 1;
      return asked.rows(statement, name);
    },
    row: (statement: Sql, name?: string) => {
      statements += 1;
      return asked.row(statement, name);
    },
    run: (statement: Sql) => {
      statements += 1;
      return asked.run(statement);
    },
  });
  const counted: Database = {
    ...counting(db),
    transaction: (work, options) => db.transaction((tx) => work(counting(tx)), options),
  };
  const own = createAcceptor({ db: counted, clock: systemClock, plans, onCommitted: () => {} });
  const pairs = Array.from({ length: 40 }, (_, at) => to(`a${at}`, `b${at}`));
  const results = await outcomes(pairs.map((drafts) => own.acceptTogether(drafts)));
  expect(results).toEqual(pairs.map((_, at) => (at === 0 ? "accepted" : "RATE_LIMIT_EXCEEDED")));
  expect(await stored()).toEqual(["a0", "b0"]);
  expect(statements).toBeLessThan(30);
});

test("a submission is stored once for all recipients, and not at all when all are suppressed", async () => {
  const submission = { id: newId(), raw: Buffer.from("From: a@b.test\r\n\r\n\0\xff", "latin1") };
  await acceptor.acceptTogether(
    to("a", "b").map((one) => ({ ...one, message: { ...one.message, html: null, submission } })),
  );
  const rows = await db.rows(sql`
    select c.submission_id, s.raw from message_contents c join submissions s on s.id = c.submission_id
    where c.workspace_id = ${workspaceId}`);
  expect(rows).toEqual([0, 1].map(() => ({ submission_id: submission.id, raw: submission.raw })));
});
