/**
 * The statement and the evaluator are two answers to one question. Over random people and random conditions, with
 * everything that fields, operators and references can do, they must name the same people.
 */
import fc from "fast-check";
import sql, { join } from "sql-template-tag";
import { expect, test } from "vitest";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { systemClock } from "#platform/clock.ts";
import { newId } from "#platform/ids.ts";
import { testDatabase } from "#test/support/database.ts";
import {
  cities,
  colours,
  days,
  domains,
  insertSegmentPeople,
  instants,
  names,
} from "#test/support/segment-people.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import type { FieldDefinition } from "./conditions/binding-scope.ts";
import { isIn, type Segmentation } from "./conditions/bound-rule.ts";
import { builtInFields } from "./conditions/built-in-fields.ts";
import type { Condition, Conditions } from "./conditions/conditions.ts";
import { customField } from "./conditions/custom-fields.ts";
import { createBinder, type ListConditions } from "./conditions/load-and-bind.ts";
import { membersRelation } from "./members-store.ts";

const TREES = 10_000;
const TREES_AT_ONCE = 200;
const TREES_A_STATEMENT = 25;
const PEOPLE = 300;
const STORED_SEGMENTS = 12;

const timeZone = "America/Santiago";
const now = new Date("2026-11-01T12:00:00.000Z");

const db = await testDatabase();
const settings = { name: "Test", timezone: timeZone, plan: "enterprise" } as const;
const workspaceId = (await createWorkspace(db, settings, systemClock)).workspace.id;
const { lists, people, campaigns } = await insertSegmentPeople(db, workspaceId, PEOPLE, now);
const [, , elsewhere = ""] = lists;

const known = new Set(campaigns);

const options = ["red", "Green", "GREEN", "blue"];
const definitions: (FieldDefinition & { mailing_list_id: string | null })[] = [
  { mailing_list_id: null, field_name: "size", field_type: "number", field_options: null },
  { mailing_list_id: null, field_name: "born", field_type: "date", field_options: null },
  { mailing_list_id: null, field_name: "vip", field_type: "boolean", field_options: null },
  { mailing_list_id: null, field_name: "colour", field_type: "select", field_options: options },
  { mailing_list_id: null, field_name: "tags", field_type: "multiselect", field_options: options },
  // One list has another opinion.
  { mailing_list_id: elsewhere, field_name: "colour", field_type: "text", field_options: null },
];
const undefinedFields = ["city", "constructor", "__proto__", 'it\'s "odd"', "nobody_has_it"];
const ids = Array.from({ length: STORED_SEGMENTS }, newId);

const oddTexts = [
  "@gmail.com",
  "bücher.de",
  "@Bücher.de",
  "1@bu\u0308cher.de",
  "ann0@bücher.de",
  ".com",
  "%",
  "_",
  "\\",
  "i\u0307",
  "σς",
  "SS",
  "[",
  '["Paris"]',
  "7",
  "tru",
  "1@",
  "0@example.com",
  '{"b": [1, "x"], "aa": null}',
];
const texts = [...names, ...domains, ...cities, ...colours]
  .flatMap((text) => [text, text.slice(0, 2), text.slice(-3)])
  .concat(oddTexts)
  .filter((text) => text.trim() !== "");
const times = [
  "2026-09-06T00:30:00",
  "2026-10-22 12:00:00.5Z",
  "2026-11-01T09:00:00-03:00",
  "9999-12-31T23:00:00",
  "0001-01-01T00:00:00+12:00",
];
const numbers = [0, -1.5, 3, 0.1, 9.99, 1e15, 1, 10, 30, 36_500];

/** Whatever any operator may want. What it does not, it refuses, and then it is not asked. */
const values: unknown[] = [
  ...texts,
  ...subscriberStatuses,
  ...numbers,
  ...days,
  ...instants,
  ...times,
  ...ids,
  ...lists,
  ...campaigns,
  ...[...campaigns, newId()].flatMap((id) => [0, 1].map((link) => ({ campaign_id: id, link }))),
  null,
  true,
  false,
  "yes",
  ["active"],
  ["bounced", "unsubscribed"],
  ["active", "complained"],
  ["red", "purple"],
  colours,
  [...texts.slice(0, 30), "3", "Red", "PURPLE", '["red"]'],
  ...Array.from({ length: 60 }, (_, at) => texts.filter((_, index) => (index * 7 + at) % (11 + at) < 2)),
];

/** The values that an operator of a field takes on a list. */
function acceptedValues(list: string, field: string, operator: string): unknown[] {
  const binder = createBinder({
    now,
    timeZone,
    stored: [],
    definitions,
    sparseLists: new Set(),
    campaigns: known,
  });
  return values.filter((value) => {
    let isRefused = false;
    const conditions: Conditions = { logic: "and", rules: [{ field, operator, value }] };
    binder.bind({ mailing_list_id: list, conditions }, () => {
      isRefused = true;
    });
    return !isRefused;
  });
}

/** Every field with every operator of it that takes any of the values, on a list. */
function condition(list: string): fc.Arbitrary<Condition> {
  const defined = new Map(
    definitions
      .filter(({ mailing_list_id }) => mailing_list_id === null || mailing_list_id === list)
      .map((definition) => [definition.field_name, definition]),
  );
  const fields = [
    ...Array.from(builtInFields, ([name, field]) => ({ name, field })),
    ...Array.from(defined, ([name, definition]) => ({ name, field: customField(name, definition) })),
    ...undefinedFields.map((name) => ({
      name: `custom_fields.${name}`,
      field: customField(name, undefined),
    })),
  ];
  return fc.oneof(
    ...fields.map(({ name, field: { operators } }) =>
      fc.oneof(
        ...operators.map(({ name: operator }) => {
          const accepted = acceptedValues(list, name, operator);
          expect(accepted, `${name} ${operator} is asked with no value`).not.toEqual([]);
          return fc.record({
            field: fc.constant(name),
            operator: fc.constant(operator),
            value: fc.constantFrom(...accepted),
          });
        }),
      ),
    ),
  );
}

/** Conditions up to five deep on any of the lists. */
const target: fc.Arbitrary<ListConditions> = fc.oneof(
  ...lists.map((list) => {
    const { group } = fc.letrec<{ group: Conditions }>((tie) => ({
      group: fc.record({
        logic: fc.constantFrom("and", "or"),
        rules: fc.array(fc.oneof({ maxDepth: 4, depthSize: "small" }, condition(list), tie("group")), {
          minLength: 1,
          maxLength: 4,
        }),
      }),
    }));
    return fc.record({ mailing_list_id: fc.constant(list), conditions: group });
  }),
);

/** No such operator fits numbers. */
const unfit: Condition = { field: "size", operator: "contains", value: "1" };

/**
 * Segments to refer to: each only to those before it, by taking ids out that would come round. One has lost a rule, and
 * so have those that refer to it.
 */
const stored = fc.sample(target, { numRuns: STORED_SEGMENTS, seed: 1 }).map((sampled, at) => ({
  ...sampled,
  id: ids[at] ?? "",
  conditions: JSON.parse(
    JSON.stringify(
      at === 1 ? { logic: "or", rules: [unfit, sampled.conditions] } : sampled.conditions,
    ).replaceAll(new RegExp(ids.slice(at).join("|"), "g"), ids[at - 1] ?? newId()),
  ),
}));

/** For each of the segments who is in it, asked of the database a few together. */
async function askStatements(segments: readonly Segmentation[]): Promise<string[][]> {
  const relations = segments.map(
    (segment, tree) => sql`select ${tree}::int as tree, id from ${membersRelation(workspaceId, segment)} a`,
  );
  const statements = Array.from({ length: relations.length / TREES_A_STATEMENT }, (_, at) =>
    join(relations.slice(at * TREES_A_STATEMENT, (at + 1) * TREES_A_STATEMENT), " union all "),
  );
  const rows = await Promise.all(statements.map((all) => db.rows<{ tree: number; id: string }>(all)));
  const byTree = Map.groupBy(rows.flat(), ({ tree }) => tree);
  return segments.map((_, tree) => (byTree.get(tree) ?? []).map(({ id }) => id).sort());
}

function askEvaluator(segment: Segmentation): string[] {
  return Array.from(people)
    .filter(([, person]) => isIn(segment, person))
    .map(([id]) => id)
    .sort();
}

test("the SQL and the TypeScript form of conditions match the same people", {
  timeout: 120_000,
}, async () => {
  let named = 0;
  let run = 0;
  const property = fc.asyncProperty(
    fc.array(target, { minLength: TREES_AT_ONCE, maxLength: TREES_AT_ONCE }),
    async (targets) => {
      // Either statement, in turn.
      const sparseLists = new Set(run++ % 2 === 0 ? lists : []);
      const binder = createBinder({ now, timeZone, stored, definitions, sparseLists, campaigns: known });
      const segments = targets.map((each) => binder.bind(each));
      for (const [tree, found] of (await askStatements(segments)).entries()) {
        expect(found, JSON.stringify(targets[tree])).toEqual(askEvaluator(segments[tree] as Segmentation));
        named += found.length;
      }
    },
  );
  await fc.assert(property, { numRuns: TREES / TREES_AT_ONCE, endOnFailure: true });
  // Neither no one nor all.
  expect(named / TREES).toBeGreaterThan(20);
  expect(named / TREES).toBeLessThan(200);
});
