import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyReceipts, expireReceipts } from "#delivery/sms/delivery-receipts.ts";
import { insertReceipts } from "#delivery/sms/delivery-receipts-store.ts";
import type { SmsReceipt } from "#delivery/sms/gateway.ts";
import { readGateway } from "#delivery/sms/gateway-settings.ts";
import { type RunningWorker, startDeliveryWorker } from "#delivery/start-delivery-worker.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createReactions } from "#processes/reactions.ts";
import type { CampaignSettings } from "#sending/campaigns/campaign.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { findCampaign, removeCampaign } from "#sending/campaigns/store.ts";
import { pauseCampaign, resumeCampaign } from "#sending/campaigns/transitions-store.ts";
import { createCampaignMail } from "#sending/mail/campaign-presend-check.ts";
import { listHaltedIds } from "#sending/mail/presend-store.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { PASSWORD, type SmppServer, startSmppServer } from "#test/support/smpp-server.ts";
import { getMeterReading } from "#workspace/billing/meter.ts";
import { plans } from "#workspace/billing/plans.ts";

const THROTTLED = 0x58;
const INVALID_DESTINATION = 0x0b;

const db = await testDatabase();
const log = createLog("silent");
const onMoved = createReactions(systemClock);
let workspaceId: WorkspaceId;
let list: string;
let centre: SmppServer;
let workers: RunningWorker[] = [];

beforeEach(async () => {
  await db.run(sql`truncate delivery_queue, sms_submissions, sms_receipts`);
  workspaceId = await insertBareWorkspace(db);
  await verifyShop(db, workspaceId);
  list = await newList(db, workspaceId);
  centre = await startSmppServer();
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await centre[Symbol.asyncDispose]();
});

const smppUrl = (options = "") =>
  `smpp://posthaste:${PASSWORD}@127.0.0.1:${centre.port}?source=Shop${options}`;

async function startWorker(gateway: string | null = smppUrl()): Promise<RunningWorker> {
  const config = readConfig({
    DATA_DIR: await mkdtemp(join(tmpdir(), "posthaste-sms-")),
    ...(gateway !== null && { SMS_GATEWAY_URL: gateway }),
  });
  const worker = await startDeliveryWorker({
    config,
    db,
    clock: systemClock,
    log,
    resolver: createResolver({ servers: ["127.0.0.1:9"], timeoutMs: 100, tries: 1 }),
    findIdentity: async () => ({ signingKey: null, returnPathHost: "bounce.test" }),
    returnPathKey: createSecretKey(Buffer.alloc(32, 7)),
    assemblyThread: new URL("../../processes/assembly-thread.ts", import.meta.url),
    findRouting: async () => ({ ips: [], rules: [] }),
    findChoice: async () => ({ ip: null, ruleId: null }),
    smsReceiptUrl: ({ workspaceId, id }) => `https://post.test/sms/receipts/${workspaceId}.${id}`,
    check: createCampaignMail({
      db,
      clock: systemClock,
      log,
      smsCountry: "DE",
      linkBase: async () => "https://post.test",
      linksOf: (_, base) => ({
        unsubscribe: `${base}/u/1`,
        view: `${base}/v/1`,
        viewWith: () => `${base}/v/1`,
        pixel: `${base}/o/1`,
        tracked: () => base,
      }),
    }),
    findHalted: async () => ({ isSendingHeld: false, ...(await listHaltedIds(db)) }),
    onMoved,
  });
  workers.push(worker);
  return worker;
}

/** One person for each number, u0, u1, …; numbers end in 10 and so on where nothing else is said. */
async function campaignTo(
  numbers: readonly (string | null)[],
  change: Partial<CampaignSettings> = {},
): Promise<string> {
  await addPeople(
    db,
    workspaceId,
    list,
    numbers.map((phone, at) => ({
      email: `u${at}@example.test`,
      first_name: `Ada${at}`,
      custom_fields: phone === null ? {} : { phone },
    })),
  );
  const id = await newCampaign(db, workspaceId, list, {
    message_type: "sms",
    phone_field_name: "phone",
    html_content: null,
    text_content: "Hello {{ first_name }}",
    ...change,
  });
  await db.run(sql`update campaigns set status = 'sending', sent_at = now() where id = ${id}`);
  await advanceDueCampaigns(
    { db, clock: systemClock, plans, smsCountry: "DE" },
    new AbortController().signal,
    log,
  );
  return id;
}

const A = "+491701234560";
const B = "+491701234561";

interface Row {
  readonly email: string;
  readonly status: string;
  readonly attempts: number;
  readonly error_message: string | null;
  readonly next_attempt_at: Date | null;
  readonly message_id: string;
}
const rowsOf = (id: string) =>
  db.rows<Row>(sql`
    select m.localpart as email, m.status, m.attempts, m.error_message, m.next_attempt_at, m.id as message_id
    from messages m
    where m.origin_id = ${id} order by m.localpart`);
const reach = (id: string, ...statuses: string[]) =>
  eventually(`statuses to be ${statuses.join()}`, async () => {
    const rows = await rowsOf(id);
    return rows.map(({ status }) => status).join() === statuses.join() && rows;
  });
const taken = (id: string) =>
  eventually("the SMS to be taken", async () => {
    const rows = await db.rows(sql`
      select from sms_submissions s join messages m on m.workspace_id = s.workspace_id and m.id = s.message_id
      where m.origin_id = ${id}`);
    return rows.length > 0 && (await rowsOf(id));
  });
const textReceipt = (id: string, state: string, error = "000") => ({
  short_message: `id:${id} sub:001 dlvrd:001 submit date:2611211500 done date:2611211501 stat:${state} err:${error} text:Hello`,
});
const makeDue = () => db.run(sql`update delivery_queue set due_at = now()`);
const find = async (id: string) => (await findCampaign(db, workspaceId, id)) ?? expect.fail("no campaign");

test("without a gateway messages wait with a reason, and fail when they expire", async () => {
  const id = await campaignTo([A]);
  await startWorker(null);
  const [waiting] = await reach(id, "deferred");
  expect(waiting).toMatchObject({ attempts: 1, error_message: "No SMS gateway is configured" });
  await db.run(sql`update delivery_queue set due_at = now(), expires_at = now()`);
  const [failed] = await reach(id, "failed");
  expect(failed?.error_message).toBe("Gave up after 2 attempts: No SMS gateway is configured");
  expect(await db.rows(sql`select from delivery_queue`)).toEqual([]);
});

describe("over SMPP", () => {
  test("each person gets the text once at their number, and the receipts report the outcome", async () => {
    const id = await campaignTo(["0170 1234560", "0049-170-1234561"]);
    await startWorker();
    await eventually("two SMS", async () => centre.submitted.length === 2);
    await eventually("both to be settled", async () => {
      const rows = await rowsOf(id);
      return rows.every(({ status, attempts }) => status === "deferred" && attempts === 1);
    });
    expect(await db.rows(sql`select from delivery_queue`)).toEqual([]);
    const [first, second] = [...centre.submitted].sort((a, b) => a.to.localeCompare(b.to));
    expect([first?.to, second?.to]).toEqual([A.slice(1), B.slice(1)]);
    expect(first?.pdu).toMatchObject({
      source_addr: "Shop",
      source_addr_ton: 5,
      dest_addr_ton: 1,
      registered_delivery: 1,
      data_coding: 0,
      short_message: { message: "Hello Ada0" },
    });
    expect(await centre.receipt(textReceipt(first?.id ?? "", "ACCEPTD"))).toBe(0);
    expect(await centre.receipt(textReceipt(first?.id ?? "", "DELIVRD"))).toBe(0);
    expect(await centre.receipt({ receipted_message_id: second?.id, message_state: 5 })).toBe(0);
    const rows = await reach(id, "delivered", "failed");
    expect(rows[1]?.error_message).toBe("Receipt: UNDELIVERABLE");
    await advanceDueCampaigns({ db, clock: systemClock, plans }, new AbortController().signal, log);
    expect(await find(id)).toMatchObject({ status: "sent", delivered_count: 1, failed_count: 1 });
    expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
  });

  test("while its receipt is awaited a message has no error, and the timeline says who took it", async () => {
    centre.answer(A.slice(1), THROTTLED);
    const id = await campaignTo([A]);
    await startWorker();
    expect((await reach(id, "deferred"))[0]?.error_message).not.toBeNull();
    await makeDue();
    const [row] = await taken(id);
    expect(row).toMatchObject({ status: "deferred", error_message: null });
    const [last] = await db.rows<{ detail: string }>(sql`
      select detail from message_events where campaign_id = ${id} order by id desc limit 1`);
    expect(last?.detail).toBe(`accepted by the SMS gateway as ${centre.submitted[0]?.id}`);
  });

  test("a receipt that comes twice, or late, changes nothing", async () => {
    const id = await campaignTo([A]);
    await startWorker();
    await taken(id);
    const receipt = textReceipt(centre.submitted[0]?.id ?? "", "DELIVRD");
    await centre.receipt(receipt);
    await reach(id, "delivered");
    expect(await centre.receipt(receipt)).toBe(0);
    expect(await centre.receipt(textReceipt(centre.submitted[0]?.id ?? "", "UNDELIV"))).toBe(0);
    await applyReceipts({ db, onMoved });
    await reach(id, "delivered");
    const events = await db.rows(
      sql`select from message_events where campaign_id = ${id} and type = 'delivered'`,
    );
    expect(events).toHaveLength(1);
  });

  test("people without a valid number are left out and counted", async () => {
    const id = await campaignTo([A, null, "12", "call me"]);
    expect(await find(id)).toMatchObject({ total_recipients: 1, excluded: { invalid: 3 } });
  });

  test("a number that is gone when its turn comes gets nothing", async () => {
    const id = await campaignTo([A]);
    await db.run(sql`update subscribers set custom_fields = '{}' where workspace_id = ${workspaceId}`);
    await startWorker();
    const [row] = await reach(id, "suppressed");
    expect(row?.error_message).toMatch(/no longer has a valid telephone number/);
    expect(centre.submitted).toEqual([]);
  });

  test("a long text goes whole, as one message with one id", async () => {
    const text = "Grüße! ".repeat(40).trim();
    await campaignTo([A], { text_content: text });
    await startWorker();
    await eventually("an SMS", async () => centre.submitted.length === 1);
    expect(centre.submitted[0]?.pdu).toMatchObject({ data_coding: 0, message_payload: { message: text } });
  });

  test("what the telephone's alphabet does not have goes as UCS-2", async () => {
    await campaignTo([A], { text_content: "Добрый день 🙂" });
    await startWorker();
    await eventually("an SMS", async () => centre.submitted.length === 1);
    expect(centre.submitted[0]?.pdu).toMatchObject({
      data_coding: 8,
      short_message: { message: "Добрый день 🙂" },
    });
  });

  test("a text of more than ten SMS fails and says why", async () => {
    const id = await campaignTo([A], { text_content: "x".repeat(1_600) });
    await startWorker();
    const [row] = await reach(id, "failed");
    expect(row?.error_message).toBe("The text needs more than 10 SMS");
  });

  test("a throttled message waits and is then taken", async () => {
    centre.answer(A.slice(1), THROTTLED);
    const id = await campaignTo([A]);
    await startWorker();
    const [row] = await reach(id, "deferred");
    expect(row?.error_message).toMatch(/^ESME_RTHROTTLED/);
    await makeDue();
    await taken(id);
    expect(centre.submitted).toHaveLength(1);
  });

  test("a refused message fails with the reason, and the next is sent", async () => {
    centre.answer(A.slice(1), INVALID_DESTINATION);
    const id = await campaignTo([A, B]);
    await startWorker();
    const [row] = await reach(id, "failed", "deferred");
    expect(row?.error_message).toBe("ESME_RINVDSTADR (0x0000000b)");
  });

  test("a connection that breaks in the middle is opened again, and the message tried again", async () => {
    centre.answer(A.slice(1), "drop");
    const id = await campaignTo([A]);
    await startWorker();
    const [row] = await reach(id, "deferred");
    expect(row?.error_message).toMatch(/closed.*may have been accepted/);
    await eventually("another bind", async () => centre.binds === 2);
    await makeDue();
    await taken(id);
    expect(centre.submitted).toHaveLength(1);
  });

  test("a receipt of nothing we know is answered, kept for a while and forgotten", async () => {
    await startWorker();
    await eventually("a bind", async () => centre.binds === 1);
    expect(await centre.receipt(textReceipt("nobody's", "DELIVRD"))).toBe(0);
    expect(await db.rows(sql`select from sms_receipts`)).toHaveLength(1);
    const tomorrow = stubClock(new Date(Date.now() + 25 * 3_600_000));
    await expireReceipts({ db, clock: tomorrow, onMoved });
    expect(await db.rows(sql`select from sms_receipts`)).toEqual([]);
  });

  test("a receipt that comes before we know that its message was taken waits for that", async () => {
    await startWorker();
    await eventually("a bind", async () => centre.binds === 1);
    await centre.receipt(textReceipt("ID-1", "DELIVRD"));
    await reach(await campaignTo([A]), "delivered");
  });

  test("a receipt finds its message after a restart, at whatever worker it comes to", async () => {
    const id = await campaignTo([A]);
    const first = await startWorker();
    await taken(id);
    await first.stop();
    workers = [];
    await startWorker();
    await eventually("another bind", async () => centre.binds === 2);
    await centre.receipt(textReceipt(centre.submitted[0]?.id ?? "", "DELIVRD"));
    await reach(id, "delivered");
    expect(centre.submitted).toHaveLength(1);
  });

  test("without a receipt in three days it has failed", async () => {
    const id = await campaignTo([A]);
    await startWorker();
    await taken(id);
    const later = stubClock(new Date(Date.now() + 73 * 3_600_000));
    await expireReceipts({ db, clock: later, onMoved });
    const [row] = await reach(id, "failed");
    expect(row?.error_message).toMatch(/no delivery receipt in time/);
  });

  test("without receipts what is taken is delivered", async () => {
    const id = await campaignTo([A]);
    await startWorker(smppUrl("&receipts=false"));
    await reach(id, "delivered");
    expect(centre.submitted[0]?.pdu.registered_delivery).toBe(0);
  });

  test("a gateway that is away makes them wait, and says so", async () => {
    const id = await campaignTo([A]);
    await startWorker(smppUrl().replace(PASSWORD, "wrong"));
    const [row] = await reach(id, "deferred");
    expect(row?.error_message).toBe("not connected: bind refused with status 0xd");
  });

  test("a paused campaign sends none until it goes on", async () => {
    const id = await campaignTo([A]);
    await pauseCampaign(db, workspaceId, id, null, new Date());
    await startWorker();
    await eventually("a bind", async () => centre.binds === 1);
    await reach(id, "queued");
    expect(centre.submitted).toEqual([]);
    await resumeCampaign(db, workspaceId, id, new Date());
    await makeDue();
    await taken(id);
  });

  test("one that is deleted while it is paused brings no emails", async () => {
    const id = await campaignTo([A, B]);
    await pauseCampaign(db, workspaceId, id, null, new Date());
    await removeCampaign(db, workspaceId, id, new Date());
    await startWorker();
    await reach(id, "cancelled", "cancelled");
    expect((await getMeterReading(db, plans, workspaceId, new Date())).used.email).toBe(0);
  });

  test("two workers share the messages, each sent once", async () => {
    const numbers = Array.from({ length: 60 }, (_, at) => `+4917012345${String(at).padStart(2, "0")}`);
    const id = await campaignTo(numbers);
    await Promise.all([startWorker(), startWorker()]);
    await eventually("all to be taken", async () =>
      (await rowsOf(id)).every(({ status }) => status === "deferred"),
    );
    expect(centre.submitted.map(({ to }) => `+${to}`).sort()).toEqual(numbers);
  });
});

describe("over HTTP", () => {
  let gateway: Server;
  let received: { headers: Record<string, unknown>; body: Record<string, unknown> }[];
  let answers: [number, string][];
  let mayAnswer: Promise<void>;

  beforeEach(async () => {
    received = [];
    answers = [];
    mayAnswer = Promise.resolve();
    gateway = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) });
        const [status, body] = answers.shift() ?? [200, '{"id":"g-1"}'];
        const answer = () => response.writeHead(status, { "Content-Type": "application/json" }).end(body);
        void mayAnswer.then(answer);
      });
    }).listen(0, "127.0.0.1");
    await once(gateway, "listening");
  });
  afterEach(() => new Promise((resolve) => gateway.close(resolve)));
  const url = (options = "") =>
    `http://:s3cret@127.0.0.1:${(gateway.address() as AddressInfo).port}/send?x=1#source=Shop${options}`;

  test("each message is one POST, and delivered when it is taken", async () => {
    const id = await campaignTo([A]);
    await startWorker(url());
    const [row] = await reach(id, "delivered");
    expect(received).toHaveLength(1);
    expect(received[0]?.body).toEqual({ id: row?.message_id, to: A, from: "Shop", text: "Hello Ada0" });
    expect(received[0]?.headers).toMatchObject({
      authorization: "Bearer s3cret",
      "idempotency-key": row?.message_id,
    });
  });

  test.each([
    [429, "deferred"],
    [503, "deferred"],
    [422, "failed"],
  ])("%i makes it %s", async (status, outcome) => {
    answers = [[status, "no"]];
    const id = await campaignTo([A]);
    await startWorker(url());
    const [row] = await reach(id, outcome);
    expect(row?.error_message).toBe(`HTTP ${status} no`);
  });

  test.each([
    [503, "a\0 NUL", "HTTP 503 a NUL"],
    [200, '{"id":"g\\u0000-1"}', "accepted by the SMS gateway as g-1"],
  ])("what a gateway says with a NUL in it is in the timeline without: %i", async (status, body, detail) => {
    answers = [[status, body]];
    const id = await campaignTo([A]);
    await startWorker(url());
    await reach(id, status === 200 ? "delivered" : "deferred");
    expect(await db.rows(sql`select detail from message_events where campaign_id = ${id}`)).toEqual([
      { detail },
    ]);
  });

  test("a 429 that names no time puts the SMS off by a minute, not by the first wait of the schedule", async () => {
    answers = [[429, "no"]];
    const id = await campaignTo([A]);
    await startWorker(url());
    const [row] = await reach(id, "deferred");
    expect(row?.next_attempt_at?.getTime()).toBeLessThan(Date.now() + 2 * 60_000);
  });

  test("a gateway that tells is given an address for it", async () => {
    const id = await campaignTo([A]);
    await startWorker(url("&receipts=true"));
    const [row] = await taken(id);
    expect(received[0]?.body).toMatchObject({
      receipt_url: `https://post.test/sms/receipts/${workspaceId}.${row?.message_id}`,
    });
    await db.run(sql`
      insert into sms_receipts (gateway, gateway_id, status, detail, received_at)
      select gateway, gateway_id, 'failed', 'blocked', now() from sms_submissions`);
    const [failed] = await reach(id, "failed");
    expect(failed?.error_message).toBe("Receipt: blocked");
  });

  /** As the receipt page keeps it (receive-delivery-receipts.ts). */
  const tell = (
    messageId: string,
    status: "delivered" | "failed",
    message: SmsReceipt["message"] = { workspaceId, messageId },
  ) => {
    const { name: gateway } = readGateway(new URL(url()));
    const receipt = { gateway, gatewayId: messageId, message, status, detail: status };
    return insertReceipts(db, [receipt], new Date());
  };
  const eventsOf = (id: string) =>
    db.rows(sql`select type, attempt from message_events where campaign_id = ${id} order by time, id`);

  test.each(["delivered", "failed"] as const)(
    "a receipt ends a message whose answer left open whether it was taken: %s",
    async (status) => {
      answers = [[503, "busy"]];
      const id = await campaignTo([A]);
      await startWorker(url("&receipts=true"));
      const [row] = await reach(id, "deferred");
      await tell(row?.message_id ?? "", status);
      await reach(id, status);
      expect(await db.rows(sql`select from delivery_queue`)).toEqual([]);
      expect(await eventsOf(id)).toEqual([
        { type: "deferred", attempt: 1 },
        { type: status, attempt: null },
      ]);
      await advanceDueCampaigns({ db, clock: systemClock, plans }, new AbortController().signal, log);
      expect(await find(id)).toMatchObject({ status: "sent", [`${status}_count`]: 1 });
      expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
      expect(received).toHaveLength(1);
    },
  );

  test("a receipt that names no workspace ends its message when the gateway has said that it took it", async () => {
    answers = [[503, "busy"]];
    const id = await campaignTo([A]);
    await startWorker(url("&receipts=true"));
    const [row] = await reach(id, "deferred");
    await tell(row?.message_id ?? "", "delivered", null);
    expect(await applyReceipts({ db, onMoved })).toBe(0);
    await makeDue();
    await reach(id, "delivered");
    expect(received).toHaveLength(2);
  });

  test("a receipt ends the message of the workspace that it names, and none of another", async () => {
    answers = [[503, "busy"]];
    const id = await campaignTo([A]);
    await startWorker(url("&receipts=true"));
    const [row] = await reach(id, "deferred");
    const messageId = row?.message_id ?? "";
    await tell(messageId, "delivered", { workspaceId: await insertBareWorkspace(db), messageId });
    expect(await applyReceipts({ db, onMoved })).toBe(0);
    await reach(id, "deferred");
  });

  test.each([
    [200, '{"id":"g-1"}'],
    [503, "busy"],
  ])(
    "a receipt that is faster than the answer ends the message, and %i changes nothing",
    async (...answer) => {
      answers = [answer];
      const told = Promise.withResolvers<void>();
      mayAnswer = told.promise;
      const id = await campaignTo([A]);
      const worker = await startWorker(url("&receipts=true"));
      await eventually("the request", async () => received.length === 1);
      const [row] = await rowsOf(id);
      await tell(row?.message_id ?? "", "delivered");
      expect(await reach(id, "delivered")).toMatchObject([{ attempts: 1, error_message: null }]);
      told.resolve();
      await worker.stop();
      workers = [];
      await reach(id, "delivered");
      expect(await eventsOf(id)).toEqual([{ type: "delivered", attempt: 1 }]);
      expect(await db.rows(sql`select from delivery_queue union all select from sms_submissions`)).toEqual(
        [],
      );
      expect(await findOriginMiscounts(db, "campaign")).toEqual([]);
    },
  );
});
