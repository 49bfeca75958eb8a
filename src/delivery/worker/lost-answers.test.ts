import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { expect, onTestFinished, test } from "vitest";
import type { ReadyMessage } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import { LEASE_SECONDS } from "#delivery/queue/lease-pacing.ts";
import { PLANNER_SETTINGS } from "#delivery/queue/queue-store.ts";
import { systemClock } from "#platform/clock.ts";
import { createDatabase } from "#platform/database/pool.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { openDatabaseProxy } from "#test/support/database-proxy.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { DeliveryWorker } from "./delivery-worker.ts";

const db = await testDatabase();
const proxy = await openDatabaseProxy(db.url);
const workspaceId = asWorkspaceId(newId());
const accepted = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;

async function accept(to: string): Promise<string> {
  const mail = draft(workspaceId, to);
  await insertDrafts(db, [mail]);
  return mail.message.id;
}
const leaseOf = (id: string) =>
  db.row<{ lease_number: number; leased_by: string | null }>(
    sql`select lease_number, leased_by from delivery_queue where message_id = ${id}`,
  );

test("messages of a lease whose answer was lost are leased again at once, and those under way stay leased", async () => {
  const delivery = createDatabase(proxy.url, {
    size: 4,
    name: "delivery",
    onError: () => {},
    settings: PLANNER_SETTINGS,
  });
  const sent: ReadyMessage[] = [];
  let events: TransportEvents | undefined;
  const worker = await DeliveryWorker.start({
    db: delivery,
    clock: systemClock,
    log: createLog("silent"),
    journalFolder: await mkdtemp(join(tmpdir(), "posthaste-journals-")),
    createTransport: (given) => {
      events = given;
      return { send: (message) => sent.push(message), saturatedDomains: () => [], close: () => {} };
    },
    check: async () => new Map(),
    findHalted: async () => ({ isSendingHeld: false, paused: [], cancelled: [] }),
    onMoved: nobodyElse,
  });
  const end = (message: ReadyMessage) =>
    events?.onEnd(message, {
      kind: "attempted",
      attempt: {
        result: accepted,
        mxHost: "mx.example.test",
        sourceIp: null,
        isSourceChosen: false,
        lane: "l",
      },
    });
  onTestFinished(async () => {
    for (const message of sent) end(message);
    await worker.stop();
    await delivery.close();
  });

  const underWay = await accept("ann@example.test");
  await eventually("a message to be under way", async () => sent.length === 1);
  proxy.cutAnswerTo("lease messages");
  const lost = await accept("bob@example.test");
  await eventually("the answer to be cut", async () => proxy.hasCut);
  expect(await leaseOf(lost)).toEqual({ lease_number: 1, leased_by: worker.workerId });
  const cutAt = performance.now();
  await eventually("the message to be leased again", async () => sent.length === 2);
  expect(performance.now() - cutAt).toBeLessThan((LEASE_SECONDS * 1_000) / 2);
  expect(sent.map(({ message_id, lease_number }) => [message_id, lease_number])).toEqual([
    [underWay, 1],
    [lost, 2],
  ]);
  expect(await leaseOf(underWay)).toEqual({ lease_number: 1, leased_by: worker.workerId });
});
