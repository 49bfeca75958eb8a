import { beforeAll, describe, expect, test } from "vitest";
import { newList } from "#test/support/audience.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let list: string;

beforeAll(async () => {
  await verifyShop(database, workspaceId);
  list = await newList(database, workspaceId);
});

const section = (text: string) =>
  `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
const mjmlOf = (text: string) => `<mjml><mj-body>${section(text)}</mj-body></mjml>`;
const designOf = (text: string) => ({ version: 1, blocks: [{ type: "heading", text }] });

async function made(path: string, body: object, key?: string) {
  const answer = await call("POST", path, body, key === undefined ? {} : { key });
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
}
const template = (change: object = {}) =>
  made("/templates", { name: "T", subject: "Hi {{ first_name }}", html_content: "<p>one</p>", ...change });
const campaign = (change: object) =>
  made("/campaigns", { name: "June", from_email: "news@shop.test", mailing_list_id: list, ...change });
const contentOf = (mail: Record<string, unknown>) => {
  const { subject, html_content, text_content, mjml, design, template_id, template_version } = mail;
  return { subject, html_content, text_content, mjml, design, template_id, template_version };
};
const patch = async (id: string, change: object) => {
  const answer = await call("PATCH", `/campaigns/${id}`, change);
  expect(answer.status, answer.body.error).toBe(200);
  return answer.body.data;
};
const refused = async (change: object, options = {}) => {
  const body = { name: "June", from_email: "news@shop.test", subject: "Hi", ...change };
  const { status, body: answer } = await call("POST", "/campaigns", body, options);
  return [status, answer.details?.[0].message ?? answer.required_scopes];
};

describe("a campaign from a template", () => {
  test("is a copy: it names template and version, and a later version changes nothing in it", async () => {
    const { id } = await template({ text_content: "one" });
    const draft = await campaign({ template_id: id });
    const copied = { subject: "Hi {{ first_name }}", html_content: "<p>one</p>", text_content: "one" };
    expect(draft).toMatchObject({
      ...copied,
      template_id: id,
      template_version: 1,
      mjml: null,
      design: null,
    });
    await call("PATCH", `/templates/${id}`, { html_content: "<p>two</p>" });
    expect((await call("GET", `/campaigns/${draft.id}`)).body.data).toMatchObject(copied);
    const { used_by } = (await call("GET", `/templates/${id}`)).body.data;
    expect(used_by).toMatchObject({
      total: 1,
      prevents_deletion: false,
      users: [{ kind: "campaign", id: draft.id }],
    });
    expect(await patch(draft.id, { template_id: id })).toMatchObject({
      html_content: "<p>two</p>",
      template_version: 2,
    });
    expect(await patch(draft.id, { template_version: 1 })).toMatchObject({
      html_content: "<p>one</p>",
      template_version: 1,
    });
    await call("DELETE", `/templates/${id}`);
    expect((await call("GET", `/campaigns/${draft.id}`)).body.data.html_content).toBe("<p>one</p>");
  });

  test("can be read and replaced as a whole, although its template was changed or deleted", async () => {
    const { id } = await template({ html_content: null, mjml: mjmlOf("one") });
    const draft = await campaign({ template_id: id });
    expect(draft.mjml).toBe(mjmlOf("one"));
    await call("DELETE", `/templates/${id}`);
    const replaced = await call("PUT", `/campaigns/${draft.id}`, { ...draft, name: "July" });
    expect(replaced.status, replaced.body.error).toBe(200);
    const { html_content, mjml, template_id, template_version } = draft;
    expect(replaced.body.data).toMatchObject({
      name: "July",
      html_content,
      mjml,
      template_id,
      template_version,
    });
  });

  test.each([
    ["HTML", { html_content: "<p>one</p>" }],
    ["MJML", { html_content: null, mjml: mjmlOf("one") }],
    ["blocks", { html_content: null, design: designOf("one") }],
  ])("in %s stays text alone when its HTML is removed, and when it is sent back", async (_format, change) => {
    const { id } = await template(change);
    const copied = { template_id: id, template_version: 1 };
    const whole = await campaign({ template_id: id });
    const replaced = await call("PUT", `/campaigns/${whole.id}`, {
      ...whole,
      html_content: null,
      text_content: "text",
    });
    expect(replaced.body.data).toMatchObject({ html_content: null, text_content: "text", ...copied });
    const draft = await campaign({ template_id: id });
    const without = { html_content: null, text_content: "text" };
    const textOnly = await patch(draft.id, without);
    expect(textOnly).toMatchObject({ ...without, ...copied, mjml: null, design: null });
    const key = await service.newKey(["campaigns:read", "campaigns:write"]);
    const again = await call("PUT", `/campaigns/${draft.id}`, textOnly, { key });
    expect(contentOf(again.body.data)).toEqual(contentOf(textOnly));
    const { id: _, scheduled_at: _at, ...copy } = textOnly;
    expect(contentOf(await campaign(copy))).toEqual(contentOf(textOnly));
    // A newer version is another content.
    await call("PATCH", `/templates/${id}`, { subject: "New" });
    const newer = { ...textOnly, template_version: 2 };
    expect((await call("PUT", `/campaigns/${draft.id}`, newer)).body.data.html_content).toContain("one");
  });

  test("is sent back without its content as it was read without it", async () => {
    const { id } = await template();
    const draft = await campaign({ template_id: id });
    const read = (await call("GET", `/campaigns/${draft.id}?without=content`)).body.data;
    const { body: answer } = await call("PUT", `/campaigns/${draft.id}`, read);
    expect(contentOf(answer.data)).toEqual(contentOf(read));
  });

  test("that becomes an SMS has no source of a mail, and can be sent back", async () => {
    for (const change of [
      { html_content: null, mjml: mjmlOf("one") },
      { html_content: null, design: designOf("one") },
    ]) {
      const { id } = await template(change);
      const draft = await campaign({ template_id: id });
      const sms = await patch(draft.id, {
        message_type: "sms",
        phone_field_name: "phone",
        text_content: "x",
      });
      expect(sms).toMatchObject({ template_id: null, template_version: null, mjml: null, design: null });
      const again = await call("PUT", `/campaigns/${draft.id}`, sms);
      expect([again.status, contentOf(again.body.data ?? {})]).toEqual([200, contentOf(sms)]);
    }
  });

  test("has the source that an editor goes on with, in which the preheader is, but not that of a layout", async () => {
    const ofMjml = await template({ html_content: null, mjml: mjmlOf("one"), preheader: "Look" });
    expect((await campaign({ template_id: ofMjml.id })).mjml).toContain("<mj-preview>Look</mj-preview>");
    const ofDesign = await template({ html_content: null, design: designOf("one"), preheader: "Look" });
    const draft = await campaign({ template_id: ofDesign.id });
    expect(draft.design).toEqual({ ...designOf("one"), preheader: "Look" });
    // What the editor stores is what the template sends.
    expect((await patch(draft.id, { design: draft.design })).html_content).toBe(ofDesign.compiled_html);
    const layout = await template({
      kind: "layout",
      subject: null,
      html_content: null,
      mjml: `<mjml><mj-body>${section("Top")}{{ content }}</mj-body></mjml>`,
    });
    const inLayout = await template({ html_content: null, mjml: section("one"), layout_id: layout.id });
    const { mjml, html_content } = await campaign({ template_id: inLayout.id });
    expect(mjml).toBeNull();
    expect(html_content).toMatch(/Top.*one/s);
  });

  test("has its own subject and text, if it gives them", async () => {
    const { id } = await template({ text_content: "of the template" });
    const draft = await campaign({ template_id: id, subject: "Own", text_content: "own" });
    expect(draft).toMatchObject({ subject: "Own", text_content: "own", html_content: "<p>one</p>" });
    // Without a version, a null is no removal.
    const given = { template_id: id, html_content: null, text_content: "own" };
    expect(await campaign(given)).toMatchObject({ text_content: "own", html_content: "<p>one</p>" });
  });

  test("needs templates:read, a template of the workspace, and no layout", async () => {
    const { id } = await template();
    const key = await service.newKey(["campaigns:read", "campaigns:write"]);
    expect(await refused({ template_id: id }, { key })).toEqual([403, ["templates:read"]]);
    const html_content = "<p>own</p>";
    expect(await refused({ template_id: id, html_content }, { key })).toEqual([403, ["templates:read"]]);
    expect(await refused({ template_id: list, html_content })).toEqual([
      400,
      "template_id is no template of this workspace",
    ]);
    expect((await refused({ template_id: id, template_version: 99, html_content }))[0]).toBe(400);
    const layout = await template({ kind: "layout", subject: null, html_content: "{{ content }}" });
    expect(await refused({ template_id: layout.id })).toEqual([
      400,
      "template_id is a layout: name a template in it",
    ]);
    expect(await refused({ template_id: list })).toEqual([
      400,
      "template_id is no template of this workspace",
    ]);
    expect(await refused({ template_id: id, template_version: 9 })).toEqual([
      400,
      "template_id is no template of this workspace, or version 9 is none of its last 100, which are kept",
    ]);
    expect(await refused({ template_version: 1 })).toEqual([
      400,
      "template_id is required with template_version",
    ]);
    expect(await refused({ message_type: "sms", template_id: id })).toEqual([
      400,
      "template_id is for email: an SMS has its text_content",
    ]);
  });
});

describe("a campaign in MJML or blocks", () => {
  test("has html_content made from them, until its author writes HTML", async () => {
    const draft = await campaign({ subject: "Hi", mjml: mjmlOf("Hello {{ first_name }}") });
    expect(draft.html_content).toContain("Hello {{ first_name }}");
    const changed = await patch(draft.id, { design: designOf("Blocks") });
    expect([changed.mjml, changed.design]).toEqual([null, designOf("Blocks")]);
    expect(changed.html_content).toContain("Blocks");
    const again = await patch(draft.id, { mjml: mjmlOf("Again") });
    expect([again.mjml, again.design]).toEqual([mjmlOf("Again"), null]);
    const written = await patch(draft.id, { html_content: "<p>mine</p>" });
    expect([written.html_content, written.mjml]).toEqual(["<p>mine</p>", null]);
  });

  test("keeps the document of another editor as it is", async () => {
    const design = { blocks: 7, anything: [1] };
    const draft = await campaign({ subject: "Hi", html_content: "<p>x</p>", design });
    expect([draft.html_content, draft.design]).toEqual(["<p>x</p>", design]);
    expect((await patch(draft.id, { design: { other: true } })).html_content).toBe("<p>x</p>");
  });

  test.each([
    [
      { mjml: "<mjml><mj-body><mj-include path='x' /></mj-body></mjml>" },
      "mjml, line 1, column 16: mj-include reads files, which are not here: put the content here.",
    ],
    [{ design: { version: 1, blocks: [{ type: "spacer" }] } }, "design.blocks[0].height is required"],
    [{ mjml: mjmlOf("a"), design: designOf("b") }, "mjml and design exclude each other: give one"],
  ])("with a fault is refused, and nothing is stored: %j", async (change, message) => {
    expect(await refused(change)).toEqual([400, message]);
  });
});

test("a step of an autoresponder takes over a template, and names its faults by the step", async () => {
  const { id } = await template();
  const body = (...steps: object[]) => ({
    name: "Series",
    mailing_list_id: list,
    from_email: "news@shop.test",
    trigger: { type: "subscribed" },
    steps,
  });
  const series = await made(
    "/autoresponders",
    body({ template_id: id }, { subject: "Own", mjml: mjmlOf("two") }),
  );
  expect(series.steps).toMatchObject([
    { subject: "Hi {{ first_name }}", html_content: "<p>one</p>", template_id: id, template_version: 1 },
    { subject: "Own", mjml: mjmlOf("two"), template_id: null },
  ]);
  expect((await call("GET", `/templates/${id}`)).body.data.used_by.users).toMatchObject([
    { kind: "autoresponder", id: series.id },
  ]);
  const { status, body: answer } = await call("PUT", `/autoresponders/${series.id}`, series);
  expect([status, answer.data?.steps]).toEqual([200, series.steps]);
  const textOnly = series.steps.map((step: object) => ({
    ...step,
    html_content: null,
    text_content: "text",
  }));
  for (let sent = 0; sent < 2; sent++) {
    const { body: kept } = await call("PUT", `/autoresponders/${series.id}`, { ...series, steps: textOnly });
    expect(kept.data.steps.map(contentOf)).toEqual(textOnly.map(contentOf));
  }
  const faulty = await call(
    "POST",
    "/autoresponders",
    body({ template_id: id }, { subject: "x", mjml: "<p>" }),
  );
  expect([faulty.status, faulty.body.details[0].field]).toEqual([400, "steps[1].mjml"]);
});

test("a preview shows content that is not stored, in a layout and with data", async () => {
  const layout = await template({
    kind: "layout",
    subject: null,
    html_content: "<body>Top {{ content }}</body>",
  });
  const order = {
    subject: "{{ order }}",
    html_content: "<p>{{ order }} for {{ first_name }}</p>",
    preheader: "Look",
    layout_id: layout.id,
    test_data: { order: 7, first_name: "Bob" },
  };
  const { status, body } = await call("POST", "/render", order);
  expect([status, body.data?.subject, body.data?.warnings]).toEqual([200, "7", []]);
  expect(body.data.html).toMatch(
    /^<body><div style="display:none[^>]*>Look<\/div>Top <p>7 for Bob<\/p><\/body>$/,
  );
});
