import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { recordEngagements } from "#messages/record-engagement.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();

test("messages of the API and of submission count for the key that sent them", async () => {
  const { call, get, send } = await reportScene(service);
  const { body } = await call("POST", "/api-keys", { name: "Shop", permissions: ["emails:send"] });
  const { id } = body.data;
  const doomed = await call("POST", "/api-keys", { name: "Old shop", permissions: ["emails:send"] });
  const gone = doomed.body.data.id;
  await call("DELETE", `/api-keys/${gone}/permanent`);
  await send("delivered", { message: { originId: id } });
  await send("complained", { message: { originId: id } });
  await send("bounced", { message: { originId: id } });
  await send("failed", { message: { originId: gone } });
  await send("queued", { message: { originId: id, source: "smtp" } });
  const none = { total_messages: 0, delivered_count: 0, failed_count: 0, bounced_count: 0 };
  expect(await get("/stats/api")).toEqual({
    stats: [
      { ...none, id: gone, name: "Old shop", total_messages: 1, failed_count: 1 },
      { ...none, id, name: "Shop", total_messages: 3, delivered_count: 2, bounced_count: 1 },
    ],
    pagination: { page: 1, limit: 50, total: 2, total_pages: 1 },
  });
  expect((await get("/stats/smtp")).stats).toEqual([{ ...none, id, name: "Shop", total_messages: 1 }]);
});

test("every campaign and every autoresponder has a row, newest first, those that sent nothing included", async () => {
  const { call, get, send } = await reportScene(service);
  const sender = await call("POST", "/sending-domains", { domain: "acme.example" });
  await service.database.run({
    text: "update sending_domains set is_verified = true where id = $1",
    values: [sender.body.data.id],
  } as never);
  const list = await call("POST", "/mailing-lists", { name: "Readers" });
  const campaign = { subject: "News", from_email: "news@acme.example", mailing_list_id: list.body.data.id };
  const older = await call("POST", "/campaigns", { ...campaign, name: "Older" });
  const newer = await call("POST", "/campaigns", { ...campaign, name: "Newer" });
  await send("delivered", { message: { source: "campaign", originId: older.body.data.id } });
  await send("bounced", { message: { source: "campaign", originId: older.body.data.id } });
  const { stats, pagination } = await get("/stats/campaigns");
  const none = {
    open_count: 0,
    click_count: 0,
    open_rate: 0,
    click_rate: 0,
    status: "draft",
    sent_at: null,
    is_deleted: false,
  };
  expect(stats).toEqual([
    {
      ...none,
      id: newer.body.data.id,
      name: "Newer",
      total_messages: 0,
      delivered_count: 0,
      failed_count: 0,
      bounced_count: 0,
    },
    {
      ...none,
      id: older.body.data.id,
      name: "Older",
      total_messages: 2,
      delivered_count: 1,
      failed_count: 0,
      bounced_count: 1,
    },
  ]);
  expect(pagination).toMatchObject({ total: 2 });
  expect(await get("/stats/campaigns?limit=1&page=2")).toMatchObject({
    stats: [{ name: "Older" }],
    pagination: { page: 2, limit: 1, total: 2, total_pages: 2 },
  });
  expect(await get("/stats/autoresponders")).toMatchObject({ stats: [], pagination: { total: 0 } });
});

test("of what is deleted the reports keep what had messages: its name, its end and its begin", async () => {
  const { workspaceId, call, get, send } = await reportScene(service);
  const { clock, database } = service;
  await verifyShop(database, workspaceId);
  const begun = clock.now();
  const states = [
    ["draft", null],
    ["cancelled", null],
    ["sent", begun],
    ["paused", begun],
  ] as const;
  for (const [status, sentAt] of states) {
    const id = await newCampaign(database, workspaceId, null, { name: status });
    await database.run(sql`update campaigns set status = ${status}, sent_at = ${sentAt} where id = ${id}`);
    if (sentAt !== null) await send("delivered", { message: { source: "campaign", originId: id } });
    expect((await call("DELETE", `/campaigns/${id}`)).status).toBe(200);
  }
  const list = await newList(database, workspaceId);
  const written = { trigger: { type: "subscribed" }, steps: [{ subject: "Hi", html_content: "<p>Hi</p>" }] };
  for (const name of ["Silent", "Welcome"]) {
    const body = { name, mailing_list_id: list, from_email: "news@shop.test", ...written };
    const { id } = (await call("POST", "/autoresponders", body)).body.data;
    if (name === "Welcome") await send("delivered", { message: { source: "autoresponder", originId: id } });
    expect((await call("DELETE", `/autoresponders/${id}`)).status).toBe(200);
  }
  const one = { is_deleted: true, total_messages: 1, delivered_count: 1 };
  const sent_at = begun.toISOString();
  expect(await get("/stats/campaigns")).toMatchObject({
    stats: [
      { ...one, name: "paused", status: "cancelled", sent_at },
      { ...one, name: "sent", status: "sent", sent_at },
    ],
    pagination: { total: 2 },
  });
  expect(await get("/stats/autoresponders")).toMatchObject({
    stats: [{ ...one, name: "Welcome", status: "inactive" }],
    pagination: { total: 1 },
  });
});

test("messages that were suppressed or cancelled are in no total", async () => {
  const { workspaceId, get, send } = await reportScene(service);
  const originId = await newCampaign(service.database, workspaceId, null);
  for (const status of ["delivered", "failed", "queued", "suppressed", "cancelled", "cancelled"] as const) {
    await send(status, { message: { source: "campaign", originId } });
  }
  expect((await get("/stats/campaigns")).stats).toMatchObject([
    { total_messages: 3, delivered_count: 1, failed_count: 1, bounced_count: 0 },
  ]);
});

test("no rate is above 1 when what was opened comes back", async () => {
  const { workspaceId, call, get, send, tell } = await reportScene(service);
  const { clock, database } = service;
  const sender = await call("POST", "/verified-senders", { email: "news@acme.example" });
  await database.run(sql`update verified_senders set is_verified = true where id = ${sender.body.data.id}`);
  const { id } = (
    await call("POST", "/campaigns", { name: "N", subject: "N", from_email: "news@acme.example" })
  ).body.data;
  const message = { source: "campaign", originId: id } as const;
  const kept = await send("delivered", { message });
  const returned = await send("delivered", { message });
  const opened = [kept, returned].map((messageId) => ({
    workspaceId,
    messageId,
    kind: "opened" as const,
    time: clock.now(),
    times: 1,
    linkIndex: null,
    target: null,
    userAgent: "a person's",
    machineSign: null,
  }));
  await database.transaction((tx) => recordEngagements(tx, opened, async () => {}));
  await tell(returned, "bounced", clock.now());
  expect((await get("/stats/campaigns")).stats[0]).toMatchObject({
    delivered_count: 1,
    open_count: 2,
    open_rate: 1,
  });
  expect((await get("/deliverability")).overall_metrics).toMatchObject({ delivered: 1, open_rate: 1 });
  expect(await get("/dashboard")).toMatchObject({ unique_opens: 2, unique_opens_percent: 100 });
});
