import { mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { type DeliveryResult, resultOfSmtp } from "#delivery/queue/decide-result.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { Journal, readJournal, removeJournal } from "./journal.ts";
import { ResultWriter, writeResultBatch, writeResults } from "./result-writer.ts";

/** The folder and owner of a new journal. */
async function journalPlace() {
  const folder = await mkdtemp(join(tmpdir(), "posthaste-journals-"));
  return { folder, owner: { workerId: newId(), pid: process.pid } };
}

const databaseAway = () =>
  createDatabase("postgresql://127.0.0.1:1/nowhere", { size: 1, name: "test", onError: () => {} });

const postponed = (): DeliveryResult => ({
  settlement: {
    workspaceId: asWorkspaceId(newId()),
    messageId: newId(),
    leaseNumber: 1,
    attempts: 1,
    dueAt: null,
    decidedAt: new Date(),
    isDelivered: false,
  },
  outcome: null,
});

/** A journal on a disk with these faults, which a test may switch on and off. */
function onDisk(
  disk: { isFull?: boolean; isStiff?: boolean },
  journal: Journal,
): ConstructorParameters<typeof ResultWriter>[1] {
  return {
    append: (result) => disk.isFull !== true && journal.append(result),
    probe: () => disk.isFull !== true && journal.probe(),
    get size() {
      return journal.size;
    },
    keepOnly(results) {
      if (disk.isStiff) throw new Error("input/output error");
      journal.keepOnly(results);
    },
  };
}

/** Leased messages to these recipients. */
async function leaseAll(...recipients: readonly string[]) {
  const db = await testDatabase();
  const workspaceId = await insertBareWorkspace(db);
  await insertDrafts(
    db,
    recipients.map((to) => draft(workspaceId, to)),
  );
  const messages = await leaseMessages(db, leaseOrder());
  expect(messages).toHaveLength(recipients.length);
  return { db, messages };
}

test("without the database a result waits in memory and in the journal, and a stop waits only a limited time", async () => {
  const db = databaseAway();
  const { folder, owner } = await journalPlace();
  const writer = new ResultWriter(db, new Journal(folder, owner), createLog("silent"), nobodyElse);
  const result = postponed();
  writer.add(result);
  expect(await writer.flushed(50)).toBe(false);
  expect(writer.unwritten).toEqual([result.settlement]);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([result]);
});

test("results that a full disk did not take are journaled before a message is started", async () => {
  const { folder, owner } = await journalPlace();
  const disk = { isFull: true };
  const journal = onDisk(disk, new Journal(folder, owner));
  const writer = new ResultWriter(databaseAway(), journal, createLog("silent"), nobodyElse);
  const results = [postponed(), postponed()];
  for (const one of results) writer.add(one);
  expect(writer.isSafe).toBe(false);
  disk.isFull = false;
  expect(writer.isSafe).toBe(true);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual(results);
});

test("a journal removed by another worker is recreated with the unwritten results before a message is started", async () => {
  const { folder, owner } = await journalPlace();
  const writer = new ResultWriter(
    databaseAway(),
    new Journal(folder, owner),
    createLog("silent"),
    nobodyElse,
  );
  const results = [postponed(), postponed()];
  for (const one of results) writer.add(one);
  removeJournal(folder, owner);
  writer.doubtJournal();
  expect(writer.isSafe).toBe(true);
  const late = postponed();
  writer.add(late);
  expect(await Array.fromAsync(readJournal(folder, owner))).toEqual([...results, late]);
});

/** Writes the result of a refused message, with this reaction. */
async function settleRefused(onMoved: OnMoved): Promise<void> {
  const { db, messages } = await leaseAll("ada@example.test");
  const result = { outcome: "refused", stage: "data", code: 503, enhanced: "5.5.1", text: "no" } as const;
  const results = messages.map((message) =>
    resultOfSmtp(message, { result, mxHost: "mx.test" }, new Date(), 0),
  );
  await writeResultBatch(db, results, onMoved);
}

test("a writer that PostgreSQL cancels in a deadlock writes its batch again", async () => {
  let tries = 0;
  await settleRefused(async () => {
    tries += 1;
    if (tries === 1) throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
  });
  expect(tries).toBe(2);
});

const accepted = (message: LeasedMessage) => {
  const result = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  return resultOfSmtp(message, { result, mxHost: "mx.test" }, new Date(), 0);
};

test("a message whose outcome text is rejected still gets its status, and does not block the others", async () => {
  const { folder, owner } = await journalPlace();
  const { db, messages } = await leaseAll("ada@example.test", "bob@example.test");
  const refused = messages[0]?.message_id;
  const told: string[] = [];
  const writer = new ResultWriter(db, new Journal(folder, owner), createLog("silent"), async (_tx, moves) => {
    if (moves.some(({ messageId }) => messageId === refused))
      throw Object.assign(new Error("integer out of range"), { code: "22003" });
    told.push(...moves.map(({ messageId }) => messageId));
  });
  for (const message of messages) writer.add(accepted(message));
  expect(await writer.flushed(10_000)).toBe(true);
  expect(await db.rows(sql`select status from messages`)).toEqual(
    messages.map(() => ({ status: "delivered" })),
  );
  expect(await db.rows(sql`select from delivery_queue`)).toEqual([]);
  expect(told).toEqual([messages[1]?.message_id]);
});

test("an SMS whose gateway id cannot be stored waits for a receipt that never arrives", async () => {
  const { db, messages } = await leaseAll("ada@example.test");
  const results = messages.map((message) => ({
    ...accepted(message),
    submission: { gateway: "smsc.test", gatewayId: "a\0b" },
  }));
  await writeResults(db, results, nobodyElse, createLog("silent"));
  expect(await db.rows(sql`select gateway_id from sms_submissions`)).toEqual(
    messages.map(({ message_id }) => ({ gateway_id: message_id })),
  );
});

test("a journal that cannot be emptied does not block leasing", async () => {
  const { folder, owner } = await journalPlace();
  // A file that can be written but not truncated.
  await symlink("/dev/null", join(folder, `${owner.workerId}.${owner.pid}.jsonl`));
  const { db, messages } = await leaseAll("ada@example.test");
  const writer = new ResultWriter(db, new Journal(folder, owner), createLog("silent"), nobodyElse);
  for (const message of messages) writer.add(accepted(message));
  expect(await writer.flushed(10_000)).toBe(true);
  expect(writer.isSafe).toBe(true);
});

test("emptying the journal is retried, and results added meanwhile are journaled once", async () => {
  const { folder, owner } = await journalPlace();
  const { db, messages } = await leaseAll("ada@example.test", "bob@example.test");
  const disk = { isStiff: true };
  const journal = onDisk(disk, new Journal(folder, owner));
  let told = 0;
  const writer = new ResultWriter(db, journal, createLog("silent"), async (_tx, moves) => {
    told += moves.length;
  });
  for (const message of messages) {
    writer.add(accepted(message));
    expect(await writer.flushed(10_000)).toBe(true);
    expect(writer.isSafe).toBe(true);
  }
  const journaled = () => Array.fromAsync(readJournal(folder, owner));
  const ids = (await journaled()).map(({ settlement }) => settlement.messageId);
  expect(ids).toEqual(messages.map(({ message_id }) => message_id));
  disk.isStiff = false;
  await eventually("the journal to be emptied", async () => (await journaled()).length === 0);
  expect(told).toBe(2);
});
