import { beforeEach, expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { leaseMessages } from "#test/support/lease-order.ts";
import { outcomeOf } from "#test/support/outcomes.ts";
import { findMessages } from "./find-messages.ts";
import { type MessageSource, type MessageStatus, messageStatuses } from "./message/status.ts";
import { recordOutcomes } from "./record-outcomes.ts";
import { listMessages } from "./store.ts";

const db = await testDatabase();
let workspaceId: WorkspaceId;
beforeEach(async () => {
  workspaceId = await insertBareWorkspace(db);
});

const insert = (workspace: WorkspaceId, ...names: string[]) =>
  insertDrafts(
    db,
    names.map((name) => draft(workspace, `${name}@a.test`)),
  );

/** Leases all due messages of all workspaces. */
const lease = () =>
  leaseMessages(db, {
    workerId: newId(),
    priority: 0,
    limit: 100,
    bytes: 1_000_000,
    seconds: 60,
    saturated: [],
  });

async function move(status: "deferred" | "delivered", name: string): Promise<void> {
  const [message] = await page({ email: `${name}@` });
  const news = outcomeOf({ workspaceId, messageId: message?.id ?? "" }, status, { detail: "" });
  await recordOutcomes(db, [news], nobodyElse);
}

/** The first page of what a filter leaves; its total must agree with it. */
async function page(filter: { status?: MessageStatus; source?: MessageSource; email?: string }) {
  const wanted = { source: undefined, status: undefined, email: undefined, ...filter };
  const { ids, total } = await findMessages(db, workspaceId, wanted, { limit: 50, offset: 0 });
  expect(total).toBe(ids.length);
  return listMessages(db, workspaceId, ids);
}

/** Names by the status under which the log finds and shows them. */
async function found(): Promise<Partial<Record<MessageStatus, string[]>>> {
  const byStatus: Partial<Record<MessageStatus, string[]>> = {};
  for (const status of messageStatuses) {
    const rows = await page({ status });
    expect(rows.every((row) => row.status === status)).toBe(true);
    if (rows.length > 0) byStatus[status] = rows.map(({ localpart }) => localpart).sort();
  }
  return byStatus;
}

test("every message is found under the one status that it shows, held or not", async () => {
  await insert(workspaceId, "held", "held-again", "done");
  await move("deferred", "held-again");
  await lease();
  await insert(workspaceId, "waiting", "waiting-again");
  await move("deferred", "waiting-again");
  // The log has the outcome; the queue row goes in the same transaction, but a late one must not show as being sent.
  await move("delivered", "done");
  expect(await found()).toEqual({
    sending: ["held", "held-again"],
    queued: ["waiting"],
    deferred: ["waiting-again"],
    delivered: ["done"],
  });
});

test("what another workspace has in hand is not in it", async () => {
  await insert(await insertBareWorkspace(db), "theirs");
  await lease();
  await insert(workspaceId, "ours");
  expect(await found()).toEqual({ queued: ["ours"] });
});
