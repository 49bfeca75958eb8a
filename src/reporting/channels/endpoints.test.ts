import { expect, test } from "vitest";
import { reportScene } from "../../../test/support/report-scene.ts";
import { startService } from "../../../test/support/service.ts";

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
  const none = { open_count: 0, click_count: 0, open_rate: 0, click_rate: 0, status: "draft", sent_at: null };
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
  await call("DELETE", `/campaigns/${older.body.data.id}`);
  expect((await get("/stats/campaigns")).stats[1]).toMatchObject({
    name: "Older",
    status: "deleted",
    total_messages: 2,
  });
});
