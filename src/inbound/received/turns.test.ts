import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { startService } from "#test/support/service.ts";
import { insertReceivedEmails } from "./accept-store.ts";
import { leaseReceived, settleReceived } from "./process-store.ts";

const service = await startService();
const { database: db } = service;
const now = new Date("2026-11-21T08:00:00Z");
const later = (ms: number) => new Date(now.getTime() + ms);

beforeEach(() => db.run(sql`truncate received_emails`));

const insert = (workspaceId: WorkspaceId, octets = 10, recipients = 1) =>
  insertReceivedEmails(
    db,
    {
      workspaceId,
      mailFrom: "",
      remoteIp: "192.0.2.1",
      helo: "mx",
      network: "192.0.2.1",
      raw: Buffer.alloc(octets, "x"),
      spam: null,
      now,
    },
    Array.from({ length: recipients }, (_, n) => ({
      id: newId(),
      routeId: newId(),
      keep: true,
      webhook: false,
      rcptTo: `a${n}@b.test`,
    })),
  );
const lease = async () =>
  (await leaseReceived(db, { now: later(1), until: later(60_000), except: [] })) ?? expect.fail("none due");

test("workspaces take turns: one that gets much mail, or large mail, delays only itself", async () => {
  const busy = service.workspaceId;
  const other = (await service.newWorkspace()).workspaceId;
  for (let n = 0; n < 5; n++) await insert(busy, n === 0 ? 3_000_000 : 10);
  await insert(other);
  await insert(other);
  const taken = [];
  for (let n = 0; n < 4; n++) taken.push((await lease()).workspace_id);
  expect(taken).toEqual([busy, other, other, busy]);
});

test("a large mail takes its turns once for each of its recipients", async () => {
  const other = (await service.newWorkspace()).workspaceId;
  await insert(service.workspaceId, 3_000_000, 3);
  for (let n = 0; n < 4; n++) await insert(other);
  const taken = [];
  for (let n = 0; n < 5; n++) taken.push((await lease()).workspace_id);
  expect(taken.filter((id) => id === service.workspaceId)).toHaveLength(1);
});

test("a result under an old lease changes nothing", async () => {
  await insert(service.workspaceId);
  const first = await lease();
  await db.run(sql`update received_emails set due_at = ${now}`);
  const second = await lease();
  expect(second.lease_number).toBe(first.lease_number + 1);
  expect(await settleReceived(db, first, null)).toBe(false);
  expect(await settleReceived(db, second, null)).toBe(true);
  expect(await settleReceived(db, second, null)).toBe(false);
});
