import { beforeEach, expect, test } from "vitest";
import { insertBareWorkspace } from "../../test/support/bare-server.ts";
import { testDatabase } from "../../test/support/database.ts";
import { draft, nobodyElse } from "../../test/support/drafts.ts";
import { leaseMessages } from "../delivery/store.ts";
import { newId, type WorkspaceId } from "../platform/ids.ts";
import { insertDrafts } from "../sending/accept.ts";
import { recordOutcomes } from "./door.ts";
import { type MessageStatus, messageStatuses } from "./states.ts";
import { countMessages, listMessages } from "./store.ts";

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

/** Leases everything that is due, whoever's it is. */
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
  const page = { limit: 1, offset: 0 };
  const [message] = await listMessages(db, workspaceId, { email: `${name}@` }, page);
  const none = { nextAttemptAt: null, mxHost: null, code: null, enhancedCode: null, isAddressFault: false };
  const news = { workspaceId, messageId: message?.id ?? "", time: new Date(), attempts: 1, detail: "" };
  await recordOutcomes(db, [{ ...news, ...none, status }], nobodyElse);
}

/** Names by the status under which the log finds and shows them; count and list must agree. */
async function found(): Promise<Partial<Record<MessageStatus, string[]>>> {
  const byStatus: Partial<Record<MessageStatus, string[]>> = {};
  for (const status of messageStatuses) {
    const rows = await listMessages(db, workspaceId, { status }, { limit: 50, offset: 0 });
    expect(await countMessages(db, workspaceId, { status })).toBe(rows.length);
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
