import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import type { CallApi } from "#test/support/api-caller.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign, verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database: db, workspaceId, clock } = service;
await verifyShop(db, workspaceId);
const list = await newList(db, workspaceId);
const added = await call("POST", `/mailing-lists/${list}/subscribers`, { email: "ada@people.test" });
expect(added.status, added.body.error).toBe(201);

const editor = await service.newPerson(["campaigns:read", "campaigns:write"]);
const sender = await service.newPerson([
  "campaigns:read",
  "campaigns:write",
  "campaigns:send",
  "notices:write",
]);

const draft = () => newCampaign(db, workspaceId, list);
const ask = (id: string, body?: object, by: CallApi = editor.call) =>
  by("POST", `/campaigns/${id}/request-approval`, body);
async function noticesFor(by: CallApi, id: string) {
  const { body } = await by("GET", "/notices");
  return body.data.notices.filter((one: { resource: { id: string } }) => one.resource.id === id);
}

test("someone who may write and not send asks, and those who may send get a notice", async () => {
  const id = await draft();
  expect((await editor.call("POST", `/campaigns/${id}/send`)).status).toBe(403);
  const answer = await ask(id, { message: " Please look at the price. " });
  expect([answer.status, answer.body.data]).toMatchObject([
    200,
    {
      id,
      status: "draft",
      approval_requested_at: clock.now().toISOString(),
      approval_requested_by: expect.stringMatching(/./),
      approval_message: "Please look at the price.",
    },
  ]);
  const by = answer.body.data.approval_requested_by;
  expect(await noticesFor(sender.call, id)).toMatchObject([
    {
      kind: "campaign_approval_requested",
      severity: "info",
      since: clock.now().toISOString(),
      title: `${by} asks for approval of June`,
      message: "Please look at the price.",
      operation: "sendCampaign",
    },
  ]);
  expect(await noticesFor(editor.call, id)).toEqual([]);
  const { body } = await call("GET", "/audit-events?operation=requestApproval");
  expect(body.data[0]).toMatchObject({ actor: { name: by }, resource: { id, name: "June" } });
});

test("asking again changes nothing until the draft is changed", async () => {
  const id = await draft();
  const first = await ask(id, { message: "One" });
  clock.advance(5_000);
  const second = await ask(id, { message: "Two" });
  expect([second.status, second.body.data]).toEqual([200, first.body.data]);
  const [notice] = await noticesFor(sender.call, id);
  expect((await sender.call("POST", `/notices/${notice.id}/dismiss`)).status).toBe(200);
  expect(await noticesFor(sender.call, id)).toEqual([]);
  const same = await editor.call("PATCH", `/campaigns/${id}`, { subject: first.body.data.subject });
  expect(same.body.data).toEqual(first.body.data);
  const changed = await editor.call("PATCH", `/campaigns/${id}`, { subject: "Other news" });
  expect(changed.body.data).toMatchObject({ approval_requested_at: null, approval_message: null });
  const third = await ask(id, {});
  expect(third.body.data).toMatchObject({
    approval_requested_at: clock.now().toISOString(),
    approval_message: null,
  });
  expect(await noticesFor(sender.call, id)).toHaveLength(1);
});

test.each([
  ["sent", {}],
  ["scheduled", { scheduled_at: "2999-01-01T00:00:00Z" }],
])("a request ends when the campaign is %s, and does not return with the draft", async (_how, order) => {
  const id = await draft();
  await ask(id);
  expect(await noticesFor(sender.call, id)).toHaveLength(1);
  const sent = await sender.call("POST", `/campaigns/${id}/send`, order);
  expect([sent.status, sent.body.data?.approval_requested_at], sent.body.error).toEqual([200, null]);
  expect(await noticesFor(sender.call, id)).toEqual([]);
  if (!("scheduled_at" in order)) return;
  expect((await sender.call("POST", `/campaigns/${id}/unschedule`)).status).toBe(200);
  expect(await noticesFor(sender.call, id)).toEqual([]);
});

test("what could not be sent cannot be approved, and nothing changes", async () => {
  const states: [string, number, string][] = [];
  const refuse = async (id: string) => {
    const { status, body } = await ask(id);
    states.push([body.error, status, body.code]);
    const { data } = (await call("GET", `/campaigns/${id}`)).body;
    expect(data.approval_requested_at).toBe(null);
  };
  await refuse(await newCampaign(db, workspaceId, list, { html_content: null }));
  await refuse(await newCampaign(db, workspaceId, await newList(db, workspaceId)));
  await refuse(await newCampaign(db, workspaceId, list, { from_email: "a@elsewhere.test" }));
  const running = await draft();
  await db.run(sql`update campaigns set status = 'sending' where id = ${running}`);
  await refuse(running);
  expect(states).toEqual([
    [expect.stringContaining("html_content or text_content"), 400, "VALIDATION_ERROR"],
    [expect.stringContaining("no recipients"), 400, "BAD_REQUEST"],
    [expect.stringContaining("no longer verified"), 403, "EMAIL_NOT_VERIFIED"],
    [expect.stringContaining("is sending: approval can only be asked for a draft"), 409, "CONFLICT"],
  ]);
});

test("a long message, another workspace's campaign and a reader are refused", async () => {
  const id = await draft();
  const long = await ask(id, { message: "x".repeat(1_001) });
  expect([long.status, long.body.details?.[0].field]).toEqual([400, "message"]);
  const other = await service.newWorkspace();
  for (const one of [id, newId()]) {
    const answer = await call("POST", `/campaigns/${one}/request-approval`, {}, { key: other.key });
    expect(answer.status).toBe(404);
  }
  const reader = await service.newPerson(["campaigns:read"]);
  expect((await ask(id, {}, reader.call)).body.required_scopes).toEqual(["campaigns:write"]);
  expect(await noticesFor(sender.call, id)).toEqual([]);
});

test("of many requests at once each gets the same answer", async () => {
  const id = await draft();
  const answers = await Promise.all([1, 2, 3, 4].map((count) => ask(id, { message: `No. ${count}` })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body.data.approval_message)).size).toBe(1);
});
