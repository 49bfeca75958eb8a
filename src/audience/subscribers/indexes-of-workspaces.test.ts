import sql, { type Sql } from "sql-template-tag";
import { expect, test } from "vitest";
import { addPeople, newList } from "#test/support/audience.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { testDatabase } from "#test/support/database.ts";
import { fromPeopleByField, selectedIdsSql } from "./filtered-people-store.ts";
import { searchedPeople } from "./search-conditions.ts";

/** Workspaces with the same people, some of whom are called Anna. */
const WORKSPACES = 8;
const ANNAS = 5;

const db = await testDatabase();
const workspaces = [];
for (let at = 0; at < WORKSPACES; at++) {
  const id = await insertBareWorkspace(db);
  const list = await newList(db, id);
  const people = Array.from({ length: 40 }, (_, number) => ({
    email: `person${number}@people.test`,
    first_name: number < ANNAS ? "Anna" : "Otto",
    custom_fields: { city: number < ANNAS ? "Rome" : "Oslo" },
  }));
  await addPeople(db, id, list, people);
  workspaces.push(id);
}
await db.run(sql`vacuum analyze subscribers`);
const workspaceId = workspaces[2] ?? (await insertBareWorkspace(db));

interface Plan {
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly Plans?: readonly Plan[];
}

/** How many people an index answers with when a statement runs. */
async function answersOf(index: string, statement: Sql): Promise<number[]> {
  return (await indexesOf(statement)).filter(({ name }) => name === index).map(({ answers }) => answers);
}

/** The indexes that are read when a statement runs, and how many people each answers with. */
async function indexesOf(statement: Sql): Promise<{ name: string; answers: number }[]> {
  return await db.transaction(async (tx) => {
    // There are so few people that the planner would read all of them.
    await tx.run(
      sql`select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true)`,
    );
    const row = await tx.row<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
      sql`explain (analyze, format json) ${statement}`,
    );
    const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];
    return (row?.["QUERY PLAN"] ?? [])
      .flatMap(({ Plan: root }) => nodes(root))
      .flatMap(({ "Index Name": name, "Actual Rows": answers }) =>
        name === undefined ? [] : [{ name, answers }],
      );
  });
}

test.each(["anna", "ann", "person3 anna"])(
  "a search for %s reads no people of other workspaces",
  async (text) => {
    const found = searchedPeople(workspaceId, text).map(
      (people) => sql`select s.id from ${people} where s.workspace_id = ${workspaceId}`,
    );
    const [byWords = sql`select`] = found;
    const wanted = text === "person3 anna" ? 1 : ANNAS;
    expect(await answersOf("subscribers_by_words", byWords)).toEqual([wanted]);
    expect(await db.rows(byWords)).toHaveLength(wanted);
  },
);

const filter = {
  joinedFrom: null,
  joinedTo: null,
  openedSince: null,
  neverOpened: false,
  clickedSince: null,
  neverClicked: false,
  fieldParts: ['{"city":"Rome"}'],
};

test("a filter by a custom field reads no people of other workspaces", async () => {
  const selection = { mailingListId: null, status: undefined, search: undefined, filter };
  const selected = sql`select id from ${selectedIdsSql(workspaceId, selection)} p`;
  expect(await answersOf("subscribers_by_custom_fields", selected)).toEqual([ANNAS]);
});

test("people with a custom field are counted from its index alone", async () => {
  const counted = sql`select ${fromPeopleByField(workspaceId, filter)}`;
  expect(await indexesOf(counted)).toEqual([{ name: "subscribers_by_custom_fields", answers: ANNAS }]);
  expect(await db.rows(counted)).toHaveLength(ANNAS);
});
