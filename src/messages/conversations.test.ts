import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { newId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { startService } from "#test/support/service.ts";
import { eraseRecipient } from "./erase-recipient-store.ts";
import { encodeConversation } from "./message/conversation.ts";
import { unclassified } from "./message/outcome.ts";
import { recordOutcomes } from "./record-outcomes.ts";

const service = await startService();
const { call, database, workspaceId } = service;
const at = Date.UTC(2026, 2, 3, 10);

const opening = {
  id: newId(),
  lines: encodeConversation([{ time: at, from: "server", text: "220 mx.people.test ESMTP" }]),
};

/** A message that was delivered over the connection. */
async function delivered(workspace: WorkspaceId, to: string): Promise<string> {
  const one = draft(workspace, to);
  const { id } = one.message;
  await insertDrafts(database, [one]);
  await database.run(sql`delete from delivery_queue where message_id = ${id}`);
  const lines = encodeConversation([{ time: at + 5, from: "client", text: `RCPT TO:<${to}>` }]);
  const outcome = {
    ...unclassified,
    workspaceId: workspace,
    messageId: id,
    status: "delivered",
    time: new Date(),
    attempts: 1,
    nextAttemptAt: null,
    detail: "250 Ok",
    mxHost: "mx.people.test",
    code: 250,
    enhancedCode: null,
    isAddressFault: false,
    conversation: { opening, lines },
  } as const;
  await database.transaction((tx) => recordOutcomes(tx, [outcome], nobodyElse));
  return id;
}

const timelineOf = async (id: string, key = service.key) =>
  (await call("GET", `/messages/${id}`, undefined, { key })).body.data.timeline;

test("an attempt has the lines of its connection's opening, then its own, with their times", async () => {
  const timeline = await timelineOf(await delivered(workspaceId, "ada@people.test"));
  expect(timeline[0].conversation).toBeNull();
  expect(timeline[1].conversation).toEqual([
    { time: "2026-03-03T10:00:00.000Z", from: "server", text: "220 mx.people.test ESMTP" },
    { time: "2026-03-03T10:00:00.005Z", from: "client", text: "RCPT TO:<ada@people.test>" },
  ]);
});

test("workspaces whose messages shared a connection have an opening each", async () => {
  const other = await service.newWorkspace();
  await delivered(workspaceId, "bob@people.test");
  const id = await delivered(other.workspaceId, "eve@people.test");
  expect((await timelineOf(id, other.key))[1].conversation).toHaveLength(2);
  const stored = await database.rows(sql`select workspace_id from smtp_openings where id = ${opening.id}`);
  expect(stored).toHaveLength(2);
});

test("an outcome that changes nothing writes no conversation", async () => {
  const id = await delivered(workspaceId, "cyd@people.test");
  const late = {
    ...unclassified,
    workspaceId,
    messageId: id,
    status: "deferred",
    time: new Date(),
    attempts: 2,
    nextAttemptAt: null,
    detail: "late",
    mxHost: null,
    code: null,
    enhancedCode: null,
    isAddressFault: false,
    conversation: { opening, lines: "" },
  } as const;
  await database.transaction((tx) => recordOutcomes(tx, [late], nobodyElse));
  expect(await timelineOf(id)).toHaveLength(2);
});

test("erasing a recipient erases the conversations with the address", async () => {
  const id = await delivered(workspaceId, "dan@people.test");
  await database.transaction((tx) => eraseRecipient(tx, workspaceId, [id]));
  const timeline = await timelineOf(id);
  expect(timeline[1]).toMatchObject({ type: "delivered", conversation: null });
  expect(JSON.stringify(timeline)).not.toContain("dan@");
});
