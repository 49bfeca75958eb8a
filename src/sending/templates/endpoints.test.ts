import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { shareOfThisThread } from "#test/support/cost.ts";
import { startService } from "#test/support/service.ts";
import { MOST_VERSIONS } from "./versions-store.ts";

const service = await startService();
const { call } = service;

const mjmlOf = (content: string) =>
  `<mjml><mj-body><mj-section><mj-column><mj-text>${content}</mj-text></mj-column></mj-section></mj-body></mjml>`;
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

describe("a template", () => {
  test("with faults in several fields is refused with all of them", async () => {
    const body = {
      name: "T",
      subject: "{{ a | b }}",
      html_content: "{% c %}",
      preheader: "{{",
      text_content: "{{",
    };
    const { status, body: answer } = await call("POST", "/templates", body);
    const fields = answer.details.map(({ field }: { field: string }) => field);
    expect([status, fields.sort()]).toEqual([400, ["html_content", "preheader", "subject", "text_content"]]);
  });

  test("in HTML is sent as it was written, with its preheader hidden at the beginning", async () => {
    const html = "<!doctype html><body class=a>\n<p>{{ a | default: '<b>' }}</p></body>";
    const plain = await created({ html_content: html });
    expect([plain.format, plain.html_content, plain.compiled_html]).toEqual(["html", html, html]);
    const { compiled_html } = await created({ html_content: html, preheader: "5 < 6 {{ first_name }}" });
    expect(compiled_html.replace(/<div style="display:none[^"]*">5 &lt; 6 {{ first_name }}<\/div>/, "")).toBe(
      html,
    );
  });

  test("in MJML is compiled, and its merge tags come out as they were written", async () => {
    const tag = '{% if city contains "<b>" %}{{ city | replace: ">", "&" }}{% endif %}';
    const url = "https://x.test/{{ first_name | url_encode }}?a=1&amp;b={{ city }}";
    const mjml = `<mjml><mj-body>
      {% for one in items %}<mj-section css-class="x {{ one.kind }}" background-color="{{ colour }}"><mj-column>
        <mj-text>${tag}</mj-text><mj-button href="${url}">{{ one.name }}</mj-button>
      </mj-column></mj-section>{% endfor %}
    </mj-body></mjml>`;
    const { format, compiled_html } = await created({
      html_content: null,
      mjml,
      preheader: "{{ city }}!",
      test_data: { items: [], colour: "#fff" },
    });
    expect(format).toBe("mjml");
    for (const part of [
      tag,
      `href="${url}"`,
      "background-color:{{ colour }}",
      "x {{ one.kind }}",
      "{{ city }}!",
    ]) {
      expect(compiled_html).toContain(part);
    }
    expect(compiled_html.match(/{% (?:end)?for\b[^%]*%}/g)).toEqual([
      "{% for one in items %}",
      "{% endfor %}",
    ]);
    expect(compiled_html).not.toContain("fonts.googleapis");
  });

  test("in blocks is compiled, and its rich text has nothing but what rich text may have", async () => {
    const { format, compiled_html } = await created({
      html_content: null,
      design: designOf(
        {
          type: "text",
          html: '<p onclick="x()">A <b>b</b><script>alert(1)</script> <a href="javascript:x">c</a></p>',
        },
        {
          type: "columns",
          columns: [{ blocks: [{ type: "heading", text: "1 < 2 {{ first_name }}" }] }, { blocks: [] }],
        },
        { type: "button", text: "Go", url: 'https://x.test/?q={{ city | default: "a b" }}' },
        { type: "html", html: '<i onclick="x">raw</i>' },
      ),
    });
    expect(format).toBe("design");
    expect(compiled_html).toContain('A <b>b</b> <a href="#"');
    expect(compiled_html).toContain("1 &lt; 2 {{ first_name }}");
    expect(compiled_html).toContain('href="https://x.test/?q={{ city | default: "a b" }}"');
    expect(compiled_html).toContain('<i onclick="x">raw</i>');
    expect(compiled_html).not.toMatch(/alert|x\(\)|javascript/);
  });

  test("names merge tags without a value, unless the test data has them", async () => {
    const html_content = "<p>{{ first_name }} {{ total }}</p>";
    const { id, warnings } = await created({ html_content });
    expect(warnings).toMatchObject([{ field: "html_content", line: 1, column: 24 }]);
    // The names of the test data count when content is saved.
    const known = await patched(id, { test_data: { total: "12 €" }, text_content: "x" });
    expect(known.warnings).toEqual([]);
  });

  test.each([
    ["without a body", {}, "html_content is required, or mjml, or design"],
    [
      "with two",
      { html_content: "a", mjml: mjmlOf("b") },
      "html_content excludes mjml and design, as each of them does the others: give one",
    ],
    ["without a subject", { subject: null, html_content: "a" }, "subject is required"],
    [
      "with a broken tag",
      { html_content: "<p>\n {% if a %}" },
      "html_content, line 2, column 2: {% if %} has no {% endif %}.",
    ],
    [
      "in MJML with a file",
      { mjml: '<mjml><mj-body>\n<mj-include path="/etc/passwd" /></mj-body></mjml>' },
      "mjml, line 2, column 1: mj-include reads files, which are not here: put the content here.",
    ],
    [
      "in MJML that is none",
      { mjml: "<p>x</p>" },
      "mjml, line 1, column 1: There is no MJML element p. Put HTML into mj-text, mj-table or mj-raw.",
    ],
    [
      "in MJML with an unknown attribute",
      { mjml: mjmlOf("x").replace("<mj-text", '<mj-text colour="red"') },
      "mjml, line 1, column 39: Attribute colour is illegal.",
    ],
    [
      "in MJML with text that MJML drops",
      { mjml: mjmlOf("x").replace("<mj-column>", "<mj-column>lost") },
      "mjml, line 1, column 39: Text between MJML elements is not shown: put it into mj-text.",
    ],
    [
      "in MJML with a tag that MJML drops",
      { mjml: mjmlOf("x").replace("<mj-text", '<mj-text mj-class="{{ a }}"') },
      "mjml, line 1, column 58: This merge tag has no effect here: MJML shows nothing of it.",
    ],
    [
      "in MJML that is not closed",
      { mjml: "<mjml><mj-body><mj-section></mj-body></mjml>" },
      "mjml, line 1, column 16: This mj-section is not closed.",
    ],
    [
      "in unknown blocks",
      { design: designOf({ type: "video" }) },
      "design.blocks[0].type must be one of text, heading, button, image, divider, spacer, links, footer, html, columns",
    ],
    [
      "in blocks with a wrong field",
      {
        design: designOf({
          type: "columns",
          columns: [{ blocks: [{ type: "spacer", height: 0 }] }, { blocks: [] }],
        }),
      },
      "design.blocks[0].columns[0].blocks[0].height must be at least 1",
    ],
    [
      "in blocks with an unsafe link",
      { design: designOf({ type: "button", text: "x", url: "javascript:x" }) },
      "design.blocks[0].url must begin with http, https, mailto or tel",
    ],
    [
      "in columns of columns",
      {
        design: designOf({
          type: "columns",
          columns: [{ blocks: [{ type: "columns", columns: [] }] }, { blocks: [] }],
        }),
      },
      "design.blocks[0].columns[0].blocks[0].type must be one of text, heading, button, image, divider, spacer, links, footer, html",
    ],
    ["in blocks with a list", { design: [] as object }, "design must be an object or null"],
    [
      "in too many blocks",
      { design: designOf(...Array.from({ length: 201 }, () => ({ type: "spacer", height: 1 }))) },
      "design.blocks must have at most 200 items",
    ],
    [
      "with deep data",
      { html_content: "a", test_data: JSON.parse(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`) },
      "test_data must be nested at most 8 levels deep",
    ],
    [
      "with large data",
      { html_content: "a", test_data: { a: "x".repeat(70_000) } },
      "test_data must have at most 64 KB as JSON",
    ],
  ])("%s is refused, with the place of the fault", async (_what, change, message) => {
    expect(await refusal(change)).toEqual([400, message]);
  });
});

test("no block is so odd that a design fails otherwise than with its place", async () => {
  const odd = [
    null,
    5,
    "x",
    [],
    {},
    { type: "__proto__" },
    { type: "constructor" },
    { type: {} },
    { type: "columns" },
    { type: "columns", columns: [1, 2] },
    { type: "columns", columns: [{ blocks: 5 }, {}] },
    { type: "text", html: 5 },
    { type: "image", src: "data:x", alt: "\ud800" },
    { type: "links", links: [{ text: "{% if %}", url: "x" }] },
  ];
  for (const block of odd) {
    const [status, message] = await refusal({ design: designOf(block as object) });
    expect([status, String(message).startsWith("design.blocks[0]")], JSON.stringify(block)).toEqual([
      400,
      true,
    ]);
  }
  expect((await refusal({ design: { version: 2 } }))[0]).toBe(400);
  expect((await refusal({ html_content: "a", layout_id: "x" }))[0]).toBe(400);
});

describe("versions", () => {
  test("are written for new content alone, never change, and can be restored", async () => {
    const { id } = await created({ html_content: "<p>one</p>" });
    const { revision } = await patched(id, { html_content: "<p>two</p>" });
    expect(await patched(id, { html_content: "<p>two</p>" })).toMatchObject({ version: 2, revision });
    expect(await patched(id, { name: "Other" })).toMatchObject({ version: 2, revision: revision + 1 });
    const versions = (await call("GET", `/templates/${id}/versions`)).body.data.versions;
    expect(versions.map((one: Record<string, unknown>) => [one["version"], one["cause"]])).toEqual([
      [2, "changed"],
      [1, "created"],
    ]);
    const first = `/templates/${id}/versions/${versions[1].id}`;
    expect((await call("GET", first)).body.data.html_content).toBe("<p>one</p>");
    const restored = await call("POST", `${first}/restore`);
    expect(restored.body.data).toMatchObject({ version: 3, html_content: "<p>one</p>", name: "Other" });
    expect((await call("GET", first)).body.data.html_content).toBe("<p>one</p>");
  });

  test("are kept up to a limit", async () => {
    const { id } = await created();
    for (let at = 0; at <= MOST_VERSIONS; at++) await patched(id, { html_content: `<p>${at}</p>` });
    const { pagination, versions } = (await call("GET", `/templates/${id}/versions`)).body.data;
    expect([pagination.total, versions[0].version]).toEqual([MOST_VERSIONS, MOST_VERSIONS + 2]);
  });

  test("of two editors that saw the same version, one saves and the other gets the present one", async () => {
    const { id, revision } = await created();
    const save = (html_content: string) =>
      call("PATCH", `/templates/${id}`, { html_content }, { headers: { "If-Match": `"${revision}"` } });
    const answers = await Promise.all([save("<p>a</p>"), save("<p>b</p>")]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]));
    const won = answers.find(({ status }) => status === 200);
    const lost = answers.find(({ status }) => status === 412);
    expect(lost?.body.current.html_content).toBe(won?.body.data.html_content);
  });

  test("are restored, and a template is deleted, only if it is at the version in If-Match", async () => {
    const { id } = await created({ html_content: "<p>one</p>" });
    const { revision } = await patched(id, { html_content: "<p>two</p>" });
    const { versions } = (await call("GET", `/templates/${id}/versions`)).body.data;
    const restore = `/templates/${id}/versions/${versions[1].id}/restore`;
    const at = (seen: number) => ({ headers: { "If-Match": `"${seen}"` } });
    for (const [method, path] of [
      ["POST", restore],
      ["DELETE", `/templates/${id}`],
    ] as const) {
      const { status, body } = await call(method, path, undefined, at(revision - 1));
      expect([status, body.current?.html_content], path).toEqual([412, "<p>two</p>"]);
    }
    const restored = await call("POST", restore, undefined, at(revision));
    expect([restored.status, restored.headers.get("ETag")]).toEqual([200, `"${revision + 1}"`]);
    expect((await call("DELETE", `/templates/${id}`, undefined, at(revision + 1))).status).toBe(200);
  });
});

describe("a test of a template", () => {
  test("is from the sender of the installation, unless it or the workspace names another", async () => {
    const { id } = await created({ subject: "Hi {{ n }}", test_data: { n: 7 } });
    const test = (change: object = {}, key?: string) =>
      call(
        "POST",
        `/templates/${id}/test`,
        { emails: ["me@example.org"], ...change },
        key === undefined ? {} : { key },
      );
    const { status, body } = await test();
    expect(status, body.error).toBe(200);
    const { data } = (await call("GET", `/messages/${body.data.messages[0].id}`)).body;
    expect([data.from_email, data.subject]).toEqual(["posthaste@mail.posthaste.test", "[Test] Hi 7"]);
    const other = await test({ from_email: "news@other.test" });
    expect([other.status, other.body.code]).toEqual([403, "EMAIL_NOT_VERIFIED"]);
    // What needs no look at the template is said first.
    const key = await service.newKey(["templates:send"]);
    expect((await test({ emails: ["x"] }, key)).body.required_scopes).toEqual(["templates:read"]);
    const nowhere = await call("POST", `/templates/${newId()}/test`, { emails: ["x"] });
    expect(nowhere.body.details[0].field).toBe("emails[0]");
  });
});

test("a long template is compiled beside the event loop, and counts as stored bytes of the plan", async () => {
  const used = async () => (await call("GET", "/billing/overview")).body.data.storage.bytes.used;
  const before = await used();
  const mjml = mjmlOf("Hello {{ first_name }}").replace(/<mj-section>.*<\/mj-section>/s, (part) =>
    part.repeat(300),
  );
  expect(await shareOfThisThread(() => created({ html_content: null, mjml }))).toBeLessThan(0.5);
  expect(await used()).toBeGreaterThan(before + mjml.length);
});
