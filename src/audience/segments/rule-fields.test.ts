/** GET /segments/fields says exactly what rules may be: a walk over its answer, and beyond it. */
import { describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { all, segmentService } from "#test/support/segments.ts";
import { sentCampaign } from "#test/support/tracked-campaign.ts";

interface Value {
  readonly type: string;
  readonly is_array: boolean;
  readonly max_length: number | null;
  readonly max_items: number | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
}
interface Operator {
  readonly name: string;
  readonly alias_of: string | null;
  readonly value: Value;
}
interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly is_custom: boolean;
  readonly operators: readonly Operator[];
  readonly values: readonly { readonly value: string; readonly label: string }[] | null;
  readonly values_from: string | null;
}

const { service, lists, saved, preview, get, fill } = await segmentService();

const { campaignId } = await sentCampaign(service.database, service.workspaceId, {
  base: service.url,
  deliveredAt: new Date(),
});

const types = ["text", "textarea", "email", "url", "number", "date", "boolean", "select", "multiselect"];
const options = ["S", { label: "Medium", value: "M" }];

/** Adds a custom field of every type to the list. */
async function addFields(): Promise<void> {
  for (const type of types) {
    const field_options = type.endsWith("select") ? options : undefined;
    const body = { field_name: `own_${type}`, field_label: `My ${type}`, field_type: type, field_options };
    const answer = await service.call("POST", `/mailing-lists/${lists.news}/custom-fields`, body);
    expect(answer.status, answer.body.error).toBe(201);
  }
}

const ofList = async (): Promise<Field[]> => (await get(`/segments/fields?list_id=${lists.news}`)).fields;

/** Values that the answer allows: one of them the largest, and one value beyond. */
function valuesFor(
  field: Field,
  { value }: Operator,
  segmentId: string,
): { readonly good: unknown[]; readonly bad: unknown[] } {
  const { type, is_array, max_length, max_items, minimum, maximum } = value;
  const known = field.values?.map((one) => one.value);
  const longest = "x".repeat(max_length ?? 0);
  const texts = field.type === "status" ? (known ?? []) : [...(known ?? []), longest];
  if (type === "text" && is_array) {
    const many =
      field.type === "status" ? texts : Array.from({ length: max_items ?? 0 }, (_, at) => `v${at}`);
    const tooMany = Array.from({ length: (max_items ?? 0) + 1 }, () => texts[0]);
    return { good: [texts, many], bad: [[], tooMany, [`${longest}x`], "text", 7] };
  }
  const outside = field.type === "status" ? ["lapsed"] : [];
  switch (type) {
    case "none":
      return { good: [undefined], bad: ["x", 1] };
    case "text":
      return { good: texts, bad: [`${longest}x`, "", 7, ["x"], ...outside] };
    case "number":
      return { good: [-1.5, 0], bad: ["many", null] };
    case "boolean":
      return { good: [true, false], bad: ["maybe", 7] };
    case "date":
      return { good: ["2026-01-31", "2026-01-31T10:00:00Z"], bad: ["someday", 7.5] };
    case "days":
      return { good: [minimum, maximum], bad: [(minimum ?? 0) - 1, (maximum ?? 0) + 1, 1.5, "x"] };
    case "segment":
      return { good: [segmentId], bad: [newId(), "x"] };
    case "mailing_list":
      return { good: [lists.news], bad: [newId(), "x"] };
    case "campaign":
      return { good: [campaignId], bad: [newId(), "x", { campaign_id: campaignId }] };
    case "campaign_link": {
      const links = (...indexes: (number | null)[]) =>
        indexes.map((link) => ({ campaign_id: campaignId, link }));
      return {
        good: links(minimum, maximum),
        bad: [...links((minimum ?? 0) - 1, (maximum ?? 0) + 1, 0.5), campaignId, null],
      };
    }
    default:
      throw new Error(`the test knows no value of the type ${type}`);
  }
}

describe("the fields of rules", () => {
  test("compile with every operator and every value that is named, and with no other", {
    timeout: 120_000,
  }, async () => {
    await addFields();
    await fill(["ann@one.example"]);
    const { id: segmentId } = await saved({ conditions: all(["email", "contains", "ann"]) });
    const fields = await ofList();
    const every = new Set(fields.flatMap(({ operators }) => operators.map(({ name }) => name)));
    for (const field of fields) {
      const own = new Set(field.operators.map(({ name }) => name));
      for (const operator of field.operators) {
        const { good, bad } = valuesFor(field, operator, segmentId);
        for (const value of good) {
          const { status, body } = await preview(all([field.name, operator.name, value]));
          expect(status, `${field.name} ${operator.name} ${String(value).slice(0, 40)}: ${body.error}`).toBe(
            200,
          );
        }
        for (const value of bad) {
          const { status } = await preview(all([field.name, operator.name, value]));
          expect(status, `${field.name} ${operator.name} ${String(value).slice(0, 40)}`).toBe(400);
        }
      }
      for (const stranger of [...every].filter((name) => !own.has(name))) {
        const { status, body } = await preview(all([field.name, stranger, "x"]));
        expect([status, body.error], `${field.name} ${stranger}`).toEqual([
          400,
          expect.stringContaining("does not fit"),
        ]);
      }
    }
    expect((await preview(all(["shoe_size", "equals", "x"]))).status).toBe(400);
  });

  test("have labels, choices and the operations that list what they refer to", async () => {
    await addFields();
    const byName = new Map((await ofList()).map((field) => [field.name, field]));
    expect(byName.get("custom_fields.own_select")).toMatchObject({
      label: "My select",
      type: "choice",
      is_custom: true,
      values: [
        { value: "S", label: "S" },
        { value: "M", label: "Medium" },
      ],
    });
    expect(byName.get("status")?.values?.map(({ value }) => value)).toEqual([
      "active",
      "unsubscribed",
      "bounced",
      "complained",
    ]);
    expect(byName.get("segment")).toMatchObject({ values: null, values_from: "listSegments" });
    expect(byName.get("mailing_list")).toMatchObject({ values: null, values_from: "listMailingLists" });
    expect(byName.get("email")?.label).toBe("Email address");
  });

  test("name an operator with two names once, and its other names as aliases", async () => {
    const email = (await ofList()).find(({ name }) => name === "email");
    const aliases = email?.operators.filter(({ alias_of }) => alias_of !== null);
    expect(aliases?.map(({ name, alias_of }) => [name, alias_of])).toEqual([["is_one_of", "in"]]);
  });

  test("of all lists are the built-in and global ones", async () => {
    await addFields();
    const body = { field_name: "plan", field_label: "Plan", field_type: "text" };
    expect((await service.call("POST", "/custom-fields/global", body)).status).toBe(201);
    const fields: Field[] = (await get("/segments/fields")).fields;
    expect(fields.filter(({ is_custom }) => is_custom).map(({ name }) => name)).toEqual([
      "custom_fields.plan",
    ]);
    expect((await ofList()).map(({ name }) => name)).toContain("custom_fields.plan");
  });

  test("of a list have its own field in place of a global one with the same name", async () => {
    const global = { field_name: "tier", field_label: "Everywhere", field_type: "text" };
    await service.call("POST", "/custom-fields/global", global);
    const own = { field_name: "tier", field_label: "Here", field_type: "number" };
    await service.call("POST", `/mailing-lists/${lists.news}/custom-fields`, own);
    const tiers = (await ofList()).filter(({ name }) => name === "custom_fields.tier");
    expect(tiers.map(({ label, type }) => [label, type])).toEqual([["Here", "number"]]);
  });

  test("of an unknown list, and of another workspace's, are refused", async () => {
    const other = await service.newWorkspace();
    const list = await service.call("POST", "/mailing-lists", { name: "Theirs" }, { key: other.key });
    for (const id of [newId(), list.body.data.id]) {
      const answer = await service.call("GET", `/segments/fields?list_id=${id}`);
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  test("come with limits that hold: one condition or level more is refused", async () => {
    await fill(["ann@one.example"]);
    const { limits } = await get("/segments/fields");
    const rule = { field: "email", operator: "contains", value: "ann" };
    const wide = (count: number) => ({ logic: "or", rules: Array.from({ length: count }, () => rule) });
    const deep = (levels: number): object =>
      levels === 1 ? wide(1) : { logic: "and", rules: [deep(levels - 1)] };
    for (const [conditions, status] of [
      [wide(limits.conditions), 200],
      [wide(limits.conditions + 1), 400],
      [deep(limits.depth), 200],
      [deep(limits.depth + 1), 400],
    ] as const) {
      expect((await preview(conditions)).status).toBe(status);
    }
  });
});
