/** Set-up of segment tests: a service, two new mailing lists for each test, and short calls. */
import { beforeEach, expect } from "vitest";
import { addPeople, newList } from "./audience.ts";
import { startService } from "./service.ts";

export type Rule = readonly [field: string, operator: string, value: unknown];
export const rule = ([field, operator, value]: Rule) => ({ field, operator, value });
/** Conditions joined by AND. */
export const all = (...rules: Rule[]) => ({ logic: "and", rules: rules.map(rule) });

export const emails = (page: { subscribers: { email: string }[] }) =>
  page.subscribers.map(({ email }) => email);

/** Call at the top of a test file. The default list of the returned functions is `news`. */
export async function segmentService() {
  const service = await startService();
  const { database, workspaceId, clock } = service;
  const lists = { news: "", offers: "" };
  beforeEach(async () => {
    lists.news = await newList(database, workspaceId, "News");
    lists.offers = await newList(database, workspaceId, "Offers");
  });
  const segmentsOf = (of = lists.news) => `/mailing-lists/${of}/segments`;
  const save = (body: object, of = lists.news) => service.call("POST", segmentsOf(of), body);
  const preview = (conditions: unknown, of = lists.news) =>
    service.call("POST", `${segmentsOf(of)}/preview`, { conditions });
  return {
    service,
    database,
    workspaceId,
    clock,
    lists,
    segmentsOf,
    save,
    /** Creates a segment and returns it. */
    saved: async (body: object, of = lists.news) => {
      const answer = await save({ name: "Readers", ...body }, of);
      expect(answer.status, answer.body.error).toBe(201);
      return answer.body.data;
    },
    preview,
    count: async (conditions: unknown, of = lists.news): Promise<number> => {
      const answer = await preview(conditions, of);
      expect(answer.status, answer.body.error).toBe(200);
      return answer.body.data.subscriber_count;
    },
    get: async (path: string) => (await service.call("GET", path)).body.data,
    fill: (people: readonly string[], of = lists.news) =>
      addPeople(
        database,
        workspaceId,
        of,
        people.map((email) => ({ email })),
      ),
  };
}
