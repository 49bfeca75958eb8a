import { expect, test } from "vitest";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { recordEngagements, recordUnsubscribed } from "#messages/record-engagement.ts";
import { publish } from "#test/support/publish.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { startOfMonth } from "./endpoints.ts";

const service = await startService({ zone: { example: {} } });
const { database: db, clock, dns } = service;
clock.set(new Date("2026-06-15T12:07:00Z"));

interface Step {
  readonly key: string;
  readonly completed: boolean;
  readonly completed_at: string | null;
}

test("a workspace without mail has noughts, and is told what to set up", async () => {
  const { get } = await reportScene(service);
  const dashboard = await get("/dashboard");
  expect(dashboard).toMatchObject({ total: 0, delivered: 0, queued: 0, delivered_percent: 0 });
  expect(dashboard.setup_checklist).toMatchObject({ completed: 1, total: 8 });
  expect(dashboard.setup_checklist.items.map(({ key, completed }: Step) => [key, completed])).toEqual([
    ["verify_domain", false],
    ["publish_dkim", false],
    ["publish_dmarc", false],
    ["create_api_key", true],
    ["create_mailing_list", false],
    ["import_subscribers", false],
    ["send_first_email", false],
    ["send_first_campaign", false],
  ]);
});

test("percentages are of all messages, and of the delivered for what recipients did", async () => {
  const { workspaceId, get, send } = await reportScene(service);
  const opened = await send("delivered");
  const left = await send("delivered");
  await send("complained");
  await send("bounced");
  await send("failed");
  await send("deferred");
  await send("queued");
  await send("cancelled");
  const open = {
    workspaceId,
    messageId: opened,
    kind: "opened",
    time: clock.now(),
    times: 3,
    linkIndex: null,
    target: null,
    userAgent: "a person's",
    machineSign: null,
  } as const;
  await db.transaction((tx) => recordEngagements(tx, [open], async () => {}));
  await db.transaction((tx) => recordUnsubscribed(tx, workspaceId, left, clock.now()));
  const expected = {
    total: 7,
    delivered: 3,
    delivered_percent: 42.86,
    bounced: 1,
    bounced_percent: 14.29,
    failed: 1,
    failed_percent: 14.29,
    suppressed: 0,
    suppressed_percent: 0,
    queued: 2,
    queued_percent: 28.57,
    complained: 1,
    complained_percent: 33.33,
    unsubscribed: 1,
    unsubscribed_percent: 33.33,
    unique_opens: 1,
    unique_opens_percent: 33.33,
    unique_clicks: 0,
    unique_clicks_percent: 0,
  };
  const noted = await get("/dashboard");
  expect(noted).toMatchObject({ ...expected, stats: expected });
  while ((await applyDeltas(db, 1_000)) > 0);
  expect(await get("/dashboard")).toEqual(noted);
});

test("the month is that of the workspace's time zone", async () => {
  const { workspaceId, get, send } = await reportScene(service);
  await changeWorkspace(db, workspaceId, { timezone: "Pacific/Auckland" }, { clock, plans });
  await send("delivered", { acceptedAt: new Date("2026-05-31T11:59:00Z") });
  await send("delivered", { acceptedAt: new Date("2026-05-31T12:01:00Z") });
  expect(await get("/dashboard")).toMatchObject({
    delivered: 1,
    period_start: "2026-05-31T12:00:00.000Z",
  });
});

test("a month begins at midnight where there is one, and else at the first moment of its day", () => {
  const start = (time: string, zone: string) => startOfMonth(new Date(time), zone).toISOString();
  expect(start("2026-03-31T23:00:00Z", "Asia/Kathmandu")).toBe("2026-03-31T18:15:00.000Z");
  // On 1 October 2017 clocks in Asuncion skipped the hour after midnight.
  expect(start("2017-10-05T00:00:00Z", "America/Asuncion")).toBe("2017-10-01T04:00:00.000Z");
});

test("steps are done when they were taken, at the moment of the first time", async () => {
  const { call, get, send } = await reportScene(service);
  const list = await call("POST", "/mailing-lists", { name: "Readers" });
  await call("POST", `/mailing-lists/${list.body.data.id}/subscribers`, { email: "ada@example.org" });
  await send("delivered");
  const { setup_checklist } = await get("/dashboard");
  const done = setup_checklist.items.filter(({ completed }: Step) => completed).map(({ key }: Step) => key);
  expect(done).toEqual(["create_api_key", "create_mailing_list", "import_subscribers", "send_first_email"]);
  expect(setup_checklist.items.every((step: Step) => step.completed === (step.completed_at !== null))).toBe(
    true,
  );
  const first = setup_checklist.items.find(({ key }: Step) => key === "send_first_email");
  expect(first.completed_at).toBe(clock.now().toISOString());
});

test("records are published since they were first seen, whatever checks and keys come later; once lost, since they are back", async () => {
  const { call, get } = await reportScene(service);
  const { id, domain } = (await call("POST", "/sending-domains", { domain: "steps.example" })).body.data;
  const [first] = (await call("GET", "/dkims")).body.data;
  const verify = async () => {
    clock.advance(60_000);
    await call("POST", `/sending-domains/${id}/verify`);
    return clock.now().toISOString();
  };
  const published = async () => {
    const { items } = (await get("/dashboard")).setup_checklist;
    const whenOf = (step: string) => items.find(({ key }: Step) => key === step).completed_at;
    return { dkim: whenOf("publish_dkim"), dmarc: whenOf("publish_dmarc") };
  };
  await verify();
  expect(await published()).toEqual({ dkim: null, dmarc: null });
  publish(dns, (await call("GET", `/sending-domains/${id}/dns-status`)).body.data.dns.records);
  const since = await verify();
  const second = (await call("POST", "/dkims", { domain })).body.data;
  publish(dns, [second.dns_record]);
  await verify();
  await call("DELETE", `/dkims/${first.id}`);
  await verify();
  expect(await published()).toEqual({ dkim: since, dmarc: since });
  const { [`_dmarc.${domain}`]: dmarc, [second.dns_host]: dkim, ...rest } = dns.zone;
  dns.zone = rest;
  await verify();
  expect(await published()).toEqual({ dkim: null, dmarc: null });
  dns.zone = { ...rest, [`_dmarc.${domain}`]: dmarc ?? {}, [second.dns_host]: dkim ?? {} };
  const back = await verify();
  expect(await published()).toEqual({ dkim: back, dmarc: back });
});
