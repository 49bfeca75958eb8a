import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";
import { addContents } from "#workspace/billing/storage-store.ts";
import { createAcceptor } from "./acceptor.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;
let commits = 0;
const deps = {
  db,
  clock: systemClock,
  plans,
  onCommitted() {
    commits += 1;
  },
};
const limits = { messages: 100, bytes: 1_000_000, waitMs: 60_000 };

beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
  commits = 0;
});

const mails = (...names: (readonly string[])[]) =>
  names.map((recipients) => recipients.map((name) => draft(workspaceId, `${name}@example.test`)));
const foreign = (name: string) => ({
  ...draft(workspaceId, `${name}@example.test`),
  sender: { workspaceId, address: "ceo@bank.test", domain: "bank.test" },
});
const nothingElse = async () => {};
const stored = async () => {
  const rows = await db.rows<{ localpart: string }>(
    sql`select localpart from messages where workspace_id = ${workspaceId} order by localpart`,
  );
  return rows.map(({ localpart }) => localpart);
};

test("mails are accepted each for itself, and the delivery workers are told once", async () => {
  const acceptor = createAcceptor(deps, limits);
  const all = [...mails(["a", "b"], ["c"]), [foreign("d")]];
  const refusals = await acceptor.acceptEach(all, nothingElse);
  expect(refusals.map((one) => one?.code ?? null)).toEqual([null, null, "VALIDATION_ERROR"]);
  expect([await stored(), commits]).toEqual([["a", "b", "c"], 1]);
});

test("if all are refused, nothing is stored, and no worker is told", async () => {
  const [refusal] = await createAcceptor(deps, limits).acceptEach([[foreign("a")]], nothingElse);
  expect([refusal?.code, await stored(), commits]).toEqual(["VALIDATION_ERROR", [], 0]);
});

test("a mail whose recipients are not all covered is refused whole", async () => {
  await db.run(sql`update workspaces set hourly_cap = 2 where id = ${workspaceId}`);
  const refusals = await createAcceptor(deps, limits).acceptEach(mails(["a"], ["b", "c"]), nothingElse);
  expect(refusals.map((one) => one?.code ?? null)).toEqual([null, "RATE_LIMIT_EXCEEDED"]);
  expect(await stored()).toEqual(["a"]);
});

test("a mail that is too large for the allowance leaves it to the mails after it", async () => {
  await db.run(sql`update workspaces set hourly_cap = 3 where id = ${workspaceId}`);
  const all = mails(["a", "b", "c", "d"], ["e"], ["f", "g", "h"], ["i", "j"], ["k"]);
  const refusals = await createAcceptor(deps, limits).acceptEach(all, nothingElse);
  expect(refusals.map((one) => one?.code ?? null)).toEqual([
    "RATE_LIMIT_EXCEEDED",
    null,
    "RATE_LIMIT_EXCEEDED",
    null,
    "RATE_LIMIT_EXCEEDED",
  ]);
  expect(await stored()).toEqual(["e", "i", "j"]);
  const { usedInHour } = await settleAccount(db, plans, workspaceId, new Date());
  expect(usedInHour.email).toBe(3);
});

test("a mail that is too large for the storage leaves it to the mails after it", async () => {
  const reading = await settleAccount(db, plans, workspaceId, new Date());
  const bytes = (reading.contentRoom ?? 0) - 1_000;
  await addContents(db, [{ workspaceId, time: new Date(), bytes }]);
  const sized = (name: string, size: number) =>
    mails([name]).map((drafts) =>
      drafts.map((one) => ({ ...one, message: { ...one.message, html: null, text: "x".repeat(size) } })),
    );
  const all = [...sized("a", 1_001), ...sized("b", 600), ...sized("c", 600), ...sized("d", 400)];
  const refusals = await createAcceptor(deps, limits).acceptEach(all, nothingElse);
  expect(refusals.map((one) => one?.code ?? null)).toEqual([
    "PLAN_LIMIT_REACHED",
    null,
    "PLAN_LIMIT_REACHED",
    null,
  ]);
  expect(await stored()).toEqual(["b", "d"]);
});

test("if the answer cannot be stored, no mail is", async () => {
  const broken = createAcceptor(deps, limits).acceptEach(mails(["a"]), () => Promise.reject(new Error("no")));
  await expect(broken).rejects.toThrow("no");
  expect([await stored(), commits]).toEqual([[], 0]);
});

test("an account that another transaction has locked is waited for", async () => {
  const acceptor = createAcceptor(deps, limits);
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
  const accepted = await db.transaction(async (tx) => {
    await settleAccount(tx, plans, workspaceId, new Date());
    return { waiting: acceptor.acceptEach(mails(["a"]), nothingElse) };
  });
  expect(await accepted.waiting).toEqual([null]);
  expect(await stored()).toEqual(["a"]);
});

test("it is waited for until the deadline, and then nothing is stored", async () => {
  const acceptor = createAcceptor(deps, { ...limits, waitMs: 100 });
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, new Date()));
  await db.transaction(async (tx) => {
    await settleAccount(tx, plans, workspaceId, new Date());
    const late = acceptor.acceptEach(mails(["a"]), nothingElse);
    await expect(late).rejects.toMatchObject({ status: 503, headers: { "Retry-After": "1" } });
  });
  expect(await stored()).toEqual([]);
});

test("more bytes than there is memory for are refused", async () => {
  const acceptor = createAcceptor(deps, { ...limits, bytes: 10 });
  await expect(acceptor.acceptEach(mails(["a"]), nothingElse)).rejects.toMatchObject({
    code: "RATE_LIMIT_EXCEEDED",
  });
});

test("one workspace may hold a quarter of the memory, and others are accepted beside it", async () => {
  const sized = (owner: WorkspaceId, size: number) => {
    const one = draft(owner, "a@example.test");
    return [[{ ...one, message: { ...one.message, html: null, text: "x".repeat(size) } }]];
  };
  const other = await insertBareWorkspace(db);
  const acceptor = createAcceptor(deps, { ...limits, bytes: 1_000 });
  const [first, second, third, theirs] = await Promise.allSettled([
    acceptor.acceptEach(sized(workspaceId, 150), nothingElse),
    acceptor.acceptEach(sized(workspaceId, 150), nothingElse),
    acceptor.acceptEach(sized(workspaceId, 100), nothingElse),
    acceptor.acceptEach(sized(other, 150), nothingElse),
  ]);
  expect(second).toMatchObject({
    reason: {
      code: "RATE_LIMIT_EXCEEDED",
      message: "Too many messages of this workspace are waiting to be accepted: retry shortly",
    },
  });
  for (const one of [first, third, theirs]) expect(one).toEqual({ status: "fulfilled", value: [null] });
  expect(await acceptor.acceptEach(sized(workspaceId, 150), nothingElse)).toEqual([null]);
});
