import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { afterAll, afterEach, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { EventReader } from "#test/support/event-reader.ts";
import { eventually } from "#test/support/eventually.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, key, workspaceId } = service;
const readers: EventReader[] = [];
const closeAll = async () => {
  for (const reader of readers.splice(0)) reader.close();
};
afterEach(closeAll);
afterAll(closeAll);

async function open(
  query: string,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  const reader = await EventReader.open(`${service.url}/api/v1/events?${query}`, { key, ...options });
  readers.push(reader);
  return reader;
}

const list = await newList(database, workspaceId);
const campaignInList = () => newCampaign(database, workspaceId, list);
const setStatus = (id: string, status: string) =>
  database.run(sql`update campaigns set status = ${status} where id = ${id}`);
async function refusal(query: string, options: { key?: string; headers?: Record<string, string> } = {}) {
  const { key: other, headers = {} } = options;
  return call("GET", `/events?${query}`, undefined, { ...(other && { key: other }), headers });
}

test("a stream is never stored, and no proxy collects its events", async () => {
  const { response } = await open("topics=jobs");
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-request-id": expect.stringMatching(/./),
  });
});

test("each topic has an event at once, and another when its state changes", async () => {
  const id = await campaignInList();
  const stream = await open(`topics=campaign:${id},jobs,messages,domains`);
  const first = await stream.next("campaign");
  expect(first.data).toMatchObject({ topic: `campaign:${id}`, state: { id, status: "draft" } });
  const names = () => stream.events.map(({ name }) => name).sort();
  await eventually("all topics", async () => names().length === 4);
  expect(names()).toEqual(["campaign", "domains", "jobs", "messages"]);
  await setStatus(id, "scheduled");
  const changed = await stream.next("campaign");
  expect(changed.data.state).toMatchObject({ status: "scheduled", limited_by: { cause: "scheduled" } });
  expect(changed.id).not.toBe(first.id);
});

test("a state that changes all the time is sent at most once a second, with its newest value", async () => {
  const id = await campaignInList();
  const stream = await open(`topics=campaign:${id}`);
  await stream.next("campaign");
  await database.run(sql`
    insert into campaign_counters (workspace_id, campaign_id) values (${workspaceId}, ${id})`);
  for (let delivered = 1; delivered <= 60; delivered += 1) {
    await database.run(sql`update campaign_counters set delivered = ${delivered} where campaign_id = ${id}`);
    await delay(50);
  }
  await stream.next("campaign", ({ state }) => state.counts.delivered === 60);
  const times = stream.events.map(({ at }) => at);
  const gaps = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  expect(gaps.length).toBeGreaterThan(1);
  expect(Math.min(...gaps)).toBeGreaterThan(850);
});

test("a stream that continues gets what changed meanwhile, at once, and nothing else", async () => {
  const id = await campaignInList();
  const topics = `topics=campaign:${id},domains`;
  const stream = await open(topics);
  await eventually("both topics", async () => stream.events.length === 2);
  const last = stream.events.at(-1)?.id ?? "";
  stream.close();
  await setStatus(id, "scheduled");
  for (const again of [
    await open(topics, { headers: { "Last-Event-ID": last } }),
    await open(`${topics}&last_event_id=${encodeURIComponent(last)}`),
  ]) {
    expect((await again.next("campaign")).data.state.status).toBe("scheduled");
    await delay(1_200);
    expect(again.events.map(({ name }) => name)).toEqual(["campaign"]);
  }
});

test("an id of other topics, or of nothing, starts from the beginning", async () => {
  const id = await campaignInList();
  const stream = await open(`topics=campaign:${id}`);
  const { id: last = "" } = await stream.next("campaign");
  for (const lost of [last, "x", "a.b.c", "%".repeat(900)]) {
    const again = await open("topics=domains", { headers: { "Last-Event-ID": lost } });
    expect((await again.next("domains")).data.state).toMatchObject({ total: 0, domains: [] });
    again.close();
    await delay(50);
  }
});

test("messages are counted by their status now, for this workspace only", async () => {
  const scene = await reportScene(service);
  const keyOfScene = (await scene.call("POST", "/api-keys", { name: "Live", permissions: ["reports:read"] }))
    .body.data.key;
  const stream = await open("topics=messages", { key: keyOfScene });
  expect((await stream.next("messages")).data.state).toMatchObject({ accepted: 0 });
  await scene.send("delivered");
  await scene.send("queued");
  await (await reportScene(service)).send("delivered");
  const { data } = await stream.next("messages", ({ state }) => state.accepted >= 2);
  expect(data.state).toMatchObject({ accepted: 2, counts: { delivered: 1, queued: 1, bounced: 0 } });
});

test("jobs are those that the caller may see, with their progress", async () => {
  const insert = (permission: string, processed: number) =>
    database.run(sql`
      insert into jobs (workspace_id, id, type, status, permission, total, processed, label, file_name)
      values (${workspaceId}, ${newId()}, 'import_subscribers', 'processing', ${permission}, 100, ${processed}, 'Fair',
        'fair.csv')`);
  await insert("subscribers:read", 40);
  await insert("validations:read", 70);
  const some = await open("topics=jobs", { key: await service.newKey(["subscribers:read"]) });
  const { jobs } = (await some.next("jobs")).data.state;
  expect(jobs).toMatchObject([
    { status: "processing", progress: 40, processed: 40, label: "Fair", file_name: "fair.csv", actor: null },
  ]);
  const all = await open("topics=jobs", { key: await service.newKey(["jobs:read"]) });
  expect((await all.next("jobs")).data.state.jobs).toHaveLength(2);
  await database.run(sql`
    update jobs set status = 'completed', completed_at = now(), expires_at = now() + interval '7 days'
    where permission = 'subscribers:read'`);
  expect((await some.next("jobs")).data.state.jobs).toMatchObject([{ status: "completed", progress: 100 }]);
});

test("a domain's verification is seen when it changes", async () => {
  const { body } = await call("POST", "/sending-domains", { domain: "live.example.com" });
  const stream = await open("topics=domains");
  const domain = { id: body.data.id, domain: "live.example.com" };
  expect((await stream.next("domains")).data.state.domains).toMatchObject([
    { ...domain, is_verified: false },
  ]);
  await database.run(sql`update sending_domains set is_verified = true where id = ${body.data.id}`);
  expect((await stream.next("domains")).data.state.domains).toMatchObject([{ ...domain, is_verified: true }]);
});

test("notices are counted by severity, for each caller only those that it may see", async () => {
  const other = await service.newWorkspace();
  const own = await newList(database, other.workspaceId);
  const pause = async (reason: string | null, time: Date) => {
    const id = await newCampaign(database, other.workspaceId, own);
    await database.run(sql`
      update campaigns set status = 'paused', paused_at = ${time}, pause_reason = ${reason} where id = ${id}`);
  };
  await pause("bounce_rate", new Date("2026-01-01"));
  const all = await open("topics=notices", { key: other.key });
  const first = await all.next("notices");
  expect(first.data.state).toMatchObject({ total: 1, critical: 1, warning: 0, info: 0 });
  const { headers } = await service.newPerson(["webhooks:read"], { workspaceId: other.workspaceId });
  const { "X-Workspace": workspace = "", ...cookie } = headers;
  const none = await EventReader.open(`${service.url}/api/v1/events?topics=notices&workspace=${workspace}`, {
    headers: cookie,
  });
  readers.push(none);
  const nothing = { total: 0, critical: 0, warning: 0, info: 0, newest_id: null };
  expect((await none.next("notices")).data.state).toEqual(nothing);
  await pause(null, new Date("2026-01-02"));
  const { data } = await all.next("notices", ({ state }) => state.total === 2, 8_000);
  const listed = (await call("GET", "/notices", undefined, { key: other.key })).body.data.notices;
  const newest = listed.find(({ since }: { since: string }) => since.startsWith("2026-01-02"));
  expect(data.state).toEqual({ total: 2, critical: 1, warning: 0, info: 1, newest_id: newest.id });
  await call("POST", `/notices/${newest.id}/dismiss`, undefined, { key: other.key });
  const dismissed = await all.next("notices", ({ state }) => state.total === 1, 8_000);
  expect(dismissed.data.state.newest_id).toBe(first.data.state.newest_id);
  expect(none.events).toHaveLength(1);
});

test("failed jobs are counted as GET /notices lists them, however many others the caller may not see", async () => {
  const other = await service.newWorkspace();
  const fail = (permission: string, jobs: number, time: string) =>
    database.run(sql`
      insert into jobs (workspace_id, id, type, status, permission, completed_at, expires_at)
      select ${other.workspaceId}, gen_random_uuid(), 'any', 'failed', ${permission}, ${time}, now()
      from generate_series(1, ${jobs}::int)`);
  await fail("subscribers:read", 2, "2026-01-01");
  await fail("validations:read", 60, "2026-01-02");
  const person = await service.newPerson(["subscribers:read"], { workspaceId: other.workspaceId });
  const { "X-Workspace": workspace = "", ...headers } = person.headers;
  const few = await EventReader.open(`${service.url}/api/v1/events?topics=notices&workspace=${workspace}`, {
    headers,
  });
  readers.push(few);
  const all = await open("topics=notices", { key: other.key });
  const [ofFew, ofAll] = [await few.next("notices"), await all.next("notices")];
  const listed = (await person.call("GET", "/notices")).body.data.notices;
  expect(listed).toHaveLength(2);
  const { id } = listed[0];
  expect(ofFew.data.state).toEqual({ total: 2, critical: 0, warning: 2, info: 0, newest_id: id });
  expect(ofAll.data.state).toMatchObject({ total: 50, warning: 50 });
  // A dismissed one stays among the newest fifty, as in the list.
  await call("POST", `/notices/${ofAll.data.state.newest_id}/dismiss`, undefined, { key: other.key });
  const fewer = await all.next("notices", ({ state }) => state.total < 50, 8_000);
  expect(fewer.data.state.total).toBe(49);
});

test("a deleted campaign has no state any more", async () => {
  const id = await campaignInList();
  const stream = await open(`topics=campaign:${id}`);
  await stream.next("campaign");
  await call("DELETE", `/campaigns/${id}`);
  expect((await stream.next("campaign")).data.state).toBe(null);
});

test.each([
  ["", "topics is a list of"],
  ["topics=", "topics is a list of"],
  ["topics=weather", '"weather" is not a topic'],
  ["topics=campaign:7", '"campaign:7" is not a topic'],
  ["topics=jobs:1", '"jobs:1" is not a topic'],
  [`topics=${Array(21).fill("jobs").join()}`, "at most 20 topics"],
])("topics that do not exist are refused with what exists: %s", async (query, text) => {
  const { status, body } = await refusal(query);
  expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "topics"]);
  expect(body.error).toContain(text);
});

test("a topic without its permission is refused, and the permission is named", async () => {
  const narrow = await service.newKey(["sending_domains:read"]);
  const { status, body } = await refusal("topics=domains,messages,jobs", { key: narrow });
  expect([status, body.code, body.required_scopes]).toEqual([
    403,
    "INSUFFICIENT_SCOPE",
    ["reports:read", "jobs:read"],
  ]);
  expect(body.error).toContain("messages needs reports:read");
});

test("a campaign of another workspace is not found", async () => {
  const other = await service.newWorkspace();
  const id = await campaignInList();
  expect((await refusal(`topics=campaign:${id}`, { key: other.key })).status).toBe(404);
  expect((await refusal(`topics=campaign:${newId()}`)).status).toBe(404);
});

test("a key has at most three streams, and a closed one makes room", async () => {
  const own = await service.newKey(["*:*"]);
  const streams = [];
  for (let count = 0; count < 3; count += 1) streams.push(await open("topics=jobs", { key: own }));
  const { status, body, headers } = await refusal("topics=jobs", { key: own });
  expect([status, body.code, headers.get("retry-after")]).toEqual([429, "RATE_LIMIT_EXCEEDED", "1"]);
  expect(body.error).toContain("at most 3 event streams");
  streams[0]?.close();
  await eventually("room for a stream", async () => {
    const reader = await open("topics=jobs", { key: own });
    return reader.response.status === 200;
  });
});

test("a HEAD request answers the headers and takes no stream", async () => {
  const own = await service.newKey(["*:*"]);
  for (let count = 0; count < 5; count += 1) {
    const answer = await call("HEAD", "/events?topics=jobs", undefined, { key: own });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
    ]);
  }
});

test("a deactivated key, and one that loses a permission, lose their streams within seconds", async () => {
  const make = async () => {
    const { body } = await call("POST", "/api-keys", {
      name: "Watcher",
      permissions: ["sending_domains:read", "jobs:read"],
    });
    return body.data;
  };
  const [gone, narrowed, kept] = [await make(), await make(), await make()];
  const streams = [];
  for (const one of [gone, narrowed, kept]) {
    const stream = await open("topics=domains,jobs", { key: one.key });
    await stream.next("domains");
    streams.push(stream);
  }
  await call("DELETE", `/api-keys/${gone.id}`);
  await call("PUT", `/api-keys/${narrowed.id}`, { permissions: ["jobs:read"] });
  for (const stream of streams.slice(0, 2)) {
    expect((await stream.next("end", undefined, 6_000)).data).toEqual({ reason: "access_lost" });
    await eventually("the end of the stream", async () => stream.hasEnded);
  }
  expect(streams[2]?.hasEnded).toBe(false);
});

test("a person watches with a session, and loses the stream when it ends or the role is narrowed", async () => {
  const people = [];
  for (let count = 0; count < 3; count += 1) {
    const person = await service.newPerson(["sending_domains:read"]);
    const { "X-Workspace": workspace = "", ...cookie } = person.headers;
    const reader = await EventReader.open(
      `${service.url}/api/v1/events?topics=domains&workspace=${workspace}`,
      { headers: cookie },
    );
    readers.push(reader);
    await reader.next("domains");
    people.push({ person, reader });
  }
  const [signedOut, narrowed, kept] = people;
  await database.run(sql`delete from sessions where user_id = ${signedOut?.person.userId}`);
  await database.run(sql`
    update roles set permissions = '{}' where id in (
      select role_id from workspace_members where user_id = ${narrowed?.person.userId})`);
  for (const one of [signedOut, narrowed]) {
    expect((await one?.reader.next("end", undefined, 8_000))?.data).toEqual({ reason: "access_lost" });
  }
  expect(kept?.reader.hasEnded).toBe(false);
});
