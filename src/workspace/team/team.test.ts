import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { asWorkspaceId, newId, type WorkspaceId } from "#platform/ids.ts";
import { apiCaller, type CallApi } from "#test/support/api-caller.ts";
import { eventually } from "#test/support/eventually.ts";
import type { SignedInPerson } from "#test/support/people.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { database } = service;

let workspaceId: WorkspaceId;
/** With a key that has every permission. */
let call: CallApi;
let owner: SignedInPerson;

const person = (permissions: readonly string[]) => service.newPerson(permissions, { workspaceId });
const make = (who: SignedInPerson, role: string) =>
  database.run(sql`
    update workspace_members set built_in_role = ${role}, role_id = null
    where workspace_id = ${workspaceId} and user_id = ${who.userId}`);
async function member(role: string): Promise<SignedInPerson> {
  const made = await person([]);
  await make(made, role);
  service.clock.advance(2_001);
  return made;
}

beforeEach(async () => {
  const made = await service.newWorkspace();
  workspaceId = made.workspaceId;
  call = apiCaller(() => service.url, made.key);
  owner = await member("owner");
});

test("teammates are listed with their roles, for people and keys", async () => {
  const support = await member("support");
  for (const list of [await owner.call("GET", "/team"), await call("GET", "/team")]) {
    expect(list.status).toBe(200);
    expect(list.body.data).toHaveLength(2);
    expect(list.body.data).toContainEqual({
      id: support.userId,
      name: "Ada Lovelace",
      email: support.email,
      role: "support",
      role_name: "Support",
      joined_at: expect.any(String),
      is_disabled: false,
      last_seen_at: null,
    });
  }
});

test("a teammate was last seen when they last worked in this workspace, to the hour", async () => {
  const support = await member("support");
  const seen = async () => {
    const { body } = await call("GET", `/team/${support.userId}`);
    return body.data.last_seen_at;
  };
  const work = () => support.call("GET", "/workspace");
  expect(await seen()).toBeNull();
  const first = service.clock.now().toISOString();
  const seenAt = (time: string) => eventually(`last seen at ${time}`, async () => (await seen()) === time);
  await work();
  await seenAt(first);
  service.clock.advance(3_600_000);
  const second = service.clock.now().toISOString();
  await work();
  await seenAt(second);

  // Work elsewhere is no work here, and a note about it is no event of the audit log.
  const { workspaceId: elsewhere } = await service.newWorkspace();
  await database.run(sql`
    insert into workspace_members (workspace_id, user_id, built_in_role) values (${elsewhere}, ${support.userId}, 'owner')`);
  service.clock.advance(7_200_000);
  const headers = { "X-Workspace": elsewhere };
  expect((await support.call("POST", "/mailing-lists", { name: "News" }, { headers })).status).toBe(201);
  const events = await database.rows(
    sql`select operation from audit_events where workspace_id = ${elsewhere}`,
  );
  expect(events).toEqual([{ operation: "createMailingList" }]);
  expect(await seen()).toBe(second);
});

test("built-in roles hold only permissions of the catalogue, so that they can be copied", async () => {
  const { body } = await call("GET", "/roles");
  const builtIn = body.data.filter(({ is_built_in }: Record<string, unknown>) => is_built_in);
  expect(builtIn).toHaveLength(8);
  for (const { id, name, description, permissions } of builtIn) {
    const copy = await call("POST", "/roles", { name: `Own ${name}`, description, permissions });
    expect([copy.status, copy.body.error], id).toEqual([201, undefined]);
  }
});

test("names of roles are unique without regard to case", async () => {
  const make = (name: string) => call("POST", "/roles", { name, permissions: ["reports:read"] });
  const first = await make("Écrivains");
  const second = await make("Readers");
  expect([first.status, second.status]).toEqual([201, 201]);
  const same = await make("ÉCRIVAINS");
  expect([same.status, same.body.code]).toEqual([409, "CONFLICT"]);
  const path = `/roles/${second.body.data.id}`;
  expect((await call("PATCH", path, { name: "écrivains" })).status).toBe(409);
  expect((await call("PATCH", path, { name: "READERS" })).status).toBe(200);
});

test("a changed role applies to the next request", async () => {
  const teammate = await member("support");
  expect((await teammate.call("GET", "/campaigns")).status).toBe(403);
  const changed = await owner.call("PATCH", `/team/${teammate.userId}`, { role: "marketer" });
  expect([changed.status, changed.body.data.role]).toEqual([200, "marketer"]);
  expect((await teammate.call("GET", "/campaigns")).status).toBe(200);
});

test("a removed teammate's next request is refused, and what they sent keeps their name", async () => {
  const teammate = await member("developer");
  expect((await teammate.call("GET", "/api-keys")).status).toBe(200);
  expect((await owner.call("DELETE", `/team/${teammate.userId}`)).status).toBe(200);
  expect((await teammate.call("GET", "/api-keys")).body.code).toBe("FORBIDDEN");
  expect(await database.rows(sql`select name from origin_names where id = ${teammate.userId}`)).toEqual([
    { name: "Ada Lovelace" },
  ]);
});

test("a caller grants, changes and removes only permissions that it has itself", async () => {
  const lead = await person(["team:*", "roles:*", "reports:read"]);
  const analyst = await person(["reports:read"]);
  const admin = await member("admin");
  const refused = async (answer: ReturnType<CallApi>) => {
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  };
  await refused(lead.call("PATCH", `/team/${analyst.userId}`, { role: "marketer" }));
  await refused(lead.call("PATCH", `/team/${lead.userId}`, { role: "admin" }));
  await refused(lead.call("PATCH", `/team/${admin.userId}`, { role: "billing" }));
  await refused(lead.call("DELETE", `/team/${admin.userId}`));
  await refused(lead.call("POST", "/team/invitations", { email: "new@example.com", role: "support" }));
  await refused(lead.call("POST", "/roles", { name: "More", permissions: ["campaigns:send"] }));
  await refused(lead.call("POST", "/roles", { name: "More", permissions: ["*:read"] }));
  const { body } = await owner.call("POST", "/roles", { name: "Big", permissions: ["campaigns:*"] });
  await refused(lead.call("PATCH", `/roles/${body.data.id}`, { permissions: ["reports:read"] }));
  await refused(lead.call("PATCH", `/roles/${body.data.id}`, { name: "Small" }));
  await refused(lead.call("DELETE", `/roles/${body.data.id}`));
  await refused(lead.call("PATCH", `/team/${analyst.userId}`, { role: body.data.id }));
  expect((await lead.call("DELETE", `/team/${analyst.userId}`)).status).toBe(200);
});

test("a person cannot widen a role that they hold themselves", async () => {
  const lead = await person(["team:*", "roles:*"]);
  const { body } = await lead.call("GET", "/team");
  const { role } = body.data.find(({ id }: { id: string }) => id === lead.userId);
  const answer = await lead.call("PATCH", `/roles/${role}`, { permissions: ["team:*", "roles:*", "*:read"] });
  expect([answer.status, answer.body.required_scopes]).toEqual([403, ["*:read"]]);
});

test("only owners make and remove owners", async () => {
  const admin = await member("admin");
  const teammate = await member("support");
  const second = await member("owner");
  for (const [path, role] of [
    [`/team/${teammate.userId}`, "owner"],
    [`/team/${admin.userId}`, "owner"],
    [`/team/${second.userId}`, "admin"],
  ]) {
    const answer = await admin.call("PATCH", path ?? "", { role });
    expect([answer.status, answer.body.code]).toEqual([403, "FORBIDDEN"]);
  }
  expect((await admin.call("DELETE", `/team/${second.userId}`)).body.code).toBe("FORBIDDEN");
  const invited = await admin.call("POST", "/team/invitations", { email: "o@example.com", role: "owner" });
  expect(invited.body.code).toBe("FORBIDDEN");
  expect((await owner.call("PATCH", `/team/${admin.userId}`, { role: "owner" })).status).toBe(200);
  expect((await admin.call("DELETE", `/team/${second.userId}`)).status).toBe(200);
});

test("a key makes and removes no owner, whatever its permissions", async () => {
  const teammate = await member("support");
  const second = await member("owner");
  const invited = { email: "new-owner@example.com", role: "owner" };
  const made = await owner.call("POST", "/team/invitations", invited);
  const invitation = `/team/invitations/${made.body.data.id}`;
  for (const answer of [
    await call("PATCH", `/team/${teammate.userId}`, { role: "owner" }),
    await call("PATCH", `/team/${second.userId}`, { role: "admin" }),
    await call("DELETE", `/team/${second.userId}`),
    await call("POST", "/team/invitations", { ...invited, email: "other@example.com" }),
    await call("POST", `${invitation}/resend`),
    await call("DELETE", invitation),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([403, "FORBIDDEN"]);
  }
  const { body } = await owner.call("GET", "/team");
  const roles = body.data.map(({ id, role }: Record<string, string>) => [id, role]);
  expect(new Map(roles).get(second.userId)).toBe("owner");
  expect((await call("PATCH", `/team/${teammate.userId}`, { role: "admin" })).status).toBe(200);
});

test("the last owner cannot leave, be removed or get another role", async () => {
  for (const answer of [
    await owner.call("PATCH", `/team/${owner.userId}`, { role: "admin" }),
    await owner.call("DELETE", `/team/${owner.userId}`),
    await owner.call("POST", `/workspaces/${workspaceId}/leave`),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([409, "CONFLICT"]);
  }
  const disabled = await member("owner");
  await database.run(sql`update users set disabled_at = now() where id = ${disabled.userId}`);
  expect((await owner.call("DELETE", `/team/${owner.userId}`)).status).toBe(409);
  expect((await owner.call("PATCH", `/team/${owner.userId}`, { role: "owner" })).status).toBe(200);
});

test("when two owners remove each other at the same time, one stays", async () => {
  for (let round = 0; round < 5; round++) {
    const other = await member("owner");
    const answers = await Promise.all([
      owner.call("DELETE", `/team/${other.userId}`),
      other.call("PATCH", `/team/${owner.userId}`, { role: "admin" }),
      other.call("POST", `/workspaces/${workspaceId}/leave`),
      owner.call("POST", `/workspaces/${workspaceId}/leave`),
    ]);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    const owners = await database.rows<{ user_id: string }>(sql`
      select user_id from workspace_members where workspace_id = ${workspaceId} and built_in_role = 'owner'`);
    expect(owners.length).toBeGreaterThan(0);
    const [left] = owners;
    if (left?.user_id === other.userId) owner = other;
  }
});

test("a member leaves, and is no member afterwards", async () => {
  const teammate = await member("support");
  expect((await teammate.call("POST", `/workspaces/${workspaceId}/leave`)).status).toBe(200);
  expect((await teammate.call("GET", "/subscribers")).status).toBe(403);
  expect((await teammate.call("POST", `/workspaces/${workspaceId}/leave`)).status).toBe(404);
});

test("changes of the team ask for a recent confirmation", async () => {
  const teammate = await member("support");
  service.clock.advance(10 * 60_000 + 1);
  for (const [method, path, body] of [
    ["PATCH", `/team/${teammate.userId}`, { role: "billing" }],
    ["DELETE", `/team/${teammate.userId}`, undefined],
    ["POST", "/team/invitations", { email: "a@example.com", role: "billing" }],
    ["POST", "/roles", { name: "R", permissions: ["reports:read"] }],
    ["POST", `/workspaces/${workspaceId}/leave`, undefined],
  ] as const) {
    expect((await owner.call(method, path, body)).body.code).toBe("REAUTHENTICATION_REQUIRED");
  }
  expect((await call("PATCH", `/team/${teammate.userId}`, { role: "billing" })).status).toBe(200);
});

test("an unknown role, or one of another workspace, is refused", async () => {
  const teammate = await member("support");
  const other = await service.newWorkspace();
  const theirs = await apiCaller(() => service.url, other.key)("POST", "/roles", {
    name: "Theirs",
    permissions: ["reports:read"],
  });
  for (const role of ["boss", "Owner", newId(), theirs.body.data.id]) {
    const answer = await owner.call("PATCH", `/team/${teammate.userId}`, { role });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, "role"]);
  }
});

test("a role is made, changed for all who hold it at once, and deleted when no teammate holds it", async () => {
  const made = await owner.call("POST", "/roles", {
    name: "Newsletter desk",
    description: "Writes the weekly mail",
    permissions: ["campaigns:read", "campaigns:write"],
  });
  expect(made.body.data).toMatchObject({
    name: "Newsletter desk",
    permissions_in_words: ["Campaigns: read, write"],
    is_built_in: false,
    teammate_count: 0,
  });
  const { id } = made.body.data;
  const teammate = await member("support");
  await owner.call("PATCH", `/team/${teammate.userId}`, { role: id });
  expect((await teammate.call("GET", "/campaigns")).status).toBe(200);
  expect((await owner.call("DELETE", `/roles/${id}`)).body.code).toBe("CONFLICT");
  const changed = await owner.call("PATCH", `/roles/${id}`, { permissions: ["reports:read"] });
  expect(changed.body.data).toMatchObject({ description: "Writes the weekly mail", teammate_count: 1 });
  expect((await teammate.call("GET", "/campaigns")).status).toBe(403);
  await owner.call("PATCH", `/team/${teammate.userId}`, { role: "support" });
  expect((await owner.call("DELETE", `/roles/${id}`)).status).toBe(200);
  expect((await owner.call("GET", `/roles/${id}`)).status).toBe(404);
});

test("names of roles are unique, also against the built-in ones", async () => {
  const role = { name: "Desk", permissions: ["reports:read"] };
  const { body } = await owner.call("POST", "/roles", role);
  expect((await owner.call("POST", "/roles", role)).status).toBe(409);
  expect((await owner.call("POST", "/roles", { ...role, name: "admin" })).status).toBe(409);
  const other = await owner.call("POST", "/roles", { ...role, name: "Other" });
  expect((await owner.call("PATCH", `/roles/${other.body.data.id}`, { name: "Desk" })).status).toBe(409);
  expect((await owner.call("POST", "/roles", { ...role, permissions: ["x:y"] })).status).toBe(400);
  expect(body.data.name).toBe("Desk");
});

test("built-in roles are listed with their permissions in words", async () => {
  const { body } = await owner.call("GET", "/roles");
  const words = Object.fromEntries(
    body.data.map(({ id, permissions_in_words }: Record<string, unknown>) => [id, permissions_in_words]),
  );
  expect(words.owner).toEqual(["Everything"]);
  expect(words.billing).toEqual(["Billing: read, write", "Reports and message log: read", "Notices: write"]);
  expect(body.data.filter(({ is_built_in }: Record<string, unknown>) => is_built_in)).toHaveLength(8);
});

test("another workspace's teammates are not found", async () => {
  const other = await service.newWorkspace();
  const theirs = await service.newPerson(["*:*"], { workspaceId: asWorkspaceId(other.workspaceId) });
  expect((await owner.call("GET", `/team/${theirs.userId}`)).status).toBe(404);
  expect((await owner.call("DELETE", `/team/${theirs.userId}`)).status).toBe(404);
  expect((await theirs.call("POST", `/workspaces/${workspaceId}/leave`)).status).toBe(404);
});
