/**
 * Test data of people's lists and of the search: a large workspace with names of very different frequency, and small
 * workspaces in which the same names occur.
 */
import sql from "sql-template-tag";
import { systemClock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { createWorkspace } from "#workspace/create-workspace.ts";
import { importPeople, loadAudience, personLine } from "./audience-data.ts";

const SMALL_WORKSPACES = 3;
const SMALL = 10_000;
/** Every so many-th person is called John Smith: 20,000 of a million. */
const NAMESAKE = 50;

export interface PeopleData {
  /** The list of all people of the large workspace. */
  readonly everybody: string;
  /** The list of every second person. */
  readonly half: string;
  /** The API key of a small workspace. */
  readonly smallKey: string;
}

/** The line of personLine with another name: John Smith, or for nine of ten people a name that few others have. */
function namedLine(number: number, id: string): string {
  const [at = "", key = "", email = "", commonFirst = "", commonLast = "", ...rest] = personLine(
    number,
    id,
  ).split("\t");
  const isNamesake = number % NAMESAKE === 0;
  const [first, last] = isNamesake
    ? ["John", "Smith"]
    : number % 10 === 1
      ? [commonFirst, commonLast]
      : [rareName(number % 4_999), rareName((number * 7) % 19_997)];
  const domain = email.slice(email.indexOf("@"));
  return [at, key, `${first}.${last}${number}${domain}`.toLowerCase(), first, last, ...rest].join("\t");
}

const syllables = "ba de fi go hu ka le mi no pu ra se ti vo wu za be di fo gu".split(" ");

/** A name of syllables, another for each number below 160,000. */
function rareName(number: number): string {
  const parts = [
    number % 20,
    Math.floor(number / 20) % 20,
    Math.floor(number / 400) % 20,
    Math.floor(number / 8_000),
  ];
  const name = parts.map((part) => syllables[part] ?? "").join("");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** Inserts the people (a minute for a million). */
export async function makePeopleData(
  database: Database,
  workspaceId: WorkspaceId,
  people: number,
): Promise<PeopleData> {
  const { everybody, half } = await loadAudience(database, workspaceId, people, namedLine);
  let smallKey = "";
  for (let at = 1; at <= SMALL_WORKSPACES; at++) {
    const settings = { name: `Shop ${at}`, timezone: "UTC", plan: "enterprise" } as const;
    const { workspace, key } = await createWorkspace(database, settings, systemClock);
    const list = await newList(database, workspace.id, "Customers");
    await importPeople(database, workspace.id, list, SMALL, 1, namedLine);
    smallKey = key.key;
  }
  await database.run(sql`vacuum analyze subscribers, subscriber_stats, memberships`);
  return { everybody, half, smallKey };
}
