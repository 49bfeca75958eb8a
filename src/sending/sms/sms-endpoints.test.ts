import { createSecretKey } from "node:crypto";
import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { SECRET_KEY, startService } from "#test/support/service.ts";
import { receiptKeys, receiptLink } from "./receipt-link.ts";

const service = await startService({ env: { SMS_GATEWAY_URL: "https://:key@sms.test/send#source=Shop" } });
const { call, database, workspaceId, url, clock } = service;
const key = receiptKeys(createSecrets(SECRET_KEY)).signing;
let list: string;

const draft = () => ({
  name: "June",
  subject: "June",
  from_email: "news@shop.test",
  mailing_list_id: list,
  message_type: "sms",
  phone_field_name: "phone",
});
const create = async (change: object): Promise<string> => {
  const { body } = await call("POST", "/campaigns", { ...draft(), ...change });
  return body.data.id;
};
const tell = (address: string, body: unknown) =>
  fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const receipts = () =>
  database.rows(sql`select gateway, gateway_id, workspace_id, message_id, status, detail from sms_receipts`);
const linkOf = (id: string, by = key) => receiptLink({ workspaceId, id }, url, by);

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
  await addPeople(database, workspaceId, list, [
    { email: "ada@example.test", custom_fields: { phone: "+491701234560", zip: "10115" } },
  ]);
  const phone = { field_name: "phone", field_label: "Telephone", field_type: "text" };
  expect((await call("POST", `/mailing-lists/${list}/custom-fields`, phone)).status).toBe(201);
});

test("with a gateway an SMS campaign is sent", async () => {
  const id = await create({ text_content: "Hello" });
  const { status, body } = await call("POST", `/campaigns/${id}/send`);
  expect([status, body.data.status]).toEqual([200, "sending"]);
});

test("an SMS campaign is sent when the month's emails are used up, as it takes none of them", async () => {
  await database.run(sql`update workspaces set plan = 'free' where id = ${workspaceId}`);
  await database.run(sql`
    insert into meters (workspace_id, kind, period_start, used)
    values (${workspaceId}, 'email', date_trunc('month', ${clock.now()}::timestamptz, 'UTC'), 3000)`);
  const send = async (change: object) => {
    const { status, body } = await call("POST", `/campaigns/${await create(change)}/send`);
    return [status, body.code];
  };
  const email = { message_type: "email", phone_field_name: null, text_content: "Hello" };
  expect(await send(email)).toEqual([402, "PLAN_LIMIT_REACHED"]);
  expect(await send({ text_content: "Hello" })).toEqual([200, undefined]);
});

test.each([
  ["email", "email is not a custom field"],
  ["Phone", "Phone is not the name of the list's field: use phone"],
])("a field of the number that cannot be one is refused when it is written: %s", async (name, message) => {
  const { status, body } = await call("POST", "/campaigns", { ...draft(), phone_field_name: name });
  expect([status, body.details]).toEqual([
    400,
    [{ field: "phone_field_name", message: expect.stringContaining(message) }],
  ]);
});

test.each(["nope", "zip"])("a field without any number sends nothing: %s", async (name) => {
  const id = await create({ text_content: "Hello", phone_field_name: name });
  const { status, body } = await call("POST", `/campaigns/${id}/send`);
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "phone_field_name"]);
  expect(body.error).toContain("(defined fields: phone)");
  expect((await call("GET", `/campaigns/${id}`)).body.data.status).toBe("draft");
});

test("when all people with a number are suppressed, an SMS campaign has no recipients", async () => {
  const other = await newList(database, workspaceId);
  await addPeople(database, workspaceId, other, [
    { email: "bob@example.test", custom_fields: { phone: "+491701234561" } },
    { email: "cy@example.test" },
  ]);
  await call("POST", "/suppression-lists", {
    name: "No",
    suppression_scope: "mailing_list",
    mailing_list_id: other,
  }).then(({ body }) =>
    call("POST", `/suppression-lists/${body.data.id}/entries`, { entries: "bob@example.test" }),
  );
  const id = await create({ text_content: "Hello", mailing_list_id: other });
  const { status, body } = await call("POST", `/campaigns/${id}/send`);
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
});

test("without a text it is not, whatever HTML it has", async () => {
  const id = await create({ html_content: "<p>Hello</p>" });
  const { status, body } = await call("POST", `/campaigns/${id}/send`);
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "text_content"]);
});

test("a test of one is refused, and no email is sent in its place", async () => {
  const id = await create({ text_content: "Hello" });
  const { status, body } = await call("POST", `/campaigns/${id}/test`, { emails: ["ada@example.test"] });
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
  expect(await database.rows(sql`select from messages`)).toEqual([]);
});

test("a gateway reports the outcome of a message at its receipt URL, once", async () => {
  const id = newId();
  const address = linkOf(id);
  expect((await tell(address, { status: "failed", detail: "absent" })).status).toBe(204);
  expect((await tell(address, { status: "delivered" })).status).toBe(204);
  expect(await receipts()).toEqual([
    {
      gateway: "http sms.test",
      gateway_id: id,
      workspace_id: workspaceId,
      message_id: id,
      status: "failed",
      detail: "absent",
    },
  ]);
});

test.each(["12345678901234567890", "[-9007199254740992]", "1e400"])(
  "a gateway may say besides what no number keeps, such as its own id: %s",
  async (number) => {
    const id = newId();
    expect((await tell(linkOf(id), `{"id":${number},"status":"delivered"}`)).status).toBe(204);
    expect(await receipts()).toContainEqual(expect.objectContaining({ message_id: id, status: "delivered" }));
  },
);

test.each([
  ["another message's token", (id: string) => linkOf(id).replace(id, newId())],
  ["another workspace's token", (id: string) => linkOf(id).replace(workspaceId, newId())],
  ["a token without its workspace", (id: string) => linkOf(id).replace(`${workspaceId}.`, "")],
  ["a token of another key", (id: string) => linkOf(id, createSecretKey(Buffer.alloc(32)))],
  ["no token", () => `${url}/sms/receipts/`],
  ["a long one", () => `${url}/sms/receipts/${"x".repeat(2_000)}`],
])("%s is not found and changes nothing", async (_, addressOf) => {
  const before = await receipts();
  expect((await tell(addressOf(newId()), { status: "delivered" })).status).toBe(404);
  expect(await receipts()).toEqual(before);
});

test.each([[{}], [{ status: "maybe" }], [[]], ['"delivered"'], [null]])("%j is refused", async (body) => {
  const answer = await tell(linkOf(newId()), body);
  expect(answer.status).toBe(400);
});
