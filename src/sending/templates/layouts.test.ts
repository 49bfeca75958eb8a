import { describe, expect, test } from "vitest";
import { lockRowLimit } from "#platform/database/row-limit-store.ts";
import { startService } from "#test/support/service.ts";
import { callsBehind } from "#test/support/waiting.ts";
import { templateRoom } from "./store.ts";

const service = await startService();
const { call } = service;

const designOf = (...blocks: object[]) => ({ version: 1, blocks });

async function created(change: object = {}) {
  const body = { name: "Welcome", subject: "Hi {{ first_name }}", html_content: "<p>Hello</p>", ...change };
  const answer = await call("POST", "/templates", body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
}
const patched = async (id: string, change: object) => {
  const answer = await call("PATCH", `/templates/${id}`, change);
  expect(answer.status, answer.body.error).toBe(200);
  return answer.body.data;
};
const refusal = async (change: object) => {
  const body = { name: "Welcome", subject: "Hi", ...change };
  const { status, body: answer } = await call("POST", "/templates", body);
  return [status, ...(answer.details ?? []).map(({ message }: { message: string }) => message)];
};

describe("a layout", () => {
  const layoutOf = (html_content: string) => created({ kind: "layout", subject: null, html_content });

  test("wraps templates, and its change is a new version of each", async () => {
    const layout = await layoutOf("<body><header>Shop</header>{{ content }}</body>");
    const { id, compiled_html } = await created({
      layout_id: layout.id,
      html_content: "<p>{{ first_name }}</p>",
    });
    expect(compiled_html).toBe("<body><header>Shop</header><p>{{ first_name }}</p></body>");
    await patched(layout.id, { html_content: "<body><h1>New</h1>{{ content }}</body>" });
    const after = (await call("GET", `/templates/${id}`)).body.data;
    expect(after).toMatchObject({
      version: 2,
      compiled_html: "<body><h1>New</h1><p>{{ first_name }}</p></body>",
    });
    const refused = await call("PATCH", `/templates/${layout.id}`, {
      html_content: "<p>{{ first_name }}</p>",
    });
    expect(refused.status).toBe(400);
    expect((await call("GET", `/templates/${id}`)).body.data).toEqual(after);
  });

  test("is not hidden or ended by what it wraps", async () => {
    const { id: layout_id } = await layoutOf("<div>{{ content }}</div><p>{{ unsubscribe_url }}</p>");
    const left = (what: string) =>
      `This ${what} is left open and hides the part of the layout behind it: close it.`;
    const faults = [
      ["<!-- foo", left("comment")],
      ["<title>", left("<title>")],
      ["<textarea>", left("<textarea>")],
      ['<div style="display:none">', left("<div>")],
      ['<a href="foo', left("<a>")],
      ["</div><p>y", "This </div> ends an element of the layout, and none of the template: leave it out."],
      ["</body></html>", "The layout has the document: leave out <html>, <head> and <body>."],
    ];
    for (const [html, message] of faults) {
      expect(await refusal({ layout_id, html_content: `<p>x</p>${html}` })).toEqual([
        400,
        `html_content, line 1, column 9: ${message}`,
      ]);
    }
    await created({
      layout_id,
      html_content: "{% if a %}<div>{% else %}<div hidden>{% endif %}<p>x<br>y</div>",
    });
    const refused = { kind: "layout", subject: null, html_content: "<div hidden><p>{{ content }}</p></div>" };
    expect(await refusal(refused)).toEqual([
      400,
      "html_content: a layout shows its content: its <div> hides {{ content }}",
    ]);
  });

  test("in MJML wraps MJML, with the head of both, and designs", async () => {
    const mjml = `<mjml><mj-head><mj-title>Shop</mj-title></mj-head><mj-body><mj-section><mj-column><mj-text>Top</mj-text></mj-column></mj-section>
      {{ content }}</mj-body></mjml>`;
    const { id: layout_id } = await created({ kind: "layout", subject: null, html_content: null, mjml });
    const section = "<mj-section><mj-column><mj-text>Own {{ city }}</mj-text></mj-column></mj-section>";
    for (const own of [
      section,
      `<mjml><mj-head><mj-preview>Look</mj-preview></mj-head><mj-body>${section}</mj-body></mjml>`,
    ]) {
      const { compiled_html } = await created({ html_content: null, mjml: own, layout_id });
      expect(compiled_html).toMatch(/<title>Shop<.*Top.*Own {{ city }}/s);
      expect(compiled_html.includes("Look")).toBe(own !== section);
    }
    const design = designOf({ type: "heading", text: "Design" });
    const { compiled_html } = await created({ html_content: null, design, layout_id, preheader: "See" });
    expect(compiled_html).toMatch(/<title>Shop<.*See.*Top.*Design/s);
    expect(await refusal({ html_content: "<p>x</p>", layout_id })).toEqual([
      400,
      "layout_id: is of a layout in MJML, which wraps MJML and designs",
    ]);
  });

  test("is not deleted while it wraps a template, which names it", async () => {
    const layout = await layoutOf("{{ content }}");
    const { id } = await created({ layout_id: layout.id, name: "Inside" });
    const { used_by } = (await call("GET", `/templates/${layout.id}`)).body.data;
    expect(used_by).toMatchObject({ total: 1, prevents_deletion: true, users: [{ kind: "template", id }] });
    expect((await call("DELETE", `/templates/${layout.id}`)).status).toBe(409);
    await patched(id, { layout_id: null });
    expect((await call("DELETE", `/templates/${layout.id}`)).status).toBe(200);
    const { versions } = (await call("GET", `/templates/${id}/versions`)).body.data;
    const restored = await call("POST", `/templates/${id}/versions/${versions[1].id}/restore`);
    expect([restored.status, restored.body.error]).toEqual([
      400,
      "The layout of version 1 was deleted: give the template its content with PATCH, and another layout or none",
    ]);
  });

  test("wraps 50 templates and no more, however many come at once", async () => {
    const { id: layout_id } = await layoutOf("{{ content }}");
    for (let made = 0; made < 49; made++) await created({ layout_id });
    const body = { name: "In it", subject: "Hi", html_content: "x", layout_id };
    const answers = await callsBehind(
      service.database,
      (tx) => lockRowLimit(tx, service.workspaceId, templateRoom),
      ...Array.from({ length: 2 }, () => () => call("POST", "/templates", body)),
    );
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 400]);
  });

  describe("has its place for content once, where content can be", () => {
    const where = (text: string) => `a layout has {{ content }} once, outside of conditions: ${text}`;
    const inBody = where("in the text of the body, and not in a tag, a comment, a style sheet or the head");
    const section = "<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>";
    const betweenSections = where(
      "between sections, in mj-body or mj-wrapper, with nothing else in an mj-raw around it",
    );
    const alone = where("alone in a block html that is in no columns");
    const answer = async (field: string, body: unknown) =>
      refusal({ kind: "layout", subject: null, [field]: body });

    test.each([
      "<p>x</p>",
      "{{ content }}{{ content }}",
      "{% if a %}{{ content }}{% endif %}",
      '<p title="{{ content }}">x</p>',
      "<style>p { color: red } {{ content }}</style>",
      "<title>a < b {{ content }}</title>",
      "<!-- {{ content }} -->",
      "<!--[if mso]>{{ content }}<![endif]-->",
      "<!doctype html><html><head>{{ content }}</head><body>x</body></html>",
      "{{ content }}<!doctype html><p>x</p>",
      "<html><body>x</body>{{ content }}</html>",
      "<select><option>{{ content }}</select>",
    ])("in HTML %s is refused", async (html) => {
      expect(await answer("html_content", html)).toEqual([400, `html_content: ${inBody}`]);
    });

    test.each([
      "{{content}}",
      "<head><style>p {}</style>\n<body class='{{ a }}'>{{ content -}}",
      "<body><![if !mso]>{{ content }}<![endif]><!--[if !mso]><!-->x<!--<![endif]--></body>",
      "<head><title>x</title><table><tr><td>{{ a }}{{ content }}</table>",
    ])("in HTML %s is accepted", async (html) => {
      expect(await answer("html_content", html)).toEqual([201]);
    });

    test.each([
      `<mj-body>${section}<!-- {{ content }} --></mj-body>`,
      `<mj-body>${section.replace("x", "{{ content }}")}</mj-body>`,
      `<mj-body>${section.replace("x", "<p>{{ content }}</p>")}</mj-body>`,
      `<mj-body>${section.replace("<mj-text>", '<mj-text css-class="{{ content }}">')}</mj-body>`,
      `<mj-head><mj-title>{{ content }}</mj-title></mj-head><mj-body>${section}</mj-body>`,
      `<mj-head><mj-raw>{{ content }}</mj-raw></mj-head><mj-body>${section}</mj-body>`,
      `<mj-body>${section}<mj-raw><div>{{ content }}</div></mj-raw></mj-body>`,
      `<mj-body>${section}<mj-raw>{{ a }} {{ content }}</mj-raw></mj-body>`,
      `<mj-body>${section}<mj-raw position="file-start">{{ content }}</mj-raw></mj-body>`,
      `<mj-body><mj-section><mj-column>{{ content }}</mj-column></mj-section></mj-body>`,
    ])("in MJML %s is refused", async (parts) => {
      expect(await answer("mjml", `<mjml>${parts}</mjml>`)).toEqual([400, `mjml: ${betweenSections}`]);
    });

    test.each([
      `<mj-body>{{ a }}{{ content }}\n{{ b }}</mj-body>`,
      `<mj-body><mj-raw> {{content}} </mj-raw></mj-body>`,
      `<mj-body><mj-wrapper>${section}{{ content }}</mj-wrapper></mj-body>`,
    ])("in MJML %s is accepted", async (parts) => {
      expect(await answer("mjml", `<mjml>${parts}</mjml>`)).toEqual([201]);
    });

    test.each([
      { type: "heading", text: "{{ content }}" },
      { type: "text", html: "{{ content }}" },
      { type: "html", html: "<p>Hi</p>{{ content }}" },
      { type: "columns", columns: [{ blocks: [{ type: "html", html: "{{ content }}" }] }, { blocks: [] }] },
    ])("in a design with %j is refused", async (block) => {
      expect(await answer("design", designOf(block))).toEqual([400, `design: ${alone}`]);
    });

    test("in a block alone is accepted", async () => {
      const block = { type: "html", html: " {{content}} " };
      expect(await answer("design", designOf({ type: "spacer", height: 9 }, block))).toEqual([201]);
    });
  });

  test("that is no layout wraps nothing", async () => {
    const { id } = await created();
    expect(await refusal({ html_content: "x", layout_id: id })).toEqual([400, "layout_id is no layout"]);
  });
});
