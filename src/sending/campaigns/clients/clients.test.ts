import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId, nilId } from "#platform/ids.ts";
import { browser, trackingScene, visit } from "#test/support/tracking-visits.ts";
import { campaignClients } from "./campaign-clients.ts";
import { countAgents } from "./store.ts";

const { service, oneMail, countersOf } = await trackingScene();
const { call, database, workspaceId } = service;

const gmail = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";

const clientsOf = (id: string) => call("GET", `/campaigns/${id}/clients`);

test("opens and clicks are summed by device, system and mail program, people and programs apart", async () => {
  const { campaignId, links } = await oneMail();
  const other = await oneMail();
  for (const agent of [gmail, gmail, phone, "Mozilla/5.0"]) await visit(links.pixel, { agent });
  await visit(links.tracked(0), { agent: browser });
  await visit(links.tracked(0), { agent: "curl/8.5.0" });
  await visit(other.links.pixel, { agent: phone });
  await expect
    .poll(() => countersOf(campaignId))
    .toMatchObject({ opens: 3, clicks: 1, machine_opens: 1, machine_clicks: 1 });

  const { status, body } = await clientsOf(campaignId);
  const unknown = { name: null, opens: 0, clicks: 1 };
  expect([status, body.data]).toEqual([
    200,
    {
      people: {
        opens: 3,
        clicks: 1,
        devices: [
          { name: "unknown", opens: 2, clicks: 0 },
          { name: "desktop", opens: 0, clicks: 1 },
          { name: "phone", opens: 1, clicks: 0 },
        ],
        systems: [
          { name: null, opens: 2, clicks: 0 },
          { name: "iOS", opens: 1, clicks: 0 },
          { name: "Windows", opens: 0, clicks: 1 },
        ],
        clients: [
          { name: "Gmail", opens: 2, clicks: 0 },
          { name: "Apple Mail", opens: 1, clicks: 0 },
          { name: "Chrome", opens: 0, clicks: 1 },
        ],
      },
      machines: {
        opens: 1,
        clicks: 1,
        devices: [{ name: "unknown", opens: 1, clicks: 1 }],
        systems: [{ name: null, opens: 1, clicks: 1 }],
        clients: [{ name: "Apple Mail Privacy Protection", opens: 1, clicks: 0 }, unknown],
      },
      is_complete: true,
    },
  ]);
});

test("a campaign without opens has empty sums, and an unknown one is 404", async () => {
  const { campaignId } = await oneMail();
  const nothing = { opens: 0, clicks: 0, devices: [], systems: [], clients: [] };
  expect((await clientsOf(campaignId)).body.data).toEqual({
    people: nothing,
    machines: nothing,
    is_complete: true,
  });
  expect((await clientsOf(nilId)).status).toBe(404);
});

/** Inserts opens, each with its own time, the last the newest. */
async function opens(agents: readonly (string | null)[]): Promise<string> {
  const campaignId = newId();
  await database.run(sql`
    insert into message_events (workspace_id, message_id, id, type, time, times, campaign_id, user_agent)
    select ${workspaceId}, uuidv7(), uuidv7(), 'opened', now() + make_interval(secs => n), 3, ${campaignId}, agent
    from unnest(${[...agents]}::text[]) with ordinality as given (agent, n)`);
  return campaignId;
}

test("rare User-Agents beyond the limit, and those of erased people, are in the sums without a name", async () => {
  const agents = [gmail, gmail, gmail, phone, phone, null, "a/1", "b/1", "c/1"];
  const rows = await countAgents(database, workspaceId, await opens(agents), { events: 100, agents: 3 });
  expect(campaignClients(rows, 100)).toMatchObject({
    people: {
      opens: 27,
      clients: [
        { name: null, opens: 12 },
        { name: "Gmail", opens: 9 },
        { name: "Apple Mail", opens: 6 },
      ],
    },
    is_complete: true,
  });
});

test("with more events than are read, the newest count and the answer says so", async () => {
  const rows = await countAgents(database, workspaceId, await opens([phone, phone, gmail]), {
    events: 2,
    agents: 3,
  });
  const { people, is_complete } = campaignClients(rows, 2);
  expect([people.opens, people.clients.map(({ name }) => name), is_complete]).toEqual([
    6,
    ["Apple Mail", "Gmail"],
    false,
  ]);
});
