import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { addPeople, newList } from "#test/support/audience.ts";
import { startService, type TestService } from "#test/support/service.ts";

let service: TestService;
let list: string;

beforeAll(async () => {
  service = await startService();
  list = await newList(service.database, service.workspaceId);
});

const fields = (of = list) => `/mailing-lists/${of}/custom-fields`;
const text = (field_name: string, more: object = {}) => ({
  field_name,
  field_label: "A label",
  field_type: "text",
  ...more,
});
const create = async (body: object, path = fields()) => {
  const answer = await service.call("POST", path, body);
  expect(answer.status, answer.body.error).toBe(201);
  return answer.body.data;
};

test("a field has the documented defaults, a normalised name, and is last in order", async () => {
  const of = await newList(service.database, service.workspaceId);
  const first = await create(text("  First   Visit "), fields(of));
  expect(first).toEqual({
    id: expect.any(String),
    mailing_list_id: of,
    field_name: "first_visit",
    field_label: "A label",
    field_type: "text",
    field_options: null,
    placeholder: null,
    default_value: null,
    help_text: null,
    validation_rules: null,
    is_required: false,
    is_active: true,
    display_order: 1,
    created_at: service.clock.now().toISOString(),
    updated_at: service.clock.now().toISOString(),
  });
  await create(text("b", { display_order: 9 }), fields(of));
  const third = await create(text("c"), fields(of));
  expect(third.display_order).toBe(10);
  const listed = await service.call("GET", fields(of));
  expect(listed.body.data.map(({ field_name }: { field_name: string }) => field_name)).toEqual([
    "first_visit",
    "b",
    "c",
  ]);
});

test("fields created concurrently get different positions", async () => {
  const of = await newList(service.database, service.workspaceId);
  const made = await Promise.all(["a", "b", "c", "d"].map((name) => create(text(name), fields(of))));
  const places: number[] = made.map(({ display_order }) => display_order);
  expect(places.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
});

test("options and rules may be given as JSON text, and are returned as JSON", async () => {
  const field = await create({
    field_name: "size",
    field_label: "Size",
    field_type: "multiselect",
    field_options: JSON.stringify(["S", { label: "Medium", value: "M" }]),
    default_value: "S;M",
  });
  expect(field).toMatchObject({
    field_options: ["S", { label: "Medium", value: "M" }],
    default_value: ["S", "M"],
  });
  const number = {
    ...text("age"),
    field_type: "number",
    validation_rules: '{"min":0,"max":150}',
    default_value: "7",
  };
  expect(await create(number)).toMatchObject({ validation_rules: { min: 0, max: 150 }, default_value: 7 });
});

test.each([
  [text("email"), "field_name"],
  [text("First Name"), "field_name"],
  [text("__proto__"), "field_name"],
  [text("constructor"), "field_name"],
  [text("größe"), "field_name"],
  [text("a.b"), "field_name"],
  [text('a"b'), "field_name"],
  [text("   "), "field_name"],
  [text("x".repeat(65)), "field_name"],
  [text("a1", { field_label: "  " }), "field_label"],
  [text("a1", { field_type: "colour" }), "field_type"],
  [text("a1", { field_type: "select" }), "field_options"],
  [text("a1", { field_type: "select", field_options: [] }), "field_options"],
  [text("a1", { field_type: "select", field_options: ["S", "S"] }), "field_options"],
  [text("a1", { field_type: "select", field_options: [" S"] }), "field_options"],
  [text("a1", { field_type: "select", field_options: [{ label: "S" }] }), "field_options[0]"],
  [text("a1", { field_type: "select", field_options: "S,M" }), "field_options"],
  [text("a1", { field_type: "multiselect", field_options: ["a;b"] }), "field_options"],
  [text("a1", { validation_rules: { min: 1 } }), "validation_rules.min"],
  [text("a1", { validation_rules: { minimum: 1 } }), "validation_rules"],
  [text("a1", { validation_rules: { min_length: 5, max_length: 4 } }), "validation_rules.min_length"],
  [text("a1", { validation_rules: { max_length: "4" } }), "validation_rules.max_length"],
  [text("a1", { field_type: "number", validation_rules: { min: 2, max: 1 } }), "validation_rules.min"],
  [text("a1", { field_type: "number", default_value: "ten" }), "default_value"],
  [text("a1", { field_type: "number", validation_rules: { max: 5 }, default_value: 6 }), "default_value"],
  [text("a1", { display_order: -1 }), "display_order"],
])("%j is refused, naming %s", async (body, field) => {
  const answer = await service.call("POST", fields(), body);
  expect(answer.status).toBe(400);
  expect(answer.body.details[0].field.startsWith(field)).toBe(true);
});

test("a name is unique in a list and among the global fields, and a list's own field hides the global one", async () => {
  const own = await newList(service.database, service.workspaceId);
  const other = await newList(service.database, service.workspaceId);
  await create({ ...text("level"), field_type: "number" }, "/custom-fields/global");
  await create(text("level"), fields(own));
  for (const path of [fields(own), "/custom-fields/global"]) {
    expect((await service.call("POST", path, text("Level"))).body.code).toBe("CONFLICT");
  }
  const add = (of: string, email: string) =>
    service.call("POST", `/mailing-lists/${of}/subscribers`, { email, custom_fields: { level: "high" } });
  expect((await add(own, "own@example.com")).status).toBe(201);
  expect((await add(other, "other@example.com")).body.details[0].field).toBe("custom_fields.level");
});

test("64 clients that add one name at once make one field", async () => {
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => service.call("POST", fields(), text("raced"))),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201,
    ...Array(63).fill(409),
  ]);
});

describe("changes", () => {
  test("omitted fields stay, null clears, the name cannot change", async () => {
    const made = await create(
      text("note", { placeholder: "Say it", help_text: "Anything", is_required: true }),
    );
    const path = `${fields()}/${made.id}`;
    const changed = await service.call("PUT", path, {
      field_name: "Note",
      field_label: "Remark",
      placeholder: null,
    });
    expect(changed.body.data).toEqual({ ...made, field_label: "Remark", placeholder: null });
    expect((await service.call("PUT", path, { field_name: "notes" })).body.details[0].field).toBe(
      "field_name",
    );
    expect((await service.call("DELETE", path)).body.data).toEqual({ id: made.id, deleted: true });
    expect((await service.call("DELETE", path)).status).toBe(404);
  });

  test("the type changes when every value of the list's people converts, and they are converted", async () => {
    const of = await newList(service.database, service.workspaceId);
    const made = await create(text("points"), fields(of));
    await addPeople(service.database, service.workspaceId, of, [
      { email: "p1@example.com", custom_fields: { points: "12" } },
      { email: "p2@example.com", custom_fields: { points: "3.5", other: "kept" } },
    ]);
    const path = `${fields(of)}/${made.id}`;
    const toNumber = await service.call("PUT", path, { field_type: "number" });
    expect(toNumber.status, toNumber.body.error).toBe(200);
    const values = async () => {
      const { body } = await service.call("GET", `/subscribers?list_id=${of}`);
      return body.data.subscribers.map((one: { custom_fields: object }) => one.custom_fields);
    };
    expect(await values()).toEqual(expect.arrayContaining([{ points: 12 }, { points: 3.5, other: "kept" }]));
    const toDate = await service.call("PUT", path, { field_type: "date" });
    expect(toDate).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect((await service.call("PUT", path, { field_type: "text" })).status).toBe(200);
    expect(await values()).toEqual(
      expect.arrayContaining([{ points: "12" }, { points: "3.5", other: "kept" }]),
    );
  });
});

test("a type does not change if another list has the same people's values as another type", async () => {
  const { database, workspaceId } = service;
  const [one, two] = [
    await newList(database, workspaceId, "One"),
    await newList(database, workspaceId, "Two"),
  ];
  const number = { field_name: "size", field_label: "Size", field_type: "number" };
  const made = await create(number, fields(one));
  const other = await create(number, fields(two));
  const global = await create(number, "/custom-fields/global");
  await addPeople(database, workspaceId, one, [{ email: "both@size.example", custom_fields: { size: 5 } }]);
  await addPeople(database, workspaceId, two, [{ email: "both@size.example" }]);
  const path = `${fields(one)}/${made.id}`;
  const refused = await service.call("PUT", path, { field_type: "text" });
  expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
  expect(refused.body.error).toContain("the list Two");
  const sizes = async () => {
    const { body } = await service.call("GET", "/subscribers?search=both@size.example");
    return body.data.subscribers.map((each: { custom_fields: object }) => each.custom_fields);
  };
  expect(await sizes()).toEqual([{ size: 5 }]);
  // On both lists the list's own field holds: the global one says nothing about these values.
  const globalPath = `/custom-fields/global/${global.id}`;
  expect((await service.call("PUT", globalPath, { field_type: "text" })).status).toBe(200);
  expect(await sizes()).toEqual([{ size: 5 }]);
  await service.call("DELETE", globalPath);
  await service.call("DELETE", `${fields(two)}/${other.id}`);
  expect((await service.call("PUT", path, { field_type: "text" })).status).toBe(200);
  expect(await sizes()).toEqual([{ size: "5" }]);
});

test("a field of another list, or a global one, is not found through a list", async () => {
  const other = await newList(service.database, service.workspaceId);
  const theirs = await create(text("elsewhere"), fields(other));
  const global = await create(text("everywhere"), "/custom-fields/global");
  const paths = [
    `${fields()}/${theirs.id}`,
    `${fields()}/${global.id}`,
    `/custom-fields/global/${theirs.id}`,
    `${fields(newId())}/${theirs.id}`,
  ];
  for (const path of paths) {
    expect((await service.call("PUT", path, { field_label: "Mine" })).status).toBe(404);
    expect((await service.call("DELETE", path)).status).toBe(404);
  }
});
