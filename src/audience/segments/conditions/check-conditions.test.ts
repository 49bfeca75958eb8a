import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { all, type Rule, rule, segmentService } from "#test/support/segments.ts";

const { service, segmentsOf, save, preview, count, get } = await segmentService();

describe("a refusal names the rule", () => {
  const nested = (depth: number): object =>
    depth === 0 ? rule(["email", "contains", "a"]) : { logic: "and", rules: [nested(depth - 1)] };

  test.each<[string, unknown, string]>([
    ["no object", 7, "conditions"],
    ["no logic", { rules: [rule(["email", "contains", "a"])] }, "conditions.logic"],
    ["an unknown logic", { logic: "xor", rules: [rule(["email", "contains", "a"])] }, "conditions.logic"],
    ["no rules", { logic: "and", rules: [] }, "conditions.rules"],
    ["rules that are no array", { logic: "and", rules: {} }, "conditions.rules"],
    ["an empty group", { logic: "and", rules: [{ logic: "or", rules: [] }] }, "conditions.rules[0]"],
    ["a group without logic", { logic: "and", rules: [{ rules: [{}] }] }, "conditions.rules[0]"],
    ["a rule that is none", { logic: "and", rules: [null] }, "conditions.rules[0]"],
    [
      "a rule without a field",
      { logic: "and", rules: [{ operator: "is", value: 1 }] },
      "conditions.rules[0]",
    ],
    [
      "a condition that is a group as well",
      { logic: "and", rules: [{ ...all(["email", "contains", "a"]), ...rule(["email", "contains", "b"]) }] },
      "conditions.rules[0]",
    ],
    ["a group with a value", { ...all(["email", "contains", "a"]), value: null }, "conditions"],
    ["groups six deep", nested(6), "conditions.rules[0].rules[0].rules[0].rules[0].rules[0]"],
    [
      "101 conditions",
      all(...Array.from({ length: 101 }, (): Rule => ["email", "contains", "a"])),
      "conditions.rules",
    ],
    ["an unknown field", all(["shoe", "equals", "a"]), "conditions.rules[0]"],
    ["a field of every object", all(["__proto__", "equals", "a"]), "conditions.rules[0]"],
    ["a field of every object's", all(["constructor", "equals", "a"]), "conditions.rules[0]"],
    ["a field that is SQL", all(["s.email) or (1=1", "equals", "a"]), "conditions.rules[0]"],
    ["an unknown operator", all(["email", "like", "a"]), "conditions.rules[0]"],
    ["an operator of every object", all(["email", "toString", "a"]), "conditions.rules[0]"],
    ["an operator that does not fit", all(["sent_count", "contains", "1"]), "conditions.rules[0]"],
    ["text for a number", all(["sent_count", "greater_than", "9"]), "conditions.rules[0]"],
    ["null for a text", all(["email", "equals", null]), "conditions.rules[0]"],
    ["blanks for a text", all(["email", "equals", " \n"]), "conditions.rules[0]"],
    ["501 characters", all(["email", "equals", "a".repeat(501)]), "conditions.rules[0]"],
    ["an array for a text", all(["email", "equals", ["a"]]), "conditions.rules[0]"],
    ["a text for an array", all(["email", "is_one_of", "a"]), "conditions.rules[0]"],
    ["an empty array", all(["email", "is_one_of", []]), "conditions.rules[0]"],
    ["1,001 items", all(["email", "is_one_of", Array(1_001).fill("a")]), "conditions.rules[0]"],
    ["an item that is no text", all(["email", "is_one_of", ["a", 1]]), "conditions.rules[0]"],
    ["-1 days", all(["last_opened_at", "in_last_days", -1]), "conditions.rules[0]"],
    ["1e9 days", all(["last_opened_at", "in_last_days", 1e9]), "conditions.rules[0]"],
    ["half a day", all(["last_opened_at", "in_last_days", 0.5]), "conditions.rules[0]"],
    ["yesterday", all(["created_at", "before", "yesterday"]), "conditions.rules[0]"],
    ["31 February", all(["created_at", "before", "2026-02-31"]), "conditions.rules[0]"],
    ["a quarter past 25", all(["created_at", "before", "2026-02-01T25:15:00Z"]), "conditions.rules[0]"],
    ["an unknown status", all(["status", "is", "asleep"]), "conditions.rules[0]"],
    ["a segment that is no id", all(["segment", "is_in", "x"]), "conditions.rules[0]"],
    ["a segment that is not there", all(["segment", "is_in", newId()]), "conditions.rules[0]"],
    ["a list that is not there", all(["mailing_list", "is_active_in", newId()]), "conditions.rules[0]"],
    [
      "what is wrong further in",
      {
        logic: "and",
        rules: [rule(["email", "contains", "a"]), all(["sent_count", "before", "2026-01-01"])],
      },
      "conditions.rules[1].rules[0]",
    ],
  ])("%s", async (_what, conditions, path) => {
    for (const answer of [await preview(conditions), await save({ name: "x", conditions })]) {
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.body.details[0].field).toBe(path);
    }
  });

  test("all of them at once", async () => {
    const { body } = await preview(all(["shoe", "is", 1], ["email", "contains", "a"], ["status", "is", "x"]));
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual([
      "conditions.rules[0]",
      "conditions.rules[2]",
    ]);
  });

  test.each([
    ["firstName", "first_name"],
    ["last_opend_at", "last_opened_at"],
    ["Email", "email"],
    ["opencount", "open_count"],
    ["first_nam", "first_name"],
    ["fist_name", "first_name"],
    ["emai", "email"],
    ["satus", "status"],
  ])("a field that is nearly one is told which: %s", async (field, meant) => {
    const { body } = await preview(all([field, "equals", "x"]));
    expect(body.error).toBe(`conditions.rules[0]: there is no field ${field}: did you mean ${meant}?`);
  });

  test("misspelled names in a rule or group get a hint", async () => {
    const typo = await preview({
      logic: "and",
      rules: [{ combinator: "and", rules: [{ ...rule(["email", "contains", "a"]), Value: "b" }] }],
    });
    expect([typo.status, typo.body.details]).toEqual([
      400,
      [
        {
          field: "conditions.rules[0].combinator",
          message:
            "conditions.rules[0].combinator is not a known field: did you mean conditions.rules[0].logic?",
        },
        {
          field: "conditions.rules[0].rules[0].Value",
          message:
            "conditions.rules[0].rules[0].Value is not a known field: did you mean conditions.rules[0].rules[0].value?",
        },
      ],
    ]);
    const told = await preview({ ...all(["email", "contains", "a"]), id: "g-1" });
    expect([told.status, told.body.warnings]).toEqual([
      200,
      [{ field: "conditions.id", message: "conditions.id is not a known field and was ignored" }],
    ]);
  });

  test("the refusal of an unknown status lists the known ones", async () => {
    const { body } = await preview(all(["status", "is", "asleep"]));
    expect(body.error).toBe(
      "conditions.rules[0]: value must be one of active, unsubscribed, bounced, complained",
    );
  });

  test("groups 10,000 deep", async () => {
    const deep = `${'{"logic":"and","rules":['.repeat(10_000)}${"]}".repeat(10_000)}`;
    const answer = await service.call("POST", `${segmentsOf()}/preview`, `{"conditions":${deep}}`);
    expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("segments and lists of another workspace are refused like unknown ones", async () => {
    const { key } = await service.newWorkspace();
    const theirs = (await service.call("POST", "/mailing-lists", { name: "x" }, { key })).body.data.id;
    const body = { name: "x", conditions: all(["email", "contains", "a"]) };
    const { id } = (await service.call("POST", segmentsOf(theirs), body, { key })).body.data;
    for (const [field, operator, foreign] of [
      ["segment", "is_in", id],
      ["mailing_list", "is_active_in", theirs],
    ] as const) {
      const [known, unknown] = [
        await preview(all([field, operator, foreign])),
        await preview(all([field, operator, newId()])),
      ];
      expect(known.body).toEqual(unknown.body);
      expect(known.status).toBe(400);
    }
  });

  test("the id of a list is no segment, and that of a segment no list", async () => {
    const body = { name: "x", conditions: all(["email", "contains", "a"]) };
    const { id } = (await service.call("POST", segmentsOf(), body)).body.data;
    const list = segmentsOf().split("/")[2] ?? "";
    for (const [rule, what] of [
      [["segment", "is_in", list], "segment"],
      [["mailing_list", "is_active_in", id], "mailing list"],
    ] as const) {
      const { status, body: refused } = await preview(all([...rule]));
      expect([status, refused.details[0].message]).toEqual([
        400,
        `conditions.rules[0]: value is no ${what} of this workspace`,
      ]);
    }
    await service.call("DELETE", `${segmentsOf()}/${id}`);
  });

  test("a preview saves nothing", async () => {
    await count(all(["email", "contains", "a"]));
    expect((await get(segmentsOf())).segments).toEqual([]);
  });
});
