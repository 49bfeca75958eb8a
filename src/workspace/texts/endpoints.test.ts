import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call } = service;

const list = async (query = "", key?: string) =>
  (await call("GET", `/texts${query}`, undefined, key === undefined ? {} : { key })).body.data;
const textOf = async (name: string, query = "", key?: string) =>
  (await list(query, key)).find((text: { name: string }) => text.name === name);

test("texts are those of the workspace's language, or of the one that is asked for", async () => {
  expect((await textOf("signup_button")).text).toBe("Subscribe");
  await call("PATCH", "/workspace", { language: "nl" });
  expect((await textOf("signup_button")).text).toBe("Aanmelden");
  expect(await textOf("footer_text_link", "?language=ja")).toEqual({
    name: "footer_text_link",
    about: "Footer added to text mail: the line with the link",
    text: "このメールの配信を停止する：{link}",
    default_text: "このメールの配信を停止する：{link}",
    is_replaced: false,
    placeholders: ["link"],
    required_placeholders: ["link"],
    updated_at: null,
  });
  expect((await call("GET", "/texts?language=xx")).body.code).toBe("VALIDATION_ERROR");
});

test("a text is replaced in one language of one workspace, and reset by null", async () => {
  const texts = { joined: "Danke! Ab jetzt kommt {list} zu Ihnen.", signup_button: " Los " };
  const answer = await call("PATCH", "/texts", { language: "de", texts });
  expect(answer.status, answer.body.error).toBe(200);
  expect(await textOf("joined", "?language=de")).toMatchObject({
    text: texts.joined,
    default_text: expect.stringContaining("Ab jetzt erhalten Sie"),
    is_replaced: true,
    updated_at: expect.any(String),
  });
  expect((await textOf("signup_button", "?language=de")).text).toBe("Los");
  expect((await textOf("joined", "?language=fr")).is_replaced).toBe(false);
  const other = await service.newWorkspace();
  expect((await textOf("joined", "?language=de", other.key)).is_replaced).toBe(false);
  await call("PATCH", "/texts", { language: "de", texts: { joined: null } });
  expect((await textOf("joined", "?language=de")).is_replaced).toBe(false);
  expect((await textOf("signup_button", "?language=de")).is_replaced).toBe(true);
});

test("texts for readers whose workspace is not known are not listed, because no workspace can replace them", async () => {
  expect(await textOf("dead_link_title")).toBeDefined();
  expect(await textOf("dead_link")).toBeUndefined();
});

test.each([
  [{ joined: "" }, "texts.joined", "blank"],
  [{ joined: "x".repeat(601) }, "texts.joined", "600"],
  [{ joined: "Hello {name}" }, "texts.joined", "{name} is no placeholder of this text; it may have: {list}"],
  [{ joined: "Hello {list" }, "texts.joined", "braces are only for placeholders"],
  [{ joined: "Hello {{ first_name }}" }, "texts.joined", "braces are only for placeholders"],
  [{ joined: "Hello {% if x %}" }, "texts.joined", "braces"],
  [{ joined: "Hello <b>{list}</b>" }, "texts.joined", "markup"],
  [{ joined: "Hello\nBcc: eve" }, "texts.joined", "line break"],
  [{ joined: "\ud800" }, "texts.joined", ""],
  [{ close_page: "Bye {list}" }, "texts.close_page", "it may have: none"],
  [{ footer_text_link: "Bye" }, "texts.footer_text_link", "{link} is missing"],
  [{ footer_text_link: "{link} or {link}" }, "texts.footer_text_link", "{link} must occur only once"],
  [{ dead_link: "x" }, "texts.dead_link", ""],
  [{ list_unnamed: "x" }, "texts.list_unnamed", ""],
  [{ nothing: "x" }, "texts.nothing", ""],
  [{ __proto__: null, constructor: "x" }, "texts.constructor", ""],
  [[], "texts", ""],
])("%j is refused, naming %s, and nothing is replaced", async (texts, field, advice) => {
  const given = Array.isArray(texts) ? texts : { resubscribed: "Welcome", ...texts };
  const { status, body } = await call("PATCH", "/texts", { language: "es", texts: given });
  expect([status, body.code], JSON.stringify(body)).toEqual([400, "VALIDATION_ERROR"]);
  if (field !== "texts") expect(body.details[0].field).toBe(field);
  expect(body.error).toContain(advice);
  expect((await textOf("resubscribed", "?language=es")).is_replaced).toBe(false);
});
