import sql from "sql-template-tag";
import { beforeAll, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let receipt: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  receipt = await template({
    subject: "Order {{ order.number }}",
    html_content:
      "<p>Hi {{ first_name | default: 'you' }} ({{ email }})</p>{% for one in order.items %}<p>{{ one.name }}: {{ one.price }}</p>{% endfor %}",
  });
});

async function template(change: object): Promise<string> {
  const { status, body } = await call("POST", "/templates", { name: "Receipt", subject: "x", ...change });
  expect(status, body.error).toBe(201);
  return body.data.id;
}
const mail = (change: object) => ({ to: ["Ada <ada@example.com>"], from_email: "shop@shop.test", ...change });
const order = { number: 7, items: [{ name: "Tea & <cake>", price: "3 €" }] };
const stored = async (id: string) =>
  database.row<{ subject: string; html: string; text: string | null }>(sql`
    select m.subject, c.html, c.text from messages m join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    where m.id = ${id}`);

test("a mail has the subject and the bodies of the template with the values of the request, escaped", async () => {
  const variables = { order, first_name: "M\r\nBcc: x@x.test" };
  const { status, body } = await call("POST", "/emails", mail({ template: { id: receipt, variables } }));
  expect([status, body.error]).toEqual([201, undefined]);
  expect(await stored(body.data.id)).toEqual({
    subject: "Order 7",
    html: "<p>Hi M\r\nBcc: x@x.test (ada@example.com)</p><p>Tea &amp; &lt;cake&gt;: 3 €</p>",
    text: expect.stringMatching(/^Hi M\r?\nBcc: x@x.test \(ada@example.com\)\n\nTea & <cake>: 3 €\s*$/),
  });
});

test("a version that was named is sent, although a newer one exists", async () => {
  const id = await template({ html_content: "<p>old</p>" });
  await call("PATCH", `/templates/${id}`, { html_content: "<p>new</p>" });
  for (const [version, html] of [
    [1, "<p>old</p>"],
    [2, "<p>new</p>"],
    [null, "<p>new</p>"],
  ]) {
    const { body } = await call("POST", "/emails", mail({ subject: "Own", template: { id, version } }));
    expect(await stored(body.data.id)).toMatchObject({ subject: "Own", html });
  }
});

test("a subject beside a template replaces its own, and has the values too", async () => {
  const variables = { order, unsubscribe_url: "x" };
  const send = (subject: string) =>
    call("POST", "/emails", mail({ subject, template: { id: receipt, variables } }));
  const { body } = await send("Again: {{ order.number }}{{ missing }}, {{ email }}");
  expect((await stored(body.data.id))?.subject).toBe("Again: 7, ada@example.com");
  for (const [subject, message] of [
    ["{% if a %}", "subject, line 1, column 1: {% if %} has no {% endif %}."],
    ["{{ missing }}", expect.stringMatching(/^subject/)],
  ]) {
    const refused = await send(String(subject));
    expect([refused.status, refused.body.details?.[0].message]).toEqual([400, message]);
  }
  // Without a template it is no template.
  const plain = await call("POST", "/emails", mail({ subject: "{{ order }}", text: "x" }));
  expect((await stored(plain.body.data.id))?.subject).toBe("{{ order }}");
});

test("a batch renders each mail with its own values, and refuses a wrong one alone", async () => {
  const one = (number: number) => mail({ template: { id: receipt, variables: { order: { number } } } });
  const { body } = await call("POST", "/emails/batch", {
    emails: [one(1), mail({ template: { id: newId() } }), mail({ subject: "Plain", text: "x" }), one(2)],
  });
  expect(body.data).toMatchObject({ accepted: 3, refused: 1 });
  const [first, wrong, plain, last] = body.data.results;
  expect(wrong.details).toEqual([
    { field: "template.id", message: "template.id is no template of this workspace" },
  ]);
  const subjects = await Promise.all([first, plain, last].map(({ data }) => stored(data.id)));
  expect(subjects.map((found) => found?.subject)).toEqual(["Order 1", "Plain", "Order 2"]);
});

test("a key that may send needs no other permission", async () => {
  const key = await service.newKey(["emails:send"]);
  expect((await call("POST", "/emails", mail({ template: { id: receipt } }), { key })).status).toBe(201);
});

test.each([
  ["html beside it", { html: "<p>x</p>" }, {}, "html comes from the template: leave one of them out"],
  [
    "a version that is not there",
    {},
    { version: 99 },
    "template.id is no template of this workspace, or version 99 is none of its last 100, which are kept",
  ],
  [
    "deep variables",
    {},
    { variables: JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`) },
    "template.variables must be nested at most 8 levels deep",
  ],
  ["a huge version", {}, { version: 3e9 }, "template.version must be at most 2147483647 or null"],
  ["variables in a list", {}, { variables: [] }, "template.variables must be an object or null"],
  ["a misspelled field", {}, { varaibles: {} }, expect.stringContaining("varaibles")],
])("%s is refused, and nothing is sent", async (_what, change, more, message) => {
  const { status, body } = await call(
    "POST",
    "/emails",
    mail({ ...change, template: { id: receipt, ...more } }),
  );
  expect([status, body.details[0].message]).toEqual([400, message]);
});

test("without a template a mail needs a subject", async () => {
  const { status, body } = await call("POST", "/emails", mail({ text: "x" }));
  expect([status, body.details]).toEqual([400, [{ field: "subject", message: "subject is required" }]]);
});

test("a template with an unsubscribe link needs its address, which only mail to lists has of its own", async () => {
  const id = await template({ html_content: '<a href="{{ unsubscribe_url }}">Leave</a>' });
  const refused = await call("POST", "/emails", mail({ template: { id } }));
  expect(refused.body.details[0].field).toBe("template.variables.unsubscribe_url");
  const variables = { unsubscribe_url: "https://shop.test/leave?a=1&b=2" };
  const { body } = await call("POST", "/emails", mail({ template: { id, variables } }));
  expect((await stored(body.data.id))?.html).toBe('<a href="https://shop.test/leave?a=1&amp;b=2">Leave</a>');
});

test("a layout is no mail", async () => {
  const id = await template({ kind: "layout", subject: null, html_content: "{{ content }}" });
  const { body } = await call("POST", "/emails", mail({ template: { id } }));
  expect(body.details[0].message).toBe("template.id is a layout: name a template in it");
});
