import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft } from "#test/support/drafts.ts";
import { HeldMessages } from "./held-messages.ts";
import { Leasing } from "./lease-pacing.ts";

const db = await testDatabase();
const held = new HeldMessages();
let received: LeasedMessage[];
let leasing: Leasing;

/** Lines with nothing due of 2,500 workspaces whose ids come before those of others: more than one lease looks at. */
beforeEach(async () => {
  await db.run(sql`truncate delivery_queue, messages`);
  await db.run(sql`
    insert into delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select lpad(to_hex(n), 32, '0')::uuid, gen_random_uuid(), 0, 'example.test', 100, now() + interval '3 days',
      now() + interval '1 hour' from generate_series(1, 2500) n`);
  received = [];
  leasing = new Leasing({
    db,
    workerId: newId(),
    held,
    log: createLog("silent"),
    unwritten: () => [],
    saturatedDomains: () => [],
    haltedCampaigns: () => [],
    receive: async (messages) => {
      received.push(...messages);
    },
  });
});

const acceptFor = (workspaceId: string) =>
  insertDrafts(db, [draft(asWorkspaceId(workspaceId), "ann@example.test")]);
/** A workspace whose line is the first one. */
const firstWorkspace = "00000000-0000-0000-0000-000000000000";
async function leaseUntilNothingIsDue(): Promise<number> {
  let leases = 0;
  do {
    await leasing.lease();
    leases++;
  } while (leasing.isDue);
  return leases;
}

test("leasing goes on without a pause until each line has been looked at, and then pauses", async () => {
  await acceptFor(newId());
  expect(await leaseUntilNothingIsDue()).toBe(3);
  expect(received).toHaveLength(1);
  expect(await leaseUntilNothingIsDue()).toBe(3);
});

test("a message accepted for a line that the round has passed is leased in a round that follows at once", async () => {
  await leasing.lease();
  await acceptFor(firstWorkspace);
  leasing.expectArrivals();
  await leaseUntilNothingIsDue();
  expect(received).toHaveLength(1);
});

test("a message accepted while nothing was due is leased with the next lease", async () => {
  await leaseUntilNothingIsDue();
  await acceptFor(firstWorkspace);
  await leasing.lease();
  expect(received).toHaveLength(1);
});
