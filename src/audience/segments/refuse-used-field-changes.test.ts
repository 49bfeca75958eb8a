import { describe, expect, test } from "vitest";
import { addPeople } from "#test/support/audience.ts";
import { all, type Rule, segmentService } from "#test/support/segments.ts";

const { service, lists, segmentsOf, saved } = await segmentService();

const remove = async (path: string) => {
  const { status, body } = await service.call("DELETE", path);
  return [status, body.code ?? null, body.error ?? null];
};
const done = [200, null, null];

describe("a custom field", () => {
  const post = (
    field_name: string,
    field_type: string,
    path = `/mailing-lists/${lists.news}/custom-fields`,
  ) =>
    service.call("POST", path, { field_name, field_label: field_name, field_type, field_options: ["stop"] });
  const define = async (field_name: string, path = `/mailing-lists/${lists.news}/custom-fields`) => {
    const answer = await post(field_name, "number", path);
    expect(answer.status, answer.body.error).toBe(201);
    return `${path}/${answer.body.data.id}`;
  };
  const within = (rule: Rule) => ({ logic: "or", rules: [all(["email", "contains", "a"]), all(rule)] });

  test.each(["size", "custom_fields.size"])("that a segment names as %s cannot be deleted", async (name) => {
    const field = await define("size");
    const { id } = await saved({ name: "Large", conditions: within([name, "greater_than", 9]) });
    const error = 'Segments use this field: "Large"; change them first';
    expect(await remove(field)).toEqual([409, "CONFLICT", error]);
    await service.call("PUT", `${segmentsOf()}/${id}`, { conditions: all(["email", "contains", "a"]) });
    expect(await remove(field)).toEqual(done);
    expect((await remove(field))[0]).toBe(404);
  });

  test("of another list, or of another name, can be", async () => {
    const [theirs, ours] = [
      await define("size", `/mailing-lists/${lists.offers}/custom-fields`),
      await define("siz"),
    ];
    await define("size");
    await saved({ conditions: within(["size", "greater_than", 9]) });
    await saved({ conditions: all(["email", "equals", "size"]) }, lists.offers);
    expect(await remove(theirs)).toEqual(done);
    expect(await remove(ours)).toEqual(done);
  });

  test("that is global is in use where a list has no field of that name; the refusal names the first users", async () => {
    const field = await define("weight", "/custom-fields/global");
    const own = await define("weight");
    const made = await saved({ conditions: within(["weight", "greater_than", 9]) });
    expect((await remove(own))[0]).toBe(409);
    for (const name of ["A", "B", "C", "D"]) {
      await saved({ name, conditions: within(["weight", "less_than", 1]) }, lists.offers);
    }
    const error = 'Segments use this field: "A", "B", "C" and 1 more; change them first';
    expect(await remove(field)).toEqual([409, "CONFLICT", error]);
    await remove(`${segmentsOf()}/${made.id}`);
    expect(await remove(own)).toEqual(done);
  });

  const global = "/custom-fields/global";
  const outcome = async (answer: ReturnType<typeof post>) => {
    const { status, body } = await answer;
    return [status, body.error ?? null];
  };

  test("that rules named before it existed can only be created as a text", async () => {
    const held = [{ email: "flag@x.example", custom_fields: { flag: "stop" } }];
    await addPeople(service.database, service.workspaceId, lists.news, held);
    const { id } = await saved({
      name: "Stop",
      conditions: within(["custom_fields.flag", "is_one_of", ["stop"]]),
    });
    const refused = [409, 'Segments use this field: "Stop"; change them first'];
    expect(await outcome(post("flag", "multiselect"))).toEqual(refused);
    expect(await outcome(post("flag", "multiselect", global))).toEqual(refused);
    expect(
      await outcome(post("flag", "multiselect", `/mailing-lists/${lists.offers}/custom-fields`)),
    ).toEqual([201, null]);
    expect(await outcome(post("flag", "text"))).toEqual([201, null]);
    expect((await service.call("DELETE", `${segmentsOf()}/${id}`)).status).toBe(200);
  });

  test("of a list cannot replace a global one of another type that rules use", async () => {
    await define("height", global);
    await saved({ name: "Tall", conditions: within(["height", "greater_than", 2]) });
    const refused = [409, 'Segments use this field: "Tall"; change them first'];
    expect(await outcome(post("height", "text"))).toEqual(refused);
    expect(await outcome(post("height", "number"))).toEqual([201, null]);
  });
});

describe("a mailing list", () => {
  test.each([
    ["itself", () => lists.offers, "mailing_list", "is_not_active_in"],
    [
      "a segment of it",
      async () => (await saved({ conditions: all(["email", "contains", "a"]) }, lists.offers)).id,
      "segment",
      "is_in",
    ],
  ] as const)(
    "cannot be deleted while a segment elsewhere names %s",
    async (_what, find, field, operator) => {
      const value = (await find()).toUpperCase();
      const { id } = await saved({ name: "Others", conditions: all([field, operator, value]) });
      const error = 'Segments use this mailing list, or a segment of it: "Others"; change them first';
      const members = `/mailing-lists/${lists.offers}/subscribers`;
      await service.call("POST", members, { email: "ada@example.com" });
      expect(await remove(`/mailing-lists/${lists.offers}`)).toEqual([409, "CONFLICT", error]);
      const { body } = await service.call("GET", members);
      expect(body.data.pagination.total).toBe(1);
      await remove(`${segmentsOf()}/${id}`);
      expect(await remove(`/mailing-lists/${lists.offers}`)).toEqual(done);
    },
  );

  test("is deleted with its own segments, whatever they refer to", async () => {
    const { id } = await saved({ conditions: all(["mailing_list", "is_active_in", lists.news]) });
    await saved({ conditions: all(["segment", "is_in", id]) });
    expect(await remove(`/mailing-lists/${lists.news}`)).toEqual(done);
  });
});
