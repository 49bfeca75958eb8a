import { createSecretKey } from "node:crypto";
import sql from "sql-template-tag";
import { afterAll, beforeEach, expect, test } from "vitest";
import { stubClock } from "../../../test/support/clock.ts";
import { testDatabase } from "../../../test/support/database.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { encodeReturnPath } from "../../mail/bounces/verp.ts";
import { newId } from "../../platform/ids.ts";
import { createLog } from "../../platform/log.ts";
import { forgetInbound } from "../forget.ts";
import { createReading } from "../reading/reading.ts";
import { type ProcessingDeps, processDueMail, startProcessing } from "./processing.ts";
import {
  insertInboundMails,
  leaseInboundMails,
  lockInboundMail,
  processed,
  removeUnshownMails,
  settleInboundMail,
} from "./store.ts";

const db = await testDatabase();
const clock = stubClock();
const BOUNCE_DOMAIN = "bounce.posthaste.test";
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const plenty = { waiting: 1_000, bytes: 1_000_000 };
const log = createLog("silent");
const key = createSecretKey(Buffer.alloc(32, 1));

const reading = createReading();
afterAll(() => reading.close());

/** Looking the domain of a report up fails as often as told. */
let failures = 0;
const deps: ProcessingDeps = {
  db: {
    ...db,
    row: (statement) => {
      if (failures > 0 && statement.text.includes("dmarc_token")) {
        failures -= 1;
        return Promise.reject(new Error("connection refused"));
      }
      return db.row(statement);
    },
  },
  clock,
  log,
  bounceDomain: BOUNCE_DOMAIN,
  keys: { returnPath: key, link: key },
  reading,
  onMoved: async () => {},
  onUnsubscribed: async () => false,
  sendPlatformMail: async () => null,
};

async function store(local = "postmaster", raw = "Subject: a\r\n\r\nb", most = plenty): Promise<boolean> {
  const mail = {
    id: newId(),
    kind: local === "postmaster" ? "operator" : "report",
    mailFrom: "",
    rcptTo: `${local}@${BOUNCE_DOMAIN}`,
    network: "192.0.2.1",
    raw: Buffer.from(raw),
    bytes: raw.length,
  } as const;
  return insertInboundMails(db, [mail], most, clock.now());
}

const all = () =>
  db.rows<{ status: string; result: string | null; lease_number: number }>(sql`
    select status, result, lease_number from inbound_mails order by id`);

beforeEach(async () => {
  failures = 0;
  await db.run(sql`delete from inbound_mails`);
});

test("a mail that takes too long to read is put aside", async () => {
  await store(encodeReturnPath(newId(), key));
  const hasty = createReading({ deadlineMs: 1, heapMb: 512 });
  await processDueMail({ ...deps, reading: hasty });
  await hasty.close();
  expect(await all()).toMatchObject([{ status: "quarantined", result: "it takes too long to read" }]);
});

test("a mail stays with who reads it while a whole batch takes as long as it may", async () => {
  await store(encodeReturnPath(newId(), key));
  const slow: ProcessingDeps["reading"] = {
    ...reading,
    async read() {
      clock.advance(95_000);
      await processDueMail(deps);
      return { ok: false, reason: "too_slow" };
    },
  };
  await processDueMail({ ...deps, reading: slow });
  expect(await all()).toEqual([
    { status: "quarantined", result: "it takes too long to read", lease_number: 1 },
  ]);
});

test("all that is due is processed, however much it is", async () => {
  for (let count = 0; count < 45; count++) await store();
  await processDueMail(deps);
  expect((await all()).every(({ status }) => status === "kept")).toBe(true);
});

test("a mail whose processing fails comes again later, and is put aside in the end", async () => {
  await store(`d-${"0".repeat(32)}`);
  failures = 1;
  await processDueMail(deps);
  expect(await all()).toEqual([{ status: "received", result: null, lease_number: 1 }]);
  await processDueMail(deps);
  expect(await all()).toEqual([{ status: "received", result: null, lease_number: 1 }]);
  clock.advance(MINUTE_MS);
  await processDueMail(deps);
  expect(await all()).toEqual([{ status: "processed", result: "address_gone", lease_number: 2 }]);

  await db.run(sql`delete from inbound_mails`);
  await store(`d-${"0".repeat(32)}`);
  failures = 100;
  for (let round = 0; round < 10; round++) {
    await processDueMail(deps);
    clock.advance(10 * MINUTE_MS);
  }
  expect(await all()).toEqual([
    { status: "quarantined", result: "it could not be processed in many tries", lease_number: 9 },
  ]);
});

test("who lets a lease lapse changes nothing any more", async () => {
  await store();
  const lease = async () => {
    const until = new Date(clock.now().getTime() + MINUTE_MS);
    return (await leaseInboundMails(db, { now: clock.now(), until, most: 10 }))[0];
  };
  const slow = await lease();
  expect(await lease()).toBeUndefined();
  clock.advance(2 * MINUTE_MS);
  const quick = await lease();
  if (slow === undefined || quick === undefined) throw new Error("there was nothing to lease");
  await db.transaction(async (tx) => {
    expect(await lockInboundMail(tx, slow)).toBe(false);
    expect(await lockInboundMail(tx, quick)).toBe(true);
  });
  await settleInboundMail(db, slow, processed("slow"), clock.now());
  await settleInboundMail(db, quick, processed("quick"), clock.now());
  await settleInboundMail(db, slow, processed("slow"), clock.now());
  expect(await all()).toMatchObject([{ status: "processed", result: "quick" }]);
});

test("no more is stored than may wait", async () => {
  expect(await store("postmaster", "x", { waiting: 1, bytes: 100 })).toBe(true);
  expect(await store("postmaster", "x", { waiting: 1, bytes: 100 })).toBe(false);
  expect(await store("postmaster", "x", { waiting: 10, bytes: 1 })).toBe(false);
  expect(await all()).toHaveLength(1);
});

test("what is done with is forgotten after a week, of what is kept the newest stay", async () => {
  await store(`d-${"0".repeat(32)}`);
  for (let count = 0; count < 3; count++) await store();
  await processDueMail(deps);
  await forgetInbound({ db, clock }).run({ signal: new AbortController().signal, log });
  expect(await all()).toHaveLength(4);
  clock.advance(8 * DAY_MS);
  await forgetInbound({ db, clock }).run({ signal: new AbortController().signal, log });
  expect((await all()).map(({ status }) => status)).toEqual(["kept", "kept", "kept"]);
  expect(await removeUnshownMails(db, "kept", 2, 10)).toBe(1);
  expect(await all()).toHaveLength(2);
});

test("a process that is woken begins at once, and ends when it is told to", async () => {
  const processing = startProcessing(deps);
  await store();
  processing.wake();
  await eventually("the mail to be processed", async () => (await all())[0]?.status === "kept", 3_000);
  await processing.stop();
});
