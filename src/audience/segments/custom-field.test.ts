import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { addPeople } from "../../../test/support/audience.ts";
import { all, segmentService } from "../../../test/support/segments.ts";

const { service, database, workspaceId, lists, segmentsOf, saved, count } = await segmentService();

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

  test("without a definition are compared as text", async () => {
    const people = [{ email: "a@x.example", custom_fields: { size: 10, __proto__: null } }];
    await addPeople(database, workspaceId, lists.news, people);
    expect(await count(all(["custom_fields.size", "equals", "10"]))).toBe(1);
    expect(await count(all(["custom_fields.constructor", "contains", "function"]))).toBe(0);
    expect(await count(all(["custom_fields.__proto__", "not_equals", "x"]))).toBe(1);
  });

  test("a rule whose field has gone matches nobody, and counting goes on", async () => {
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
