import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { Compile } from "typebox/compile";
import { afterAll, expect, test } from "vitest";
import { EXPORT_JOB, exportHandler } from "#audience/exports/export-job.ts";
import { IMPORT_JOB, importHandler } from "#audience/imports/import-job.ts";
import { recordRefusedSignup } from "#audience/signup-forms/report-form-abuse.ts";
import { createChecker, createZonesResolver } from "#hygiene/blacklist/checker.ts";
import { runDueMonitors } from "#hygiene/blacklist/run-monitors.ts";
import { readZones } from "#hygiene/blacklist/zones.ts";
import { readReceivedMail } from "#inbound/parsing/read-received-mail.ts";
import { type Outcome, unclassified } from "#messages/message/outcome.ts";
import { recordOutcomes } from "#messages/record-outcomes.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { startRunner } from "#platform/jobs/runner.ts";
import { createLog } from "#platform/log/log.ts";
import { createReactions } from "#processes/reactions.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { advanceDueCampaigns } from "#sending/campaigns/lifecycle/advance.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { apiCaller } from "#test/support/api-caller.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { draft } from "#test/support/drafts.ts";
import { eventually } from "#test/support/eventually.ts";
import { publish } from "#test/support/publish.ts";
import { startService } from "#test/support/service.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";
import { post, visit } from "#test/support/tracking-visits.ts";
import { catalogue, type EventType, eventTypes } from "#webhooks/event-catalogue.ts";
import { plans } from "#workspace/billing/plans.ts";
import { announceMoved } from "./announce-message-events.ts";
import {
  announceCampaigns,
  announceFormAbuse,
  announceListing,
  createJobReaction,
  createReceivedReaction,
} from "./announce-non-message-events.ts";

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-webhooks-"));
afterAll(() => rm(dataDir, { recursive: true, force: true }));
const service = await startService({ env: { DATA_DIR: dataDir } });
const { database: db, clock, dns } = service;
const log = createLog("silent");
const { signal } = new AbortController();

const shapes = new Map<EventType, { Errors(data: unknown): unknown }>(
  eventTypes.map((type) => [type, Compile(catalogue[type])]),
);
const seen = new Set<EventType>();

interface Body {
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

/** A workspace with a webhook for all events, or without webhooks. */
async function newScene({ listens = true } = {}) {
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  if (listens) await call("POST", "/webhooks", { url: "https://hooks.example.com/", events: ["*"] });
  /** The events announced since the last call. Checks that each has the shape of the catalogue. */
  const announced = async (): Promise<Body[]> => {
    const rows = await db.rows<{ body: Body }>(sql`
      with gone as (delete from webhook_deliveries where workspace_id = ${workspaceId} returning *)
      select body from gone order by id`);
    for (const { body } of rows) {
      const shape = shapes.get(body.type);
      expect(shape?.Errors(body.data), JSON.stringify(body)).toEqual([]);
      expect(Object.keys(body.data).toSorted()).toEqual(
        Object.keys(catalogue[body.type].properties).toSorted(),
      );
      expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp);
      seen.add(body.type);
    }
    return rows.map(({ body }) => body);
  };
  return { workspaceId, call, announced };
}

type Scene = Awaited<ReturnType<typeof newScene>>;

const outcomeOf = (workspaceId: WorkspaceId, messageId: string, change: Partial<Outcome>): Outcome => ({
  workspaceId,
  messageId,
  status: "delivered",
  time: clock.now(),
  attempts: 1,
  nextAttemptAt: null,
  detail: "250 OK",
  mxHost: "mx.example.test",
  code: 250,
  enhancedCode: "2.0.0",
  isAddressFault: false,
  ...unclassified,
  ...change,
});

const tell = (workspaceId: WorkspaceId, messageId: string, change: Partial<Outcome>) =>
  db.transaction((tx) =>
    recordOutcomes(tx, [outcomeOf(workspaceId, messageId, change)], createReactions(clock)),
  );

async function accepted({ workspaceId }: Scene, change = {}): Promise<string> {
  const one = draft(workspaceId, `${newId()}@example.net`, change);
  await insertDrafts(db, [one]);
  return one.message.id;
}

test("outcomes of messages are announced", async () => {
  const scene = await newScene();
  const { workspaceId, announced } = scene;
  const id = await accepted(scene);
  const message = {
    message_id: id,
    to: expect.stringMatching(/^[0-9a-f-]{36}@example\.net$/),
    from_email: "shop@sender.test",
    source: "api",
    origin_id: null,
    origin_name: "Test key",
    email_id: null,
    tags: [],
    metadata: {},
  };
  const later = new Date(clock.now().getTime() + 60_000);
  const refused = { detail: "450 4.2.0 Later", code: 450, enhancedCode: "4.2.0" };
  await tell(workspaceId, id, { status: "deferred", nextAttemptAt: later, ...refused });
  expect(await announced()).toEqual([
    {
      type: "message.deferred",
      timestamp: clock.now().toISOString(),
      data: {
        ...message,
        attempts: 1,
        detail: "450 4.2.0 Later",
        smtp_code: 450,
        enhanced_code: "4.2.0",
        next_attempt_at: later.toISOString(),
      },
    },
  ]);
  await tell(workspaceId, id, { attempts: 2 });
  const complaint = { feedbackType: "abuse", provider: "example.net" };
  await tell(workspaceId, id, {
    status: "complained",
    attempts: null,
    code: null,
    enhancedCode: null,
    complaint,
  });
  const delivered = { ...message, attempts: 2, detail: "250 OK" };
  expect(await announced()).toMatchObject([
    { type: "message.delivered", data: { ...delivered, smtp_code: 250, enhanced_code: "2.0.0" } },
    { type: "message.complained", data: { ...delivered, feedback_type: "abuse", provider: "example.net" } },
  ]);
  await tell(workspaceId, await accepted(scene), {
    status: "bounced",
    classification: { type: "hard", category: "NoEmail" },
    isAddressFault: true,
  });
  await tell(workspaceId, await accepted(scene), { status: "failed", detail: "Given up" });
  await tell(workspaceId, await accepted(scene), { status: "suppressed", detail: "On a list" });
  await tell(workspaceId, await accepted(scene), { status: "cancelled" });
  await tell(workspaceId, await accepted(scene, { source: "platform" }), {});
  expect(await announced()).toMatchObject([
    { type: "message.bounced", data: { bounce_type: "hard", category: "NoEmail" } },
    { type: "message.failed", data: { detail: "Given up" } },
    { type: "message.suppressed", data: { detail: "On a list" } },
  ]);
});

test("a batch of outcomes costs one query of webhooks and one insert", async () => {
  const scene = await newScene();
  const { workspaceId, announced } = scene;
  const ids = [await accepted(scene), await accepted(scene)];
  const outcomes = ids.map((messageId) => outcomeOf(workspaceId, messageId, {}));
  await db.transaction((tx) =>
    recordOutcomes(tx, outcomes, async (_tx, moved) => {
      const counted = countStatements(tx);
      await announceMoved(counted, moved);
      expect(counted.statements).toBe(2);
    }),
  );
  expect((await announced()).map(({ data }) => data.message_id)).toEqual(ids.toSorted());
});

/** Records outcomes and counts the statements. */
function countStatements(tx: Queryable) {
  const counting = {
    statements: 0,
    rows: <Row>(...given: Parameters<Queryable["rows"]>) => {
      counting.statements += 1;
      return tx.rows<Row>(...given);
    },
    row: <Row>(...given: Parameters<Queryable["row"]>) => {
      counting.statements += 1;
      return tx.row<Row>(...given);
    },
    run: (...given: Parameters<Queryable["run"]>) => {
      counting.statements += 1;
      return tx.run(...given);
    },
  };
  return counting;
}

test.each([[{}], [{ headers: { "Idempotency-Key": "one" } }]])(
  "a message that is suppressed when it is accepted is announced, with %j",
  async (options) => {
    const { workspaceId, call, announced } = await newScene();
    await verifyShop(db, workspaceId);
    await db.run(
      sql`delete from sending_domains where workspace_id <> ${workspaceId} and domain = 'shop.test'`,
    );
    const { id } = (await call("POST", "/suppression-lists", { name: "Ours" })).body.data;
    await call("POST", `/suppression-lists/${id}/entries`, { entries: "ada@example.net" });
    const send = (to: string) =>
      call(
        "POST",
        "/emails/send",
        { to, subject: "Hi", body: "A line.", from_email: "news@shop.test" },
        options,
      );
    const { status, body } = await send("ada@example.net");
    expect(status, body.error).toBe(201);
    const [one, ...others] = await announced();
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      type: "message.suppressed",
      timestamp: clock.now().toISOString(),
      data: { message_id: body.data.id, to: "ada@example.net", source: "api", attempts: 0 },
    });
  },
);

test("opens, clicks and unsubscribes are announced", async () => {
  const { workspaceId, announced } = await newScene();
  const deliveredAt = new Date(clock.now().getTime() - 3_600_000);
  const { mails, campaignId, listId } = await sentCampaign(db, workspaceId, {
    base: service.url,
    deliveredAt,
  });
  const [mail] = mails;
  if (mail === undefined) throw new Error("no mail");
  await visit(mail.links.pixel);
  await visit(mail.links.tracked(0));
  const message = { message_id: mail.messageId, to: mail.email, source: "campaign", origin_id: campaignId };
  const arrived: Body[] = [];
  await eventually("open and click", async () => {
    arrived.push(...(await announced()));
    return arrived.length === 2;
  });
  expect(arrived).toMatchObject([
    { type: "message.opened", data: { ...message, is_machine: false, times: 1 } },
    { type: "message.clicked", data: { ...message, is_machine: false, url: "https://shop.example/" } },
  ]);
  await post(mail.links.unsubscribe);
  await post(mail.links.unsubscribe);
  expect(await announced()).toMatchObject([
    {
      type: "subscriber.unsubscribed",
      data: { email: mail.email, status: "unsubscribed", mailing_list_id: listId },
    },
  ]);
});

test("joins, changes and unsubscribes of subscribers are announced; a change of nothing is not", async () => {
  const { workspaceId, call, announced } = await newScene();
  const [list, other] = [await newList(db, workspaceId, "A"), await newList(db, workspaceId, "B")];
  const members = `/mailing-lists/${list}/subscribers`;
  const { subscriber_id: id } = (await call("POST", members, { email: "ada@example.net" })).body.data;
  const data = { subscriber_id: id, email: "ada@example.net", mailing_list_id: list };
  expect(await announced()).toMatchObject([
    { type: "subscriber.created", data: { ...data, status: "active" } },
  ]);
  await call("POST", `/mailing-lists/${other}/subscribers`, { email: "ada@example.net" });
  expect(await announced()).toMatchObject([{ type: "subscriber.updated", data: { mailing_list_id: other } }]);
  const change = (body: object) => call("PUT", `${members}/${id}`, body);
  expect((await change({ first_name: "Ada" })).status).toBe(200);
  expect((await change({ first_name: "Ada" })).status).toBe(200);
  expect(await announced()).toMatchObject([{ type: "subscriber.updated", data }]);
  await call("PUT", `${members}/${id}/status`, { status: "unsubscribed" });
  await call("PUT", `${members}/${id}/status`, { status: "unsubscribed" });
  await change({ status: "active" });
  expect(await announced()).toMatchObject([
    { type: "subscriber.unsubscribed", data: { ...data, status: "unsubscribed" } },
    { type: "subscriber.updated", data: { ...data, status: "active" } },
  ]);
});

test("a campaign is announced when it is sent, and when a person or the service pauses it", async () => {
  const { workspaceId, call, announced } = await newScene();
  const list = await newList(db, workspaceId);
  await addPeople(db, workspaceId, list, [{ email: "ada@example.net" }]);
  const mail = { name: "June", subject: "Hi", from_email: "news@shop.test", html_content: "<p>Hi</p>" };
  await db.run(sql`delete from sending_domains where domain = 'shop.test'`);
  await verifyShop(db, workspaceId);
  const work = () =>
    advanceDueCampaigns({ db, clock, plans, onCampaignEvents: announceCampaigns }, signal, log);
  const send = async () => {
    const { id } = (await call("POST", "/campaigns", { ...mail, mailing_list_id: list })).body.data;
    const sent = await call("POST", `/campaigns/${id}/send`, { send_now: true });
    expect(sent.status, sent.body.error).toBe(200);
    return id;
  };
  const id = await send();
  await call("POST", `/campaigns/${id}/pause`);
  expect(await announced()).toMatchObject([
    { type: "campaign.paused", data: { campaign_id: id, name: "June", reason: null } },
  ]);
  await call("POST", `/campaigns/${id}/resume`);
  await work();
  const queued = await db.rows<{ id: string }>(
    sql`select id from messages where workspace_id = ${workspaceId}`,
  );
  for (const message of queued) await tell(workspaceId, message.id, {});
  await work();
  expect(await announced()).toMatchObject([
    { type: "message.delivered" },
    { type: "campaign.sent", data: { campaign_id: id, name: "June" } },
  ]);
  const second = await send();
  await db.run(sql`update sending_domains set is_verified = false where workspace_id = ${workspaceId}`);
  await work();
  expect(await announced()).toMatchObject([
    { type: "campaign.paused", data: { campaign_id: second, reason: "sender_not_verified" } },
  ]);
});

test("verification and loss of a sending domain are announced", async () => {
  const { call, announced } = await newScene();
  const { id, domain } = (await call("POST", "/sending-domains", { domain: "acme.example" })).body.data;
  const verify = () => call("POST", `/sending-domains/${id}/verify`);
  await verify();
  expect(await announced()).toEqual([]);
  publish(dns, (await call("GET", `/sending-domains/${id}/dns-status`)).body.data.dns.records);
  await verify();
  await verify();
  expect(await announced()).toMatchObject([{ type: "domain.verified", data: { domain_id: id, domain } }]);
  dns.zone = { example: {} };
  await verify();
  expect(await announced()).toMatchObject([
    { type: "domain.failed", data: { domain_id: id, domain, lost: expect.arrayContaining(["is_verified"]) } },
  ]);
});

test("the loss of a DKIM key is announced; its return does not announce a verified domain", async () => {
  const { call, announced } = await newScene();
  const { id, domain } = (await call("POST", "/sending-domains", { domain: "acme.example" })).body.data;
  const [key] = (await call("GET", "/dkims")).body.data;
  const verifyKey = () => call("POST", `/dkims/${key.id}/verify-dns`);
  publish(dns, (await call("GET", `/sending-domains/${id}/dns-status`)).body.data.dns.records);
  await call("POST", `/sending-domains/${id}/verify`);
  await verifyKey();
  expect(await announced()).toMatchObject([{ type: "domain.verified" }]);
  const host = `${key.selector}._domainkey.${domain}`;
  const published = dns.zone[host];
  dns.zone[host] = "servfail";
  await verifyKey();
  expect(await announced()).toEqual([]);
  delete dns.zone[host];
  await verifyKey();
  await verifyKey();
  expect(await announced()).toMatchObject([
    { type: "domain.failed", data: { domain_id: id, domain, lost: ["dkim_verified"] } },
  ]);
  if (published !== undefined) dns.zone[host] = published;
  expect((await verifyKey()).body.data.verified).toBe(true);
  expect(await announced()).toEqual([]);
});

test("listing and delisting in a blacklist are announced", async () => {
  const { call, announced } = await newScene();
  const zones = readZones({
    replace: true,
    zones: [{ name: "a.test", types: ["ip4", "ip6", "domain"], description: "A list", self_test: null }],
  });
  const checker = createChecker({ resolver: createZonesResolver([dns.address]), zones, clock, keptMs: 0 });
  const deps = {
    db,
    clock,
    plans,
    checker,
    sendPlatformMail: createPlatformMail("posthaste@mail.posthaste.test", clock),
    onListingChanged: announceListing,
  };
  const target = "8.4.2.1";
  const { id } = (await call("POST", "/blacklist/monitors", { target, frequency_minutes: 60 })).body.data;
  const run = async (isListed: boolean) => {
    dns.zone = { "*.a.test": "nxdomain", ...(isListed && { "1.2.4.8.a.test": { A: ["127.0.0.2"] } }) };
    clock.advance(3_600_000);
    await runDueMonitors(deps, signal, log);
    return announced();
  };
  const data = { monitor_id: id, target, zones: ["a.test"] };
  expect(await run(false)).toEqual([]);
  expect(await run(true)).toMatchObject([{ type: "blacklist.listed", data }]);
  expect(await run(true)).toEqual([]);
  expect(await run(false)).toMatchObject([{ type: "blacklist.delisted", data }]);
});

test("the end of an import is announced, and no event of its subscribers", async () => {
  const { workspaceId, call, announced } = await newScene();
  const list = await newList(db, workspaceId);
  const runner = await startRunner({
    database: db,
    dataDir,
    log,
    handlers: {
      [IMPORT_JOB]: importHandler({ db, clock, plans }),
      [EXPORT_JOB]: exportHandler({ db, clock }),
    },
    recurring: [],
    onEnded: createJobReaction(clock),
  });
  const form = new FormData();
  form.set("csvFile", new Blob(["Email\nada@example.net\nbob@example.net\n"]), "people.csv");
  const started = await call("POST", `/mailing-lists/${list}/subscribers/import-async`, form);
  expect(started.status, started.body.error).toBe(202);
  const arrived: Body[] = [];
  await eventually("the end of the job", async () => {
    arrived.push(...(await announced()));
    return arrived.length > 0;
  });
  await runner.stop();
  expect(arrived).toMatchObject([
    {
      type: "job.completed",
      data: { job_id: started.body.data.job_id, job_type: IMPORT_JOB, status: "completed", processed: 2 },
    },
  ]);
});

test("abuse of a sign-up form is announced", async () => {
  const { workspaceId, call, announced } = await newScene();
  const list = await newList(db, workspaceId);
  await call("PUT", `/mailing-lists/${list}/signup-form`, { is_active: true });
  const refusal = { workspaceId, mailingListId: list, network: "192.0.2.1", now: clock.now() };
  const deps = { db, log, onFormAbused: announceFormAbuse };
  for (const reason of ["network", "list", "list"] as const)
    await recordRefusedSignup(deps, { ...refusal, reason });
  const data = {
    mailing_list_id: list,
    reason: "list",
    since: clock.now().toISOString(),
    refused_last_hour: 2,
  };
  expect(await announced()).toMatchObject([{ type: "form.abused", data }]);
});

test("a received mail is announced with a bounded text, and with where the rest is", async () => {
  const { workspaceId, announced } = await newScene();
  const announceReceived = createReceivedReaction("https://mail.example.com");
  const stored = {
    id: newId(),
    route_id: newId(),
    keep: true,
    webhook: true,
    mail_from: "ada@example.net",
    rcpt_to: "support+7@shop.test",
    remote_ip: "192.0.2.1",
    helo: "mx.example.net",
    bytes: 100_000,
    received_at: clock.now(),
    spam_score: 1.5,
    is_spam: false,
  };
  const raw = Buffer.from(
    `From: Ada <ada@example.net>\r\nSubject: Hi\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n${"x".repeat(40_000)}\r\n${"--b\r\nContent-Type: text/csv; name=a.csv\r\n\r\n1\r\n".repeat(120)}--b--\r\n`,
  );
  const read = await readReceivedMail(raw, "ada@example.net");
  const mail = { ...read, attachments: read.attachments.map((one) => ({ id: newId(), ...one })) };
  const news = { mail, inReplyTo: null, ownMessage: null, authentication: null };
  await db.transaction((tx) => announceReceived(tx, { workspaceId, stored, read: news }));
  const url = `https://mail.example.com/api/v1/received-emails/${stored.id}`;
  const [event] = await announced();
  expect(event).toMatchObject({
    type: "email.received",
    data: {
      received_email_id: stored.id,
      url,
      recipient: "support+7@shop.test",
      from: { email: "ada@example.net", name: "Ada" },
      subject: "Hi",
      text: "x".repeat(32_000),
      is_text_cut: true,
      attachment_count: 120,
    },
  });
  const attachments = event?.data["attachments"] as readonly unknown[];
  expect(attachments).toHaveLength(100);
  expect(attachments[0]).toMatchObject({ url: `${url}/attachments/${mail.attachments[0]?.id}` });
  // A mail that is not kept has nothing to fetch; an unreadable one has no content.
  await db.transaction((tx) =>
    announceReceived(tx, { workspaceId, stored: { ...stored, keep: false }, read: null }),
  );
  expect(await announced()).toMatchObject([{ data: { url: null, from: null, text: null, attachments: [] } }]);
});

test("the tests above saw every event of the catalogue", () => {
  expect([...seen].toSorted()).toEqual([...eventTypes].toSorted());
});

test("a rolled-back transaction announces nothing", async () => {
  const scene = await newScene();
  const id = await accepted(scene);
  const broken = db.transaction(async (tx) => {
    await announceCampaigns(tx, [
      {
        workspaceId: scene.workspaceId,
        campaignId: id,
        name: "x",
        became: "sent",
        reason: null,
        time: clock.now(),
      },
    ]);
    throw new Error("no");
  });
  await expect(broken).rejects.toThrow("no");
  expect(await scene.announced()).toEqual([]);
});

test("a webhook that is inactive, deleted, of another workspace or for other events gets nothing", async () => {
  const [scene, other] = [await newScene({ listens: false }), await newScene()];
  const { workspaceId, call, announced } = scene;
  const add = async (events: string[]) =>
    (await call("POST", "/webhooks", { url: "https://hooks.example.com/", events })).body.data.id;
  await add(["message.bounced"]);
  const off = await add(["message.delivered"]);
  const gone = await add(["message.delivered"]);
  await call("PATCH", `/webhooks/${off}`, { is_active: false });
  await call("DELETE", `/webhooks/${gone}`);
  await tell(workspaceId, await accepted(scene), {});
  expect([await announced(), await other.announced()]).toEqual([[], []]);
  await add(["message.delivered", "message.opened"]);
  await add(["*"]);
  await tell(workspaceId, await accepted(scene), {});
  expect((await announced()).map(({ type }) => type)).toEqual(["message.delivered", "message.delivered"]);
  expect(await other.announced()).toEqual([]);
});

test("without webhooks nothing is written, and a batch of outcomes costs one more query", async () => {
  const scene = await newScene({ listens: false });
  const asked: string[] = [];
  const ids = await Promise.all(Array.from({ length: 20 }, () => accepted(scene)));
  await db.transaction(async (tx) => {
    const counting = {
      ...tx,
      rows: <Row>(...statement: Parameters<typeof tx.rows>) => {
        if (statement[0].text.includes("webhook")) asked.push(statement[0].text);
        return tx.rows<Row>(...statement);
      },
    };
    const outcomes = ids.map((messageId) => ({
      workspaceId: scene.workspaceId,
      messageId,
      status: "delivered" as const,
      time: clock.now(),
      attempts: 1,
      nextAttemptAt: null,
      detail: "",
      mxHost: null,
      code: 250,
      enhancedCode: null,
      isAddressFault: false,
      ...unclassified,
    }));
    await recordOutcomes(counting, outcomes, createReactions(clock));
  });
  expect(asked).toHaveLength(1);
  expect(await scene.announced()).toEqual([]);
});
