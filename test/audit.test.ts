/** The audit log of every operation that changes something, with the examples of the contract test. */
import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { type Endpoint, permissionOf } from "#platform/http/endpoint.ts";
import { nilId } from "#platform/ids.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { apiCaller } from "./support/api-caller.ts";
import { bodyFor, callOf, fill, idsFor } from "./support/contract-calls.ts";
import { before, bodies, type Owner } from "./support/contract-examples.ts";
import { eventually } from "./support/eventually.ts";
import { startFakeStripe } from "./support/fake-stripe.ts";
import { startOpenIdProvider } from "./support/openid-provider.ts";
import { startService } from "./support/service.ts";

const stripe = await startFakeStripe();
const openId = await startOpenIdProvider();
const service = await startService({ env: { ...stripe.env, ...openId.env } });
const { database, clock, workspaceId } = service;
const person = await service.newPerson(["*:*"], { isOperator: true });
const owner: Owner = { workspaceId, call: service.call, person, database, clock };

interface Row {
  readonly operation: string;
  readonly result: string;
  readonly code: string | null;
  readonly actor_kind: string;
  readonly actor_name: string;
  readonly workspace_id: string | null;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly changes: readonly { field: string; before: unknown; after: unknown; is_hidden: boolean }[];
}

const eventsOf = (requestId: string | null) =>
  database.rows<Row>(sql`select * from audit_events where request_id = ${requestId}`);

const changing = endpointsForDocs().filter(({ method }) => method !== "GET");
const audited = changing.filter(({ unaudited }) => unaudited === undefined);
const byName = (list: readonly Endpoint[]) =>
  list.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

async function callWithExample(endpoint: Endpoint) {
  // Some operations end a session or give it another cookie.
  const options = { isOperator: true, confirmedAt: new Date("2999-01-01") };
  const acting: Owner = { ...owner, person: await service.newPerson(["*:*"], options) };
  await before[endpoint.id]?.(acting);
  const ids = await idsFor(endpoint.path, acting);
  const body = await bodyFor(endpoint, acting);
  const answer = await callOf(endpoint, acting)(endpoint.method, fill(endpoint.path, ids), body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return { ids, body, answer, events: await eventsOf(answer.headers.get("x-request-id")) };
}

/** Operations whose caller has proved nothing yet. All others, also public ones, name their actor. */
const strangers = new Set(["requestPasswordReset", "startPasskeySignIn"]);

/** Values that must not be in the log. */
const secretsIn = (value: unknown): string[] => {
  const found: string[] = [];
  JSON.stringify(value, (name, inner: unknown) => {
    if (
      /^(?:key|secret|password|token|challenge|private_key|signing_secret)$/.test(name) &&
      typeof inner === "string" &&
      inner.length >= 8
    ) {
      found.push(inner);
    }
    return inner;
  });
  return found;
};

it.each(byName(audited))("%s writes one event with its actor, and no secret", async (_name, endpoint) => {
  const { ids, body, answer, events } = await callWithExample(endpoint);
  expect(events).toHaveLength(1);
  const [event] = events;
  expect(event).toMatchObject({ operation: endpoint.id, result: "done", code: null });
  if (!strangers.has(endpoint.id)) expect(event?.actor_name).toMatch(/./);
  if (endpoint.status !== 201 && ids.length > 0) expect(event?.resource_id).toBe(ids.at(-1));
  const text = JSON.stringify(events);
  for (const secret of [...secretsIn(body), ...secretsIn(answer.body.data)])
    expect(text).not.toContain(secret);
});

it.each(byName(changing.filter(({ unaudited }) => unaudited !== undefined)))(
  "%s is in no audit log",
  async (_name, endpoint) => {
    expect((await callWithExample(endpoint)).events).toEqual([]);
  },
);

it.each(byName(audited.filter(({ path }) => path.includes("{"))))(
  "%s writes nothing for an unknown id",
  async (_name, endpoint) => {
    const body = await bodyFor(endpoint, owner);
    const answer = await callOf(endpoint, owner)(endpoint.method, fill(endpoint.path, []), body);
    expect(answer.status).toBe(404);
    expect(await eventsOf(answer.headers.get("x-request-id"))).toEqual([]);
  },
);

const written = service.newPerson(["*:*"], { isOperator: true, confirmedAt: new Date("2999-01-01") });
const writer = () => written;

it("a change is logged with the values before and after", async () => {
  const { body } = await service.call("POST", "/mailing-lists", { name: "Before" });
  const changed = await (await writer()).call("PUT", `/mailing-lists/${body.data.id}`, { name: "After" });
  const [event] = await eventsOf(changed.headers.get("x-request-id"));
  expect(event).toMatchObject({
    actor_kind: "person",
    actor_name: "Ada Lovelace",
    resource_id: body.data.id,
    resource_name: "Before",
    changes: [{ field: "name", before: "Before", after: "After", is_hidden: false }],
  });
});

it("a new name is logged beside the old one, also where no operation shows the resource alone", async () => {
  const fields = "/custom-fields/global";
  const field = { field_name: "shoe_size", field_label: "Size", field_type: "number" };
  const { id } = (await service.call("POST", fields, field)).body.data;
  const renamed = await service.call("PUT", `${fields}/${id}`, { field_label: "Shoe size" });
  const [event] = await eventsOf(renamed.headers.get("x-request-id"));
  const change = { field: "field_label", before: "Size", after: "Shoe size", is_hidden: false };
  expect(event).toMatchObject({ resource_name: "Size", changes: [change] });
});

it("a field that the operation ignores is not logged as changed", async () => {
  const changed = await service.call("PATCH", "/workspace", { retry_hours: 71, colour: "red" });
  expect(changed.body.warnings).toMatchObject([{ field: "colour" }]);
  const [event] = await eventsOf(changed.headers.get("x-request-id"));
  expect(event?.changes.map(({ field }) => field)).toEqual(["retry_hours"]);
});

const updates = audited.filter(({ method }) => method === "PATCH" || method === "PUT");
it.each(byName(updates))(
  "%s without a known field changes nothing and is not logged",
  async (_name, endpoint) => {
    const acting: Owner = {
      ...owner,
      person: await service.newPerson(["*:*"], { isOperator: true, confirmedAt: new Date("2999-01-01") }),
    };
    await before[endpoint.id]?.(acting);
    const path = fill(endpoint.path, await idsFor(endpoint.path, acting));
    const call = callOf(endpoint, acting);
    const changedAt = async () => (await call(endpoint.method, path, {})).body.data?.updated_at;
    const first = await changedAt();
    clock.advance(1_000);
    const answer = await call(endpoint.method, path, {});
    // Operations that need a field refuse it.
    expect([200, 400]).toContain(answer.status);
    expect(answer.body.data?.updated_at).toBe(first);
    expect(await eventsOf(answer.headers.get("x-request-id"))).toEqual([]);
  },
);

it("contents, and data about recipients, are named without their values", async () => {
  const example = (await bodies.createCampaign?.(owner)) as object;
  const campaign = await service.call("POST", "/campaigns", {
    ...example,
    html_content: "<p>Secret plan</p>",
  });
  const [made] = await eventsOf(campaign.headers.get("x-request-id"));
  expect(made?.changes).toContainEqual({ field: "html_content", before: null, after: null, is_hidden: true });
  const list = await service.call("POST", "/mailing-lists", { name: "Readers" });
  const added = await service.call("POST", `/mailing-lists/${list.body.data.id}/subscribers`, {
    email: "private@example.net",
  });
  const [event] = await eventsOf(added.headers.get("x-request-id"));
  expect(event?.resource_id).toBe(added.body.data.subscriber_id);
  expect(JSON.stringify(event)).not.toContain("private@example.net");
});

it("a refused body, and a dry run, write nothing", async () => {
  const refused = await service.call("POST", "/mailing-lists", { name: 7 });
  expect(refused.status).toBe(400);
  expect(await eventsOf(refused.headers.get("x-request-id"))).toEqual([]);
});

it("a lack of rights is logged, and a flood of refusals only once", async () => {
  const key = await service.newKey(["reports:read"], "Weak key");
  const call = apiCaller(() => service.url, key);
  const delay = () => call("POST", "/mailing-lists", { name: "Mine" });
  const first = await delay();
  const requestId = first.headers.get("x-request-id");
  const [event] = await eventually("the refusal in the log", async () => {
    const events = await eventsOf(requestId);
    return events.length > 0 && events;
  });
  const refusal = { operation: "createMailingList", result: "refused", code: "INSUFFICIENT_SCOPE" };
  expect(event).toMatchObject({ ...refusal, actor_name: "Weak key" });
  for (let count = 0; count < 20; count++) await delay();
  const rows = await database.rows(sql`select from audit_events where actor_name = 'Weak key'`);
  expect(rows).toHaveLength(1);
});

it("a change that is rolled back leaves no event, and one whose event cannot be written is rolled back", async () => {
  await database.run(
    sql`alter table audit_events add constraint no_events check (operation <> 'createRole') not valid`,
  );
  const answer = await service.call("POST", "/roles", { name: "Unlogged", permissions: ["reports:read"] });
  expect(answer.status).toBe(500);
  expect(await database.rows(sql`select from roles where name = 'Unlogged'`)).toEqual([]);
  await database.run(sql`alter table audit_events drop constraint no_events`);
});

it("an event cannot be changed", async () => {
  await expect(database.run(sql`update audit_events set actor_name = 'Mallory'`)).rejects.toThrow(
    "never changed",
  );
});

it("the log is filtered, walked by cursor, downloaded, and needs its permission", async () => {
  const { body } = await service.call("GET", "/audit-events?operation=createMailingList&limit=2");
  expect(body.data).toHaveLength(2);
  expect(body.data[0]).toMatchObject({ operation: "createMailingList", resource: { kind: "mailing_lists" } });
  const next = await service.call(
    "GET",
    `/audit-events?operation=createMailingList&limit=2&after=${body.next_cursor}`,
  );
  expect(next.body.data[0].id < body.data[1].id).toBe(true);
  const byPerson = await service.call("GET", `/audit-events?actor=${(await writer()).userId}`);
  expect(new Set(byPerson.body.data.map(({ actor }: { actor: { id: string } }) => actor.id))).toEqual(
    new Set([(await writer()).userId]),
  );
  expect((await service.call("GET", "/audit-events?to=2020-01-01")).body.data).toEqual([]);
  expect((await service.call("GET", "/audit-events?from=yesterday")).status).toBe(400);
  for (const path of ["/audit-events", "/audit-events/export"]) {
    const unknown = await service.call("GET", `${path}?operation=createMailingLists`);
    expect([unknown.status, unknown.body.details[0].field]).toEqual([400, "operation"]);
  }
  const csv = await service.call("GET", "/audit-events/export?operation=createMailingList");
  expect(csv.body.split("\r\n")[0]).toMatch(/^at,actor_kind,/);
  const other = await service.newWorkspace();
  const theirs = await apiCaller(() => service.url, other.key)("GET", "/audit-events");
  expect(theirs.body.data).toEqual([]);
  const weak = await service.newPerson(["reports:read"]);
  expect((await weak.call("GET", "/audit-events")).body.required_scopes).toEqual(["audit:read"]);
});

it("an operator's act on a workspace is in the log of that workspace", async () => {
  const other = await service.newWorkspace();
  await (await writer()).call("POST", `/operator/workspaces/${other.workspaceId}/suspend`);
  const { body } = await apiCaller(() => service.url, other.key)("GET", "/audit-events");
  expect(body.data).toMatchObject([
    {
      operation: "suspendWorkspace",
      actor: { kind: "person", id: (await writer()).userId },
      changes: [{ field: "is_suspended", before: false, after: true }],
    },
  ]);
});

it("a refused person who is no operator writes into the log of the installation, and into no workspace's", async () => {
  const other = await service.newWorkspace();
  const stranger = await service.newPerson(["*:*"]);
  const answer = await stranger.call("POST", `/operator/workspaces/${other.workspaceId}/suspend`);
  expect(answer.status).toBe(403);
  const [event] = await eventually("the refusal in the log", async () => {
    const events = await eventsOf(answer.headers.get("x-request-id"));
    return events.length > 0 && events;
  });
  const { workspaceId } = other;
  const refusal = { operation: "suspendWorkspace", result: "refused", code: "FORBIDDEN" };
  expect(event).toMatchObject({ ...refusal, workspace_id: nilId, resource_id: workspaceId });
  const { body } = await apiCaller(() => service.url, other.key)("GET", "/audit-events");
  expect(body.data).toEqual([]);
});

it("operations whose permission is to read are not audited", () => {
  const reading = audited.filter(
    ({ needs }) => typeof needs !== "string" && permissionOf(needs).endsWith(":read"),
  );
  expect(reading.map(({ id }) => id)).toEqual([]);
});
