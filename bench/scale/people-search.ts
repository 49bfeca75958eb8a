/** D4: the search for people in their workspace beside all others, and in an installation that has only that workspace. */
import { countSelected } from "#audience/subscribers/filtered-people-store.ts";
import { countPeople, totalInStatus } from "#audience/subscribers/memberships/counters.ts";
import { searchIds } from "#audience/subscribers/page-store.ts";
import { readPersonFilter } from "#audience/subscribers/person-filter.ts";
import type { Figure } from "../table.ts";
import { compare, timeOf } from "./compare.ts";
import type { Installation } from "./installation.ts";
import { workspaceAt } from "./seed-ids.ts";

const MOST_RATIO = 1.2;
const PAGE = { limit: 20, offset: 0 };
const everybody = { mailingListId: null, status: undefined };

/** A frequent name, a frequent first and last name, the beginning of a name. */
const searches = ["smith", "karla lewis", "hil"];

/** @param alone has the searched workspace and no other */
export async function comparePeopleSearches(large: Installation, alone: Installation): Promise<Figure[]> {
  const sides = { large, small: alone, beside: "no other workspace", mostRatio: MOST_RATIO };
  const figures: Figure[] = [];
  for (const text of searches) {
    const cost = async ({ database, size }: Installation) => {
      const workspaceId = workspaceAt(size.workspaces);
      let total = 0;
      const taken = await timeOf(async () => {
        ({ total } = await searchIds(database, workspaceId, everybody, text, PAGE));
      });
      if (total === 0) throw new Error(`the search for ${text} found nobody`);
      return taken;
    };
    figures.push(await compare({ what: `D4 people called "${text}"`, cost, ...sides }));
  }
  return [...figures, await compare({ what: "D4 people by a custom field", cost: countOfCity, ...sides })];
}

async function countOfCity({ database, size }: Installation): Promise<number> {
  const workspaceId = workspaceAt(size.workspaces);
  const filter = await readPersonFilter(database, workspaceId, { field: "city", field_value: "Berlin" });
  return timeOf(async () => {
    const people = totalInStatus(await countPeople(database, workspaceId), undefined);
    await countSelected(database, workspaceId, { ...everybody, search: undefined, filter }, people);
  });
}
