import { expect, it, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call } = service;

interface Tag {
  readonly name: string;
  readonly tag: string;
  readonly kind: string;
  readonly meaning: string;
  readonly example: string | null;
}

const newList = async () => (await call("POST", "/mailing-lists", { name: "News" })).body.data.id;
const tags = async (query = ""): Promise<readonly Tag[]> =>
  (await call("GET", `/merge-tags${query}`)).body.data;

it("lists the built-in tags with meaning and example", async () => {
  const builtIn = (await tags()).filter(({ kind }) => kind === "built_in");
  expect(builtIn.map(({ name }) => name)).toEqual([
    "first_name",
    "last_name",
    "email",
    "list_name",
    "campaign_name",
    "unsubscribe_url",
    "view_in_browser_url",
  ]);
  const text = expect.stringMatching(/./);
  for (const { meaning, example } of builtIn) expect([meaning, example]).toEqual([text, text]);
  expect(builtIn[0]).toEqual({
    name: "first_name",
    tag: "{{ first_name }}",
    kind: "built_in",
    meaning: "First name",
    example: "Ada",
    field_type: null,
    valid_in: ["subject", "html_content", "text_content"],
  });
});

test("every tag shows its value in each template that it is valid in, and no warning", async () => {
  const list = await newList();
  const names = ["city", "campaign_name", "empty", "2nd_name"];
  for (const field_name of names) {
    await call("POST", `/mailing-lists/${list}/custom-fields`, {
      field_name,
      field_label: `The ${field_name}`,
      field_type: "text",
      placeholder: "Rome",
    });
  }
  const custom_fields = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));
  const person = { email: "ada@tags.example", first_name: "Ada", last_name: "Lee", custom_fields };
  const added = await call("POST", `/mailing-lists/${list}/subscribers`, person);
  const listed = await tags(`?list_id=${list}`);
  const content = listed.map(({ tag }) => tag).join(" | ");
  const { status, body } = await call("POST", "/render", {
    subject: content,
    html_content: `<p>${content}</p>`,
    text_content: content,
    from_email: "news@tags.example",
    mailing_list_id: list,
    subscriber_id: added.body.data.subscriber_id,
  });
  expect([
    status,
    body.data?.warnings.filter(({ field }: { field: string }) => /content|subject/.test(field)),
  ]).toEqual([200, []]);
  const shown = body.data.subject.split(" | ");
  expect(shown).toHaveLength(listed.length);
  // A mail that is only rendered belongs to no campaign.
  const blank = listed.filter((_, at) => shown[at] === "").map(({ name }) => name);
  expect(blank).toEqual(["campaign_name"]);
  const ofFields = listed.flatMap(({ kind }, at) => (kind === "custom_field" ? [shown[at]] : []));
  expect(ofFields).toEqual(names.map((name) => `value of ${name}`));
  for (const name of names) {
    expect(body.data.html).toContain(`value of ${name}`);
    expect(body.data.text).toContain(`value of ${name}`);
  }
});

test("custom fields are those in force on the list, or without one those of all lists", async () => {
  const [list, other] = [await newList(), await newList()];
  const field = (path: string, field_name: string, more = {}) =>
    call("POST", path, { field_name, field_label: field_name, field_type: "text", ...more });
  await field("/custom-fields/global", "everywhere");
  const off = await field("/custom-fields/global", "switched_off");
  await call("PUT", `/custom-fields/global/${off.body.data.id}`, { is_active: false });
  await field(`/mailing-lists/${list}/custom-fields`, "size", {
    field_type: "select",
    field_options: ["S", "M"],
  });
  await field(`/mailing-lists/${other}/custom-fields`, "elsewhere");
  const names = async (query?: string) =>
    (await tags(query)).flatMap(({ kind, name, example }) =>
      kind === "custom_field" ? [[name, example]] : [],
    );
  expect(await names()).toEqual([["everywhere", null]]);
  expect(await names(`?list_id=${list}`)).toEqual([
    ["everywhere", null],
    ["size", "S"],
  ]);
});

it("refuses a list of another workspace, and a key without campaigns:read", async () => {
  const list = await newList();
  const { key } = await service.newWorkspace();
  const foreign = await call("GET", `/merge-tags?list_id=${list}`, undefined, { key });
  expect([foreign.status, foreign.body.details?.[0].field]).toEqual([400, "list_id"]);
  const weak = await service.newKey(["subscribers:read"]);
  expect((await call("GET", "/merge-tags", undefined, { key: weak })).status).toBe(403);
});
