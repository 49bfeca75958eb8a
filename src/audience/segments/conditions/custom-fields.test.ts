import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { addPeople } from "#test/support/audience.ts";
import { all, segmentService } from "#test/support/segments.ts";

const { service, database, workspaceId, lists, segmentsOf, save, saved, preview, count } =
  await segmentService();

describe("custom fields", () => {
  const define = async (field_name: string, field_type: string, more: object = {}) => {
    const body = { field_name, field_label: field_name, field_type, ...more };
    const answer = await service.call("POST", `/mailing-lists/${lists.news}/custom-fields`, body);
    expect(answer.status, answer.body.error).toBe(201);
    return answer.body.data.id;
  };

  test("are compared as they are defined, by their name alone too", async () => {
    await define("size", "number");
    await define("colour", "select", { field_options: ["Red", "Blue"] });
    await addPeople(
      database,
      workspaceId,
      lists.news,
      [9, 10, 11].map((size) => ({
        email: `p${size}@x.example`,
        custom_fields: { size, colour: size === 9 ? "Red" : "Blue" },
      })),
    );
    expect(await count(all(["size", "greater_than", 9]))).toBe(2);
    expect(await count(all(["custom_fields.size", "less_than_or_equal", 10]))).toBe(2);
    expect(await count(all(["colour", "is", "blue"]))).toBe(2);
    expect(await count(all(["colour", "is_not_one_of", ["BLUE", "green"]]))).toBe(1);
  });

  test.each([
    ["text", "Rome", ["", "  "], {}],
    ["number", 0, [], {}],
    ["date", "2026-01-31", [], {}],
    ["boolean", false, [], {}],
    ["select", "Red", [""], { field_options: ["Red"] }],
    ["multiselect", ["Red"], [[]], { field_options: ["Red"] }],
  ] as const)(
    "of the type %s can be asked whether they have a value",
    async (type, value, nothings, more) => {
      await define("note", type, more);
      const empty = [undefined, null, ...nothings];
      await addPeople(database, workspaceId, lists.news, [
        { email: "full@x.example", custom_fields: { note: value } },
        ...empty.map((note, at) => ({ email: `e${at}@x.example`, custom_fields: { note } })),
      ]);
      expect(await count({ logic: "and", rules: [{ field: "note", operator: "is_not_empty" }] })).toBe(1);
      expect(await count(all(["custom_fields.note", "is_empty", null]))).toBe(empty.length);
    },
  );

  test("built-in fields have the operators for empty values, without a value", async () => {
    await addPeople(database, workspaceId, lists.news, [
      { email: "ann@x.example", first_name: "Ann" },
      { email: "no@x.example" },
    ]);
    const opened = sql`update subscribers set last_opened_at = now() where workspace_id = ${workspaceId} and email = 'ann@x.example'`;
    await database.run(opened);
    for (const [field, empty] of [
      ["first_name", 1],
      ["last_name", 2],
      ["last_opened_at", 1],
      ["last_clicked_at", 2],
      ["unsubscribed_at", 2],
      ["email", 0],
      ["status", 0],
      ["open_count", 0],
    ] as const) {
      const rules = (operator: string) => ({ logic: "and", rules: [{ field, operator }] });
      expect([field, await count(rules("is_empty")), await count(rules("is_not_empty"))]).toEqual([
        field,
        empty,
        2 - empty,
      ]);
    }
    const { status, body } = await preview(all(["first_name", "is_empty", false]));
    expect([status, body.error]).toEqual([400, "conditions.rules[0]: value must be left out"]);
  });

  test("without a definition are compared as text", async () => {
    const people = [{ email: "a@x.example", custom_fields: { size: 10, __proto__: null } }];
    await addPeople(database, workspaceId, lists.news, people);
    expect(await count(all(["custom_fields.size", "equals", "10"]))).toBe(1);
  });

  test("that no list defines and no person has a value of are refused, with a hint", async () => {
    await define("city", "text");
    const people = [{ email: "a@x.example", custom_fields: { town: "Rome" } }];
    await addPeople(database, workspaceId, lists.news, people);
    for (const [field, hint] of [
      ["custom_fields.ctiy", ": did you mean custom_fields.city?"],
      ["custom_fields.City", ": did you mean custom_fields.city?"],
      ["custom_fields.citty", ": did you mean custom_fields.city?"],
      ["custom_fields.cty", ": did you mean custom_fields.city?"],
      ["custom_fields.first_nam", ": did you mean first_name?"],
      ["custom_fields.ctiy' OR", ""],
      ["custom_fields.constructor", ""],
      ["custom_fields.__proto__", ""],
    ] as const) {
      const conditions = all(["email", "contains", "a"], [field, "not_equals", "x"]);
      for (const answer of [await preview(conditions), await save({ name: "x", conditions })]) {
        expect([answer.status, answer.body.details]).toEqual([
          400,
          [
            {
              field: "conditions.rules[1]",
              message: `conditions.rules[1]: no list defines the field ${field.slice(14)}, and no person has a value of it${hint}`,
            },
          ],
        ]);
      }
    }
    // Held by a person, or defined on another list.
    expect(await count(all(["custom_fields.town", "equals", "rome"]))).toBe(1);
    const elsewhere = { field_name: "pet", field_label: "Pet", field_type: "text" };
    await service.call("POST", `/mailing-lists/${lists.offers}/custom-fields`, elsewhere);
    expect(await count(all(["custom_fields.pet", "equals", "cat"]))).toBe(0);
  });

  test("a rule on a deleted field matches nobody, and counting works", async () => {
    const field = await define("size", "number");
    await addPeople(database, workspaceId, lists.news, [
      { email: "a@x.example", custom_fields: { size: 10 } },
    ]);
    const { id } = await saved({ conditions: all(["size", "greater_than", 9]) });
    await database.run(sql`delete from custom_fields where id = ${field}`);
    const page = await service.call("GET", `${segmentsOf()}/${id}/subscribers`);
    expect([page.status, page.body.data.pagination.total]).toEqual([200, 0]);
  });
});
