import { createSecretKey } from "node:crypto";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { processed } from "#inbound/parsing/mail-result.ts";
import { createMailParser, type MailParser } from "#inbound/parsing/parse-mail-in-threads.ts";
import { removeOldInboundMail } from "#inbound/retention.ts";
import { encodeReturnPath } from "#mail/bounces/verp.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { PurposeKeys } from "#platform/secrets/secrets.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { type ProcessingDeps, processDueMail, startProcessing } from "./process-stored-mail.ts";
import {
  type Backlog,
  insertInboundMails,
  leaseInboundMails,
  lockInboundMail,
  removeOlderMails,
  settleInboundMail,
} from "./store.ts";

const db = await testDatabase();
const clock = stubClock();
const BOUNCE_DOMAIN = "bounce.posthaste.test";
const plenty = { waiting: 100_000, bytes: 1_000_000_000 };
const backlog: Backlog = { signed: plenty, open: plenty, network: plenty, address: 20 };
const log = createLog("silent");
const key = createSecretKey(Buffer.alloc(32, 1));
const keys = new PurposeKeys(key, []);

const parsers = { signed: createMailParser(), open: createMailParser() };
afterAll(() => Promise.all([parsers.signed.close(), parsers.open.close()]));

/** Fails the look-up of a report's domain a number of times. */
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
  keys: { returnPath: keys, link: keys },
  parsers,
  onMoved: async () => {},
  onUnsubscribed: async () => false,
  sendPlatformMail: async () => null,
};

interface Stored {
  readonly raw?: string;
  readonly network?: string;
  readonly most?: Partial<Backlog>;
}

/** Stores a mail as the port does. @returns the limit that was reached */
async function store(
  local = "postmaster",
  { raw = "Subject: a\r\n\r\nb", network = "192.0.2.1", most = {} }: Stored = {},
): Promise<string | null> {
  const kinds = { postmaster: "operator", fbl: "complaint" } as const;
  const mail = {
    id: newId(),
    kind:
      local in kinds ? kinds[local as keyof typeof kinds] : local.startsWith("b.") ? "return_path" : "report",
    mailFrom: "",
    rcptTo: `${local}@${BOUNCE_DOMAIN}`,
    raw: Buffer.from(raw),
    bytes: raw.length,
  } as const;
  return insertInboundMails(db, { network, mails: [mail] }, { ...backlog, ...most }, clock.now());
}

const all = () =>
  db.rows<{ status: string; result: string | null; lease_number: number }>(sql`
    select status, result, lease_number from inbound_mails order by id`);

beforeEach(async () => {
  failures = 0;
  await db.run(sql`delete from inbound_mails`);
});

test("a mail that takes too long to parse is quarantined", async () => {
  await store(encodeReturnPath(newId(), newId(), key));
  const hasty = createMailParser({ deadlineMs: 1, heapMb: 512 });
  await processDueMail({ ...deps, parsers: { signed: hasty, open: hasty } });
  await hasty.close();
  expect(await all()).toMatchObject([{ status: "quarantined", result: "parsing takes too long" }]);
});

test("a mail keeps its lease while a whole batch takes the longest time", async () => {
  await store(encodeReturnPath(newId(), newId(), key));
  const slow: MailParser = {
    close: async () => {},
    async read() {
      clock.advance(95_000);
      await processDueMail(deps);
      return { ok: false, reason: "too_slow" };
    },
  };
  await processDueMail({ ...deps, parsers: { signed: slow, open: slow } });
  expect(await all()).toEqual([{ status: "quarantined", result: "parsing takes too long", lease_number: 1 }]);
});

test("all due mail is processed, however much it is", async () => {
  for (let count = 0; count < 45; count++) await store();
  await processDueMail(deps);
  expect((await all()).every(({ status }) => status === "kept")).toBe(true);
});

test("a mail whose processing fails is retried later, and quarantined in the end", async () => {
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
    { status: "quarantined", result: "processing failed too often", lease_number: 9 },
  ]);
});

test("a result under an expired lease is discarded", async () => {
  await store();
  const lease = async () => {
    const until = new Date(clock.now().getTime() + MINUTE_MS);
    return (await leaseInboundMails(db, { mailClass: "open", now: clock.now(), until, most: 10 }))[0];
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

test("mail beyond the limit of waiting mail is not stored", async () => {
  const open = (waiting: number, bytes: number) => ({ raw: "x", most: { open: { waiting, bytes } } });
  expect(await store("postmaster", open(1, 100))).toBeNull();
  expect(await store("postmaster", open(1, 100))).toBe("class");
  expect(await store("postmaster", open(10, 1))).toBe("class");
  expect(await all()).toHaveLength(1);
});

test("mail to signed return paths is stored when the limit for open addresses is reached", async () => {
  const full = { most: { open: { waiting: 1, bytes: 100 } } };
  expect(await store("fbl", full)).toBeNull();
  expect(await store("fbl", full)).toBe("class");
  expect(await store(encodeReturnPath(newId(), newId(), key), full)).toBeNull();
});

test("a network has a share of the waiting mail, and a signed address a few mails", async () => {
  const most = { network: { waiting: 2, bytes: 1_000 } };
  const path = encodeReturnPath(newId(), newId(), key);
  for (let count = 0; count < 2; count++) expect(await store("fbl", { most })).toBeNull();
  expect(await store("fbl", { most })).toBe("network");
  expect(await store("fbl", { most, network: "192.0.2.2" })).toBeNull();
  expect(await store(path, { most })).toBeNull();
  for (let count = 1; count < 20; count++)
    expect(await store(path, { network: `192.0.2.${count}` })).toBeNull();
  expect(await store(path.toUpperCase().replace("B.", "b."), { network: "192.0.2.99" })).toBe("address");
});

describe("the order of processing", () => {
  /** Inserts many rows at once, as the port writes them. */
  const storeMany = async (count: number, network: string) => {
    for (let first = 0; first < count; first += 500) {
      const mails = Array.from({ length: Math.min(500, count - first) }, () => ({
        id: newId(),
        kind: "complaint" as const,
        mailFrom: "",
        rcptTo: `fbl@${BOUNCE_DOMAIN}`,
        raw: Buffer.from("Subject: junk\r\n\r\njunk"),
        bytes: 21,
      }));
      expect(await insertInboundMails(db, { network, mails }, backlog, clock.now())).toBeNull();
    }
  };
  const left = async () => (await all()).filter(({ status }) => status === "received").length;
  const settledAt = async (rcptTo: string) =>
    (
      await db.row<{ status: string }>(
        sql`select status from inbound_mails where rcpt_to = ${`${rcptTo}@${BOUNCE_DOMAIN}`}`,
      )
    )?.status;

  test("a report to a signed return path is processed while 20,000 mails to open addresses wait", async () => {
    await storeMany(20_000, "192.0.2.66");
    const path = encodeReturnPath(newId(), newId(), key);
    const processing = startProcessing(deps);
    await store(path, { network: "192.0.2.1" });
    processing.wake("signed");
    await eventually("the report to be processed", async () => (await settledAt(path)) !== "received");
    expect(await left()).toBeGreaterThan(18_000);
    await processing.stop();
  });

  test("mails to open addresses are processed while reports to return paths wait", async () => {
    const never = Promise.withResolvers<Awaited<ReturnType<MailParser["read"]>>>();
    const blocked: MailParser = { read: () => never.promise as never, close: async () => {} };
    for (let count = 0; count < 8; count++) await store(encodeReturnPath(newId(), newId(), key));
    await store("fbl");
    const processing = startProcessing({ ...deps, parsers: { ...parsers, signed: blocked } });
    await eventually("the open mail to be processed", async () => (await left()) === 8);
    never.resolve({ ok: false, reason: "too_slow" });
    await processing.stop();
  });

  test("networks take turns: a mail waits for few mails of another network that sends a lot", async () => {
    await storeMany(400, "192.0.2.66");
    await store("postmaster", { network: "192.0.2.1" });
    const lease = { mailClass: "open", now: clock.now(), until: clock.now(), most: 3 } as const;
    const ids = (await leaseInboundMails(db, lease)).map(({ id }) => id);
    const taken = await db.rows<{ network: string }>(sql`
      select network from inbound_mails where id = any(${ids}::uuid[])`);
    expect(taken.map(({ network }) => network)).toContain("192.0.2.1");
  });

  test("mails to signed addresses take turns by network, too", async () => {
    for (let count = 0; count < 30; count++) {
      await store(encodeReturnPath(newId(), newId(), key), { network: "192.0.2.66" });
    }
    await store(encodeReturnPath(newId(), newId(), key), { network: "192.0.2.1" });
    const lease = { mailClass: "signed", now: clock.now(), until: clock.now(), most: 2 } as const;
    const ids = (await leaseInboundMails(db, lease)).map(({ id }) => id);
    const taken = await db.rows<{ network: string }>(sql`
      select network from inbound_mails where id = any(${ids}::uuid[])`);
    expect(taken.map(({ network }) => network)).toContain("192.0.2.1");
  });

  test("a large mail takes several turns of its network", async () => {
    for (let count = 0; count < 3; count++)
      await store("fbl", { raw: "x".repeat(1024 * 1024), network: "192.0.2.66" });
    for (let count = 0; count < 3; count++) await store("fbl", { raw: "x", network: "192.0.2.1" });
    const lease = { mailClass: "open", now: clock.now(), until: clock.now(), most: 4 } as const;
    const ids = (await leaseInboundMails(db, lease)).map(({ id }) => id);
    const taken = await db.rows<{ network: string }>(sql`
      select network from inbound_mails where id = any(${ids}::uuid[]) order by network`);
    expect(taken.map(({ network }) => network)).toEqual([
      "192.0.2.1",
      "192.0.2.1",
      "192.0.2.1",
      "192.0.2.66",
    ]);
  });
});

test("processed mail is removed after a week; of quarantined mail the newest is kept", async () => {
  await store(`d-${"0".repeat(32)}`);
  for (let count = 0; count < 3; count++) await store();
  await processDueMail(deps);
  await removeOldInboundMail({ db, clock, receivedDays: 30 }).run({
    signal: new AbortController().signal,
    log,
  });
  expect(await all()).toHaveLength(4);
  clock.advance(8 * DAY_MS);
  await removeOldInboundMail({ db, clock, receivedDays: 30 }).run({
    signal: new AbortController().signal,
    log,
  });
  expect((await all()).map(({ status }) => status)).toEqual(["kept", "kept", "kept"]);
  expect(await removeOlderMails(db, "kept", 2, 10)).toBe(1);
  expect(await all()).toHaveLength(2);
});

test("a woken process begins at once, and stops on request", async () => {
  const processing = startProcessing(deps);
  await store();
  processing.wake("open");
  await eventually("the mail to be processed", async () => (await all())[0]?.status === "kept", 3_000);
  await processing.stop();
});
