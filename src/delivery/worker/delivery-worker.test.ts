import { spawnSync } from "node:child_process";
import { createSecretKey, generateKeyPairSync } from "node:crypto";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { prepare } from "#delivery/compose/compose-leased-message.ts";
import type { LeasedMessage } from "#delivery/message/message.ts";
import { UnfitValues } from "#delivery/message/presend-decision.ts";
import { releaseLease, requeue, resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { extendLeases, leaseKey } from "#delivery/queue/settle-leases-store.ts";
import { type RunningWorker, startDeliveryWorker } from "#delivery/start-delivery-worker.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { findMessage, listEvents, type NewMessage } from "#messages/store.ts";
import { type Clock, systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { testDatabase } from "#test/support/database.ts";
import { draft, nobodyElse } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { type FakeDns, startFakeDns } from "#test/support/fake-dns.ts";
import { type FakeMx, startFakeMx } from "#test/support/fake-mx.ts";
import { leaseMessages, leaseOrder } from "#test/support/lease-order.ts";
import { takeWorkerLock } from "#test/support/take-worker-lock.ts";
import { recordTransport } from "#test/support/transport-recorder.ts";
import type { DeliveryWorkerOptions } from "./delivery-worker.ts";
import { Journal, removeJournal } from "./journal.ts";
import { ResultWriter, writeResultBatch } from "./result-writer.ts";

const db = await testDatabase();
const workspaceId = asWorkspaceId(newId());
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const log = createLog("silent");

let mx: FakeMx;
let dns: FakeDns;
let dataDir: string;
let workers: RunningWorker[] = [];
let halted: string[] = [];
let isSendingHeld = false;
let looks = 0;

beforeEach(async () => {
  mx = await startFakeMx();
  dns = await startFakeDns({
    "example.test": { MX: [[10, "mx.example.test"]] },
    "mx.example.test": { A: ["127.0.0.1"] },
    "away.test": { MX: [[10, "mx.away.test"]] },
    // No server listens at this loopback address.
    "mx.away.test": { A: ["127.9.9.9"] },
    "mute.test": "servfail",
    "nomail.test": { MX: [[0, "."]] },
  });
  dataDir = await mkdtemp(join(tmpdir(), "posthaste-worker-"));
  await db.run(sql`truncate delivery_queue, messages, message_contents, message_events`);
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  halted = [];
  isSendingHeld = false;
  await mx.close();
  await dns.close();
});

async function startWorker(
  check: DeliveryWorkerOptions["check"] = async () => new Map(),
  settings: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
): Promise<RunningWorker> {
  const config = readConfig({
    MAIL_MODE: "direct",
    SMTP_PORT: String(mx.port),
    ALLOW_PRIVATE_MX: "true",
    DATA_DIR: dataDir,
    MAIL_HOSTNAME: "mail.posthaste.test",
    ...settings,
  });
  const worker = await startDeliveryWorker({
    config,
    db,
    clock,
    log,
    resolver: createResolver({ servers: [dns.address], timeoutMs: 2_000, tries: 1 }),
    findIdentity: async () => ({
      signingKey: { domain: "sender.test", selector: "ph1", privateKey },
      returnPathHost: "bounce.posthaste.test",
    }),
    returnPathKey: createSecretKey(Buffer.alloc(32, 7)),
    assemblyThread: new URL("../../processes/assembly-thread.ts", import.meta.url),
    findRouting: async () => ({ ips: [], rules: [] }),
    findChoice: async () => ({ ip: null, ruleId: null }),
    smsReceiptUrl: () => "",
    check,
    async findHalted() {
      looks += 1;
      return { isSendingHeld, paused: halted, cancelled: [] };
    },
    onMoved: nobodyElse,
  });
  workers.push(worker);
  return worker;
}

async function accept(to: string, change: Partial<NewMessage> = {}): Promise<string> {
  const accepted = draft(workspaceId, to, change);
  await insertDrafts(db, [accepted]);
  return accepted.message.id;
}

const reaches = (id: string, status: string) =>
  eventually(`${id} to be ${status}`, async () => {
    const message = await findMessage(db, workspaceId, id);
    return message?.status === status && message;
  });
const queued = (id: string) =>
  db.row<{ attempts: number }>(sql`select * from delivery_queue where message_id = ${id}`);
const makeDue = (id: string) =>
  db.run(sql`update delivery_queue set due_at = now() where message_id = ${id}`);

test("an accepted message is delivered once, signed, with its own return path, and leaves the queue", async () => {
  const id = await accept("ada@example.test");
  await startWorker();
  const [received] = await mx.waitForMessages(1);
  expect(received?.rcptTo).toBe("ada@example.test");
  expect(received?.mailFrom).toMatch(/^b\.[a-z0-9]+@bounce\.posthaste\.test$/);
  expect(received?.raw.toString()).toContain(`Message-ID: <${id}@sender.test>`);
  expect(received?.raw.toString()).toMatch(/^DKIM-Signature: v=1; a=rsa-sha256;[\s\S]*d=sender\.test/);
  const message = await reaches(id, "delivered");
  expect(message).toMatchObject({ attempts: 1, error_message: null, next_attempt_at: null });
  expect(await queued(id)).toBeUndefined();
  expect(await listEvents(db, workspaceId, id)).toMatchObject([
    { type: "delivered", attempt: 1, mx_host: "mx.example.test", code: 250 },
  ]);
});

test("the timeline shows the TLS of the conversation, or clear text", async () => {
  await startWorker();
  const timelineOf = async (to: string) => {
    const id = await accept(to);
    await eventually(`${to} to be tried`, async () => (await listEvents(db, workspaceId, id)).length > 0);
    return listEvents(db, workspaceId, id);
  };
  const clear = {
    version: null,
    cipher: null,
    verified: false,
    policy: null,
    policy_met: null,
    clear_text_reason: "STARTTLS is not offered",
  };
  expect(await timelineOf("ada@example.test")).toMatchObject([{ type: "delivered", tls: clear }]);
  expect(await timelineOf("ada@away.test")).toMatchObject([{ type: "deferred", tls: null }]);
  await mx.close();
  mx = await startFakeMx({ port: mx.port, tls: "offered" });
  const encrypted = {
    version: "TLSv1.3",
    cipher: expect.stringMatching(/^TLS_/),
    verified: false,
    clear_text_reason: null,
  };
  expect(await timelineOf("greylist@example.test")).toMatchObject([{ type: "deferred", tls: encrypted }]);
});

test("the MTA-STS policy of a domain is looked up, unless MTA_STS is off", async () => {
  const policyQuestions = () => dns.questions.filter(({ name }) => name.startsWith("_mta-sts."));
  await startWorker(undefined, { MTA_STS: "off" });
  await reaches(await accept("ada@example.test"), "delivered");
  expect(policyQuestions()).toEqual([]);
  await workers.pop()?.stop();
  await startWorker();
  await reaches(await accept("ada@example.test"), "delivered");
  expect(policyQuestions()).toEqual([{ name: "_mta-sts.example.test", type: "TXT" }]);
});

test("a look-up that our DNS server did not answer is no attempt, and no event is recorded", async () => {
  dns.zone["late.test"] = "timeout";
  const id = await accept("ada@late.test");
  await startWorker();
  await eventually("the message to be put back", () =>
    db.row(
      sql`select from delivery_queue where message_id = ${id} and due_at between now() and now() + interval '10 seconds'`,
    ),
  );
  expect(await queued(id)).toMatchObject({ attempts: 0 });
  expect(await listEvents(db, workspaceId, id)).toEqual([]);
  dns.zone["late.test"] = { MX: [[10, "mx.example.test"]] };
  await makeDue(id);
  expect(await reaches(id, "delivered")).toMatchObject({ attempts: 1 });
  expect(await listEvents(db, workspaceId, id)).toMatchObject([{ type: "delivered", attempt: 1 }]);
});

test("with DANE, its resolver finds the mail hosts", async () => {
  await using validating = await startFakeDns({
    "dane.test": { MX: [[10, "mx.dane.test"]] },
    "mx.dane.test": { A: ["127.0.0.1"] },
  });
  for (const name of ["dane.test", "mx.dane.test"]) validating.secure.add(name);
  await startWorker(undefined, { DANE_RESOLVER: validating.address });
  await reaches(await accept("ada@dane.test"), "delivered");
  expect(validating.questions).toContainEqual({ name: "_25._tcp.mx.dane.test", type: "TLSA" });
});

test("a greylisted message is deferred until a known time, and then delivered once with the same return path", async () => {
  await startWorker();
  const id = await accept("greylist@example.test");
  const waiting = await reaches(id, "deferred");
  expect(waiting.error_message).toMatch(/^450/);
  expect(waiting.next_attempt_at?.getTime()).toBeGreaterThan(Date.now());
  await makeDue(id);
  const delivered = await reaches(id, "delivered");
  expect(delivered).toMatchObject({ attempts: 2, error_message: null });
  expect(mx.messages.map((one) => one.rcptTo)).toEqual(["greylist@example.test"]);
  const senders = mx.commands
    .filter((line) => line.startsWith("MAIL FROM"))
    .map((line) => line.split(" ")[1]);
  expect(new Set(senders).size).toBe(1);
});

const composing = {
  findIdentity: async () => ({ signingKey: null, returnPathHost: "bounce.posthaste.test" }),
  returnPathKey: createSecretKey(Buffer.alloc(32, 7)),
};
const dateIn = (raw: Buffer | undefined) => Date.parse(/^Date: (.*)$/m.exec(String(raw))?.[1] ?? "");

const hello = { subject: "Hi", html: null, text: "Hello", fromName: null, toName: null };

test("the Date of mail that waited for days is that of its first attempt", async () => {
  const createdAt = new Date(Date.now() - 3 * DAY_MS);
  const stored = await accept("ada@example.test", { createdAt });
  const given = await accept("bob@example.test", { createdAt });
  await db.run(sql`update delivery_queue set due_at = now() - interval '1 day' where message_id = ${given}`);
  const content = () => ({ ...hello, attachments: [], headers: [], returnPathHost: null });
  const begun = Math.floor(Date.now() / 1_000) * 1_000;
  await startWorker(async () => new Map([[given, { kind: "email", content }]]));
  const received = await mx.waitForMessages(2);
  for (const { raw } of received) {
    expect(dateIn(raw)).toBeGreaterThanOrEqual(begun);
    expect(dateIn(raw)).toBeLessThanOrEqual(Date.now());
  }
  expect(await reaches(stored, "delivered")).toMatchObject({ time: createdAt });
});

test("later attempts keep the Date and Message-ID of the first", async () => {
  await startWorker();
  const id = await accept("greylist@example.test");
  await reaches(id, "deferred");
  await db.run(sql`
    update delivery_queue set first_attempt_at = first_attempt_at - interval '5 hours', due_at = now()
    where message_id = ${id}`);
  const firstAttempt = Date.now() - 5 * 3_600_000;
  const [received] = await mx.waitForMessages(1);
  expect(Math.abs(dateIn(received?.raw) - firstAttempt)).toBeLessThan(60_000);
  expect(String(received?.raw)).toContain(`Message-ID: <${id}@sender.test>`);
});

const lookUpUnanswered = {
  outcome: "unroutable",
  status: "deferred",
  enhanced: "4.4.3",
  reason: "ETIMEOUT",
  isUnanswered: true,
} as const;

/** Leases the message that is due. */
async function leaseOne(): Promise<LeasedMessage> {
  const [message] = await leaseMessages(db, leaseOrder());
  if (message === undefined) throw new Error("no message is due");
  return message;
}

test("a requeued message gets the Date of the attempt, and not that of its acceptance", async () => {
  await accept("ada@example.test", { createdAt: new Date("2026-01-05T10:00:00Z") });
  const first = await leaseOne();
  await writeResultBatch(db, [releaseLease(first, new Date())], nobodyElse);
  const second = await leaseOne();
  expect(second.first_attempt_at?.getTime()).toBeGreaterThan(first.first_attempt_at?.getTime() ?? Infinity);
  const composed = await prepare({ ...second, content: null }, composing, recordTransport());
  expect(dateIn(composed?.message)).toBe(
    Math.floor((second.first_attempt_at?.getTime() ?? 0) / 1_000) * 1_000,
  );
});

test("campaign mail fails when its DNS look-up had no answer for the whole retry time", async () => {
  await db.run(sql`insert into workspaces (id, name) values (${workspaceId}, 'Retries for 72 hours')`);
  onTestFinished(async () => {
    await db.run(sql`delete from workspaces where id = ${workspaceId}`);
  });
  const id = await accept("ada@mute.test", { source: "campaign" });
  await db.run(sql`update delivery_queue set campaign_id = ${newId()} where message_id = ${id}`);
  const later = (hours: number) =>
    db.run(sql`
    update delivery_queue set due_at = now() - interval '1 minute', leased_by = null,
      expires_at = expires_at - make_interval(hours => ${hours}),
      first_attempt_at = first_attempt_at - make_interval(hours => ${hours})
    where message_id = ${id}`);
  // A pause before the first attempt does not shorten the retry time.
  await later(100);
  const first = await leaseOne();
  expect(first.lives_ms).toBeGreaterThan(71 * 3_600_000);
  await writeResultBatch(
    db,
    [resultOfSmtp(first, { result: lookUpUnanswered, mxHost: null }, new Date(), 0)],
    nobodyElse,
  );
  await later(71);
  // A further failed look-up, without an event, does not restart the retry time.
  await writeResultBatch(db, [requeue(await leaseOne(), new Date(), 5)], nobodyElse);
  await later(1);
  const last = await leaseOne();
  expect(last.lives_ms).toBeLessThan(0);
  expect(last.first_attempt_at?.getTime()).toBe((first.first_attempt_at?.getTime() ?? 0) - 72 * 3_600_000);
  await writeResultBatch(
    db,
    [resultOfSmtp(last, { result: lookUpUnanswered, mxHost: null }, new Date(), 0)],
    nobodyElse,
  );
  expect(await findMessage(db, workspaceId, id)).toMatchObject({ status: "failed", attempts: 0 });
  expect(await queued(id)).toBeUndefined();
});

test("an unknown mailbox bounces at once, with the reply as the reason", async () => {
  await startWorker();
  const id = await accept("unknown@example.test");
  const bounced = await reaches(id, "bounced");
  expect(bounced.error_message).toMatch(/^550 5\.1\.1/);
  expect(await queued(id)).toBeUndefined();
});

test.each([
  ["a host that nobody answers at", "away.test", "deferred"],
  ["a DNS that fails", "mute.test", "deferred"],
  ["a domain that does not exist", "nowhere.test", "bounced"],
  ["a domain that takes no mail", "nomail.test", "bounced"],
])("%s: %s is %s", async (_what, domain, status) => {
  await startWorker();
  const id = await accept(`ada@${domain}`);
  const message = await reaches(id, status);
  expect(message.error_message).not.toBeNull();
  expect((await queued(id)) !== undefined).toBe(status === "deferred");
});

test("a connection that breaks before the final dot is a failed attempt, and the message is retried", async () => {
  await startWorker();
  const id = await accept("drop-in-data@example.test");
  expect(await reaches(id, "deferred")).toMatchObject({ attempts: 1 });
});

test("a message that cannot be delivered before its expiry fails, and its log names the number of attempts", async () => {
  const id = await accept("tempfail@example.test");
  await db.run(
    sql`update delivery_queue set attempts = 11, expires_at = now() + interval '1 second' where message_id = ${id}`,
  );
  await startWorker();
  const failed = await reaches(id, "failed");
  expect(failed.error_message).toMatch(/^Gave up after 12 attempts: 4/);
});

test("an expired message still gets its one attempt after the cool-down of its site", async () => {
  await startWorker();
  await reaches(await accept("ada@away.test"), "deferred");
  const late = draft(workspaceId, "bob@away.test");
  const { id } = late.message;
  await db.transaction(async (tx) => {
    await insertDrafts(tx, [late]);
    await tx.run(sql`update delivery_queue set expires_at = now() where message_id = ${id}`);
  });
  const row = sql`select from delivery_queue where message_id = ${id} and due_at > now() + interval '90 seconds'`;
  await eventually("it to be put back", () => db.row(row));
  expect(await findMessage(db, workspaceId, id)).toMatchObject({ status: "queued", attempts: 0 });
});

test("content that cannot be composed fails its message only", async () => {
  const broken = await accept("ada@example.test", { subject: "two\r\nlines" });
  const sound = await accept("bob@example.test");
  await startWorker();
  await reaches(sound, "delivered");
  expect(await reaches(broken, "failed")).toMatchObject({ error_message: "internal error" });
});

test("a message whose template cannot be filled fails with the reason", async () => {
  const unfit = await accept("ada@example.test");
  const content = () => {
    throw new UnfitValues("it takes too many steps");
  };
  await db.run(sql`update delivery_queue set due_at = now() - interval '1 hour' where message_id = ${unfit}`);
  await startWorker(
    async (messages) => new Map(messages.map(({ message_id }) => [message_id, { kind: "email", content }])),
  );
  expect(await reaches(unfit, "failed")).toMatchObject({ error_message: "it takes too many steps" });
});

test("two workers share a queue and send no message twice", async () => {
  const ids = await Promise.all(Array.from({ length: 200 }, (_, n) => accept(`user${n}@example.test`)));
  await Promise.all([startWorker(), startWorker()]);
  await mx.waitForMessages(ids.length);
  await Promise.all(ids.map((id) => reaches(id, "delivered")));
  expect([...mx.copies.values()]).toEqual(ids.map(() => 1));
});

test("messages of a paused lane are not leased: they wait in the queue, without an attempt", async () => {
  await startWorker();
  await reaches(await accept("busy@example.test"), "deferred");
  const waiting = await accept("ada@example.test");
  // Accepted later, leased earlier.
  await reaches(await accept("ada@nomail.test"), "bounced");
  expect(await queued(waiting)).toMatchObject({ lease_number: 0, attempts: 0 });
  expect(await findMessage(db, workspaceId, waiting)).toMatchObject({ status: "queued", attempts: 0 });
});

test("a late worker cannot overwrite the result of its successor", async () => {
  const id = await accept("ada@example.test");
  const lease = leaseOrder();
  const [late] = await leaseMessages(db, lease);
  await makeDue(id);
  const [current] = await leaseMessages(db, { ...lease, workerId: newId() });
  if (!late || !current) throw new Error("both leases are wanted");
  const reply = (code: number, text: string) => ({ code, enhanced: null, text });
  const accepted = { outcome: "accepted", ...reply(250, "ok") } as const;
  const refused = { outcome: "refused", stage: "rcpt", ...reply(550, "5.1.1 unknown") } as const;
  await writeResultBatch(
    db,
    [resultOfSmtp(current, { result: accepted, mxHost: "mx" }, new Date(), 0)],
    nobodyElse,
  );
  await writeResultBatch(
    db,
    [resultOfSmtp(late, { result: refused, mxHost: "mx" }, new Date(), 0)],
    nobodyElse,
  );
  expect(await findMessage(db, workspaceId, id)).toMatchObject({ status: "delivered" });
  expect(await listEvents(db, workspaceId, id)).toHaveLength(1);
});

test("the results of a killed worker are read from its journal: no message is sent again", async () => {
  const known = await accept("ada@example.test");
  const inFlight = await accept("bob@example.test");
  const deadId = newId();
  const held = await leaseMessages(db, {
    workerId: deadId,
    priority: 0,
    limit: 10,
    bytes: 1_000_000,
    seconds: 60,
    saturated: [],
  });
  const message = held.find((one) => one.message_id === known);
  if (!message) throw new Error("the lease is wanted");
  const accepted = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  const { pid } = spawnSync("true");
  new Journal(join(dataDir, "journals"), { workerId: deadId, pid }).append(
    resultOfSmtp(message, { result: accepted, mxHost: "mx.example.test" }, new Date(), 0),
  );
  await startWorker();
  await reaches(known, "delivered");
  await reaches(inFlight, "delivered");
  expect(mx.messages.map((one) => one.rcptTo)).toEqual(["bob@example.test"]);
  expect(await readdir(join(dataDir, "journals"))).toHaveLength(1);
});

test("a worker without its lock starts nothing, and continues with a journal when it holds the lock again", async () => {
  const { workerId } = await startWorker();
  const giveBack = await takeWorkerLock(db);
  const journals = join(dataDir, "journals");
  removeJournal(journals, { workerId, pid: process.pid });
  const id = await accept("ada@example.test");
  const seen = looks;
  await eventually("two looks at the queue", async () => looks > seen + 2);
  expect(await queued(id)).toMatchObject({ lease_number: 0 });
  await giveBack();
  await reaches(id, "delivered");
  expect(mx.messages).toHaveLength(1);
  expect(await readdir(journals)).toEqual([`${workerId}.${process.pid}.jsonl`]);
});

test("a worker whose leasing is blocked does not query the queue more often than it polls", async () => {
  await insertDrafts(
    db,
    Array.from({ length: 260 }, (_, number) => draft(workspaceId, `reader${number}@example.test`)),
  );
  await db.run(sql`update delivery_queue set due_at = now() - interval '1 minute'`);
  const [leased, examined] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await startWorker(async () => {
    leased.resolve();
    await examined.promise;
    return new Map();
  });
  await leased.promise;
  const giveBack = await takeWorkerLock(db);
  examined.resolve();
  const held = sql`select from delivery_queue where leased_by is not null`;
  await eventually("what it holds to be dropped", async () => (await db.rows(held)).length === 0);
  const [from, seen] = [performance.now(), looks];
  await eventually("four rounds", async () => looks >= seen + 4);
  expect(performance.now() - from).toBeGreaterThan(1_000);
  await giveBack();
  await eventually("all to be sent", async () => mx.messages.length === 260);
});

test("a lease that is not extended falls due again; the heartbeat extends the leases it names, and no lost ones", async () => {
  const [kept, unknown] = [await accept("ada@example.test"), await accept("bob@example.test")];
  const workerId = newId();
  const lease = { workerId, priority: 0, limit: 10, bytes: 1_000_000, seconds: -1, saturated: [] } as const;
  const first = await leaseMessages(db, lease);
  const again = await leaseMessages(db, lease);
  expect(new Set(again.map((one) => one.message_id))).toEqual(new Set([kept, unknown]));
  const leases = (messages: readonly LeasedMessage[]) =>
    messages
      .filter((one) => one.message_id === kept)
      .map((one) => ({ workspaceId, messageId: kept, leaseNumber: one.lease_number }));
  expect(await extendLeases(db, workerId, leases(first), 60)).toEqual(new Set());
  expect(await extendLeases(db, newId(), leases(again), 60)).toEqual(new Set());
  expect(await extendLeases(db, workerId, leases(again), 60)).toEqual(new Set(leases(again).map(leaseKey)));
  const free = await leaseMessages(db, { ...lease, seconds: 60 });
  expect(free.map((one) => one.message_id)).toEqual([unknown]);
});

test("a worker that stops leaves no lease, no journal and no held message", async () => {
  const worker = await startWorker();
  await accept("ada@example.test");
  await mx.waitForMessages(1);
  await worker.stop();
  workers = [];
  expect(await db.rows(sql`select * from delivery_queue where leased_by is not null`)).toEqual([]);
  expect(await readdir(join(dataDir, "journals"))).toEqual([]);
});

test("a worker whose leases cannot be released at the stop stops all the same, and leaves no journal", async () => {
  const worker = await startWorker();
  await accept("ada@example.test");
  await mx.waitForMessages(1);
  await eventually(
    "the result to be written",
    async () => (await db.rows(sql`select from delivery_queue`)).length === 0,
  );
  await db.run(sql`alter table delivery_queue rename to delivery_queue_away`);
  onTestFinished(async () => {
    await db.run(sql`alter table delivery_queue_away rename to delivery_queue`);
  });
  await worker.stop();
  workers = [];
  expect(await readdir(join(dataDir, "journals"))).toEqual([]);
});

test("transactional mail goes before bulk mail", async () => {
  await insertDrafts(db, [{ ...draft(workspaceId, "bulk@example.test"), priority: 1 }]);
  await accept("reset@example.test");
  const transactional = await leaseMessages(db, leaseOrder());
  expect(transactional.map((one) => one.localpart)).toEqual(["reset"]);
});

test.each([-3, 3])(
  "a retry is due by the database's clock, although the worker's clock is %d hours off",
  async (hours) => {
    const id = await accept("greylist@example.test");
    await db.run(sql`update delivery_queue set expires_at = now() + interval '2 hours'`);
    const offset = hours * 3_600_000;
    await startWorker(undefined, {}, { ...systemClock, now: () => new Date(Date.now() + offset) });
    await reaches(id, "deferred");
    const { seconds } = (await db.row<{ seconds: number }>(
      sql`select extract(epoch from due_at - now())::float8 as seconds from delivery_queue where message_id = ${id}`,
    )) ?? { seconds: Number.NaN };
    // Five minutes, with 15 % jitter in both directions.
    expect(seconds).toBeGreaterThan(240);
    expect(seconds).toBeLessThan(350);
  },
);

test("a requeued message is due by the database's clock", async () => {
  const id = await accept("ada@mute.test");
  await startWorker(undefined, {}, { ...systemClock, now: () => new Date(Date.now() - 3 * 3_600_000) });
  await reaches(id, "deferred");
  const early = await db.row(sql`select from delivery_queue where message_id = ${id} and due_at < now()`);
  expect(early).toBeUndefined();
});

test("large texts of one workspace do not delay another workspace's one-line mail", async () => {
  const large = await Promise.all(
    [1, 2, 3].map((at) => accept(`large${at}@example.test`, { html: null, text: "a < b\n".repeat(300_000) })),
  );
  const other = draft(asWorkspaceId(newId()), "ada@example.test", { html: null, text: "one line" });
  await insertDrafts(db, [other]);
  await startWorker();
  await eventually("the other's mail to be delivered", async () => {
    const message = await findMessage(db, other.message.workspaceId, other.message.id);
    return message?.status === "delivered" && message;
  });
  for (const id of large) await reaches(id, "delivered");
  const received = await mx.waitForMessages(4);
  const sizes = received.map(({ raw }) => raw.length).filter((size) => size > 1_800_000);
  expect(sizes).toHaveLength(3);
});

test("a batch takes no more content than its limit of bytes, but always one message", async () => {
  const html = "x".repeat(1_000);
  await accept("ada@example.test", { html });
  await accept("bob@example.test", { html });
  const lease = leaseOrder();
  expect(await leaseMessages(db, { ...lease, bytes: 10 })).toHaveLength(1);
  await accept("eve@example.test", { html });
  expect(await leaseMessages(db, { ...lease, bytes: 2_000 })).toHaveLength(2);
});

test("a worker that is full of large bulk mail still takes transactional mail", async () => {
  await mx.close();
  mx = await startFakeMx({ slowMs: 2_000 });
  const bulk = [1, 2].map((at) => draft(workspaceId, `slow${at}@example.test`));
  await insertDrafts(
    db,
    bulk.map((one) => ({ ...one, priority: 1 })),
  );
  await db.run(sql`update delivery_queue set bytes = ${64 * 1024 * 1024}`);
  await startWorker();
  await eventually("the worker to be full", async () => {
    const row = await db.row<{ held: number }>(
      sql`select count(*) as held from delivery_queue where leased_by is not null`,
    );
    return (row?.held ?? 0) > 0;
  });
  await reaches(await accept("reset@example.test"), "delivered");
  expect(await db.rows(sql`select from messages where status = 'delivered'`)).toHaveLength(1);
});

test("a suspended workspace's mail stays in the queue until the workspace is resumed", async () => {
  const suspended = asWorkspaceId(newId());
  await db.run(sql`insert into workspaces (id, name, is_suspended) values (${suspended}, 'Closed', true)`);
  await insertDrafts(db, [draft(suspended, "ada@example.test")]);
  const lease = leaseOrder();
  expect(await leaseMessages(db, lease)).toEqual([]);
  await db.run(sql`update workspaces set is_suspended = false where id = ${suspended}`);
  expect(await leaseMessages(db, lease)).toHaveLength(1);
});

test("a delivery that is reported after the lease was lost still removes the message", async () => {
  const id = await accept("ada@example.test");
  const lease = leaseOrder();
  const [late] = await leaseMessages(db, lease);
  await makeDue(id);
  await leaseMessages(db, { ...lease, workerId: newId() });
  if (!late) throw new Error("the lease is wanted");
  const accepted = { outcome: "accepted", code: 250, enhanced: null, text: "ok" } as const;
  await writeResultBatch(
    db,
    [resultOfSmtp(late, { result: accepted, mxHost: "mx" }, new Date(), 0)],
    nobodyElse,
  );
  expect(await queued(id)).toBeUndefined();
  expect(await findMessage(db, workspaceId, id)).toMatchObject({ status: "delivered" });
});

test("a message that has waited is checked again: it is not sent to a recipient suppressed meanwhile, and no host is contacted", async () => {
  const [suppressed, waited] = [await accept("ada@example.test"), await accept("bob@example.test")];
  await db.run(sql`update delivery_queue set due_at = now() - interval '1 minute'`);
  // On a machine whose clock is wrong: the database's clock counts.
  const fresh = await accept("carl@example.test", { createdAt: new Date(Date.now() - 60_000) });
  const asked: string[] = [];
  await startWorker(async (messages) => {
    asked.push(...messages.map(({ message_id }) => message_id));
    const detail = "Suppressed (manual): on the list Ours";
    return new Map([[suppressed, { kind: "end", status: "suppressed", detail }]]);
  });
  expect(await reaches(suppressed, "suppressed")).toMatchObject({
    attempts: 0,
    error_message: "Suppressed (manual): on the list Ours",
  });
  await Promise.all([waited, fresh].map((id) => reaches(id, "delivered")));
  expect(asked.sort()).toEqual([suppressed, waited].sort());
  expect(mx.commands.filter((line) => line.includes("ada@"))).toEqual([]);
  expect(await listEvents(db, workspaceId, suppressed)).toMatchObject([{ type: "suppressed" }]);
  expect(await queued(suppressed)).toBeUndefined();
});

test("a deferred message is checked again before its next attempt", async () => {
  const id = await accept("greylist@example.test");
  let isSuppressed = false;
  const suppressed = {
    kind: "end",
    status: "suppressed",
    detail: "Suppressed (complaint): on a list",
  } as const;
  await startWorker(async () => new Map(isSuppressed ? [[id, suppressed]] : []));
  await reaches(id, "deferred");
  isSuppressed = true;
  await makeDue(id);
  expect(await reaches(id, "suppressed")).toMatchObject({ attempts: 1 });
  expect(mx.messages).toEqual([]);
});

test("a result that PostgreSQL rejects does not block the others", async () => {
  const [strange, plain] = [await accept("ada@example.test"), await accept("bob@example.test")];
  const lease = leaseOrder();
  const messages = await leaseMessages(db, lease);
  const settler = new ResultWriter(
    db,
    new Journal(join(dataDir, "journals"), { workerId: newId(), pid: 1 }),
    log,
    nobodyElse,
  );
  for (const message of messages) {
    const text = message.message_id === strange ? "a NUL: \0" : "ok";
    const result = { outcome: "accepted", code: 250, enhanced: null, text } as const;
    settler.add(resultOfSmtp(message, { result, mxHost: "mx" }, new Date(), 0));
  }
  expect(await settler.flushed(10_000)).toBe(true);
  for (const id of [strange, plain]) {
    expect(await findMessage(db, workspaceId, id)).toMatchObject({ status: "delivered" });
  }
});

test("messages of saturated domains are not leased", async () => {
  await accept("ada@full.test");
  await accept("ada@example.test");
  const lease = {
    workerId: newId(),
    priority: 0,
    limit: 10,
    bytes: 1_000_000,
    seconds: 60,
    saturated: ["full.test"],
  } as const;
  expect((await leaseMessages(db, lease)).map((one) => one.domain)).toEqual(["example.test"]);
});

test("a paused campaign's messages stay in the queue until it is resumed", async () => {
  const campaign = newId();
  const id = await accept("ada@example.test", { originId: campaign });
  await db.run(sql`update delivery_queue set campaign_id = ${campaign} where message_id = ${id}`);
  halted = [campaign];
  await startWorker();
  await reaches(await accept("bob@example.test"), "delivered");
  expect(await queued(id)).toMatchObject({ lease_number: 0, leased_by: null });
  halted = [];
  await reaches(id, "delivered");
});

test("while sending is held, workers look at the queue and send nothing; after the release each message leaves once", async () => {
  const id = await accept("ada@example.test");
  isSendingHeld = true;
  await startWorker();
  const before = looks;
  await eventually("three looks", async () => looks >= before + 3);
  expect(await queued(id)).toMatchObject({ lease_number: 0, leased_by: null });
  isSendingHeld = false;
  await reaches(id, "delivered");
  expect(mx.messages).toHaveLength(1);
});

test("a message that is leased when its campaign is paused is released without an attempt", async () => {
  const campaign = newId();
  const id = await accept("ada@example.test", { originId: campaign });
  await db.run(sql`
    update delivery_queue set campaign_id = ${campaign}, due_at = now() - interval '1 minute' where message_id = ${id}`);
  await startWorker(async () => {
    halted = [campaign];
    return new Map([[id, { kind: "requeue", seconds: 0 }]]);
  });
  await eventually("the lease to be given back", async () => {
    const row = await db.row<{ lease_number: number; leased_by: string | null; attempts: number }>(
      sql`select lease_number, leased_by, attempts from delivery_queue where message_id = ${id}`,
    );
    return row?.lease_number === 1 && row.leased_by === null && row.attempts === 0;
  });
  expect(mx.messages).toEqual([]);
});

test("messages whose pre-send check failed are requeued, and leased again", async () => {
  const id = await accept("ada@example.test");
  await db.run(sql`update delivery_queue set due_at = now() - interval '1 minute'`);
  let isAsked = false;
  await startWorker(async () => {
    isAsked = true;
    throw new Error("the examiner is away");
  });
  await eventually("the lease to be given back", async () => {
    const row = await db.row<{ leased_by: string | null; attempts: number; is_later: boolean }>(
      sql`select leased_by, attempts, due_at > now() as is_later from delivery_queue where message_id = ${id}`,
    );
    return isAsked && row?.leased_by === null && row.attempts === 0 && row.is_later;
  });
  expect(mx.messages).toEqual([]);
});
