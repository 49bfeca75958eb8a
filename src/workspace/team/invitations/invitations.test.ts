import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { DAY_MS } from "#platform/time-units.ts";
import { apiCaller, statusesOf } from "#test/support/api-caller.ts";
import type { SignedInPerson } from "#test/support/people.ts";
import { startService } from "#test/support/service.ts";
import { builtInRoles } from "#workspace/people/built-in-roles.ts";

const service = await startService();
const { database, workspaceId } = service;
const visitor = apiCaller(() => service.url, "");
const owner = await service.newPerson(["*:*"]);
await database.run(sql`
  update workspace_members set built_in_role = 'owner', role_id = null where user_id = ${owner.userId}`);

let count = 0;
const newAddress = () => `guest${++count}@example.com`;
/** What the role Support may do: a person who invites to it must hold all of it. */
const supporting = builtInRoles.get("support")?.permissions ?? [];
const invite = (email: string, role = "support") =>
  service.call("POST", "/team/invitations", { email, role });
const accept = (body: object, headers: Record<string, string> = {}) =>
  visitor("POST", "/invitations/accept", body, { key: null, headers });

/** The token of the newest mail to an address. */
async function tokenOf(email: string): Promise<string> {
  const mail = await database.row<{ text: string }>(sql`
    select c.text from messages m
    join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    where m.localpart || '@' || m.domain = ${email} order by m.id desc limit 1`);
  const [, token] = /\/console\/invitation#([\w-]{43})\n/.exec(mail?.text ?? "") ?? [];
  if (token === undefined) throw new Error(`no token in the mail to ${email}: ${mail?.text}`);
  return token;
}

const newPerson = { name: "Grace Hopper", password: "correct horse battery" };

test("a new person accepts with name and password, is signed in, and has the role", async () => {
  const email = newAddress();
  const invited = await invite(` ${email.toUpperCase()} `);
  expect([invited.status, invited.body.data]).toMatchObject([
    201,
    { email, role: "support", role_name: "Support", invited_by: "First key", is_expired: false },
  ]);
  const token = await tokenOf(email);
  const preview = await visitor("POST", "/invitations/preview", { token }, { key: null });
  expect(preview.body.data).toMatchObject({ workspace_name: "Test", email, role_name: "Support" });
  const joined = await accept({ token, ...newPerson });
  expect([joined.status, joined.body.data]).toMatchObject([
    200,
    { workspace_id: workspaceId, role: "support" },
  ]);
  const cookie = joined.headers.get("set-cookie")?.split(";")[0] ?? "";
  const headers = { Cookie: cookie, "X-Workspace": workspaceId, "Sec-Fetch-Site": "same-origin" };
  const answer = await visitor("GET", "/subscribers", undefined, { key: null, headers });
  expect(answer.status).toBe(200);
  expect((await visitor("GET", "/team", undefined, { key: null, headers })).status).toBe(403);
  const { body } = await service.call("GET", "/team");
  expect(body.data).toContainEqual(expect.objectContaining({ email, name: "Grace Hopper", role: "support" }));
  expect((await accept({ token, ...newPerson })).status).toBe(404);
  const query = `resource=team&resource_id=${invited.body.data.id}`;
  const events: { operation: string }[] = (await service.call("GET", `/audit-events?${query}`)).body.data;
  expect(events.map(({ operation }) => operation)).toEqual(["acceptInvitation", "inviteTeammate"]);
});

test("the stored invitation does not have its token", async () => {
  const email = newAddress();
  await invite(email);
  const token = await tokenOf(email);
  const [row] = await database.rows<Record<string, unknown>>(sql`
    select i::text as row from invitations i where email = ${email}`);
  expect(String(row?.row)).not.toContain(token);
  expect(String(row?.row)).not.toContain(Buffer.from(token).toString("hex"));
});

test("an existing person accepts when signed in with the invited address, and only then", async () => {
  const other = await service.newWorkspace();
  const person = await service.newPerson([], { workspaceId: other.workspaceId });
  await invite(person.email, "analyst");
  const token = await tokenOf(person.email);
  const taken = await accept({ token, ...newPerson });
  expect([taken.status, taken.body.code]).toEqual([409, "CONFLICT"]);
  const wrong = await accept({ token }, owner.headers);
  expect([wrong.status, wrong.body.code]).toEqual([403, "FORBIDDEN"]);
  expect((await accept({ token }, { ...person.headers, "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  const joined = await accept({ token }, person.headers);
  expect([joined.status, joined.body.data.user_id]).toEqual([200, person.userId]);
  const call = (path: string) =>
    person.call("GET", path, undefined, { headers: { "X-Workspace": workspaceId } });
  expect((await call("/campaigns")).status).toBe(200);
  const [row] = await database.rows(sql`select password_hash from users where id = ${person.userId}`);
  expect(row).toEqual({ password_hash: null });
});

test("the answer to an invitation does not say whether the address has an account", async () => {
  const other = await service.newWorkspace();
  const person = await service.newPerson([], { workspaceId: other.workspaceId });
  const shape = ({ status, body }: { status: number; body: { data: object; message: string } }) => [
    status,
    body.message,
    Object.keys(body.data),
  ];
  expect(shape(await invite(person.email))).toEqual(shape(await invite(newAddress())));
});

test("an invitation works once, even for requests at the same moment", async () => {
  const email = newAddress();
  await invite(email);
  const token = await tokenOf(email);
  const answers = await Promise.all(Array.from({ length: 4 }, () => accept({ token, ...newPerson })));
  expect(statusesOf(answers)).toEqual([200, 404, 404, 404]);
});

test("an invitation ends after seven days, and can be sent again with a new link", async () => {
  const email = newAddress();
  const { body } = await invite(email);
  const old = await tokenOf(email);
  service.clock.advance(7 * DAY_MS);
  expect((await accept({ token: old, ...newPerson })).status).toBe(404);
  const listed = (await service.call("GET", "/team/invitations")).body.data;
  expect(listed).toContainEqual(expect.objectContaining({ email, is_expired: true }));
  const again = await service.call("POST", `/team/invitations/${body.data.id}/resend`);
  expect([again.status, again.body.data.is_expired]).toEqual([200, false]);
  const fresh = await tokenOf(email);
  expect(fresh).not.toBe(old);
  expect((await accept({ token: old, ...newPerson })).status).toBe(404);
  expect((await accept({ token: fresh, ...newPerson })).status).toBe(200);
});

test("no key of the workspace finds the mail of an invitation in the message log", async () => {
  const email = newAddress();
  await invite(email);
  await tokenOf(email);
  const { status, body } = await service.call("GET", `/messages?to=${email}`);
  expect([status, JSON.stringify(body).includes(email)]).toEqual([200, false]);
  const rows = await database.rows(sql`
    select from messages where workspace_id = ${workspaceId} and localpart || '@' || domain = ${email}`);
  expect(rows).toEqual([]);
});

test("a revoked invitation does not work", async () => {
  const email = newAddress();
  const { body } = await invite(email);
  const token = await tokenOf(email);
  expect((await service.call("DELETE", `/team/invitations/${body.data.id}`)).status).toBe(200);
  expect((await accept({ token, ...newPerson })).status).toBe(404);
  expect((await service.call("DELETE", `/team/invitations/${body.data.id}`)).status).toBe(404);
});

test("invitations of a person who is removed or gets another role do not work", async () => {
  for (const act of ["DELETE", "PATCH"]) {
    const lead = await service.newPerson(["team:*", ...supporting]);
    const email = newAddress();
    const invited = await lead.call("POST", "/team/invitations", { email, role: "support" });
    expect(invited.status).toBe(201);
    const token = await tokenOf(email);
    await service.call(act, `/team/${lead.userId}`, act === "PATCH" ? { role: "support" } : undefined);
    expect((await accept({ token, ...newPerson })).status).toBe(404);
  }
});

describe("an invitation whose inviter may not give the role any more", () => {
  const refused = async (token: string) => {
    const answers = [
      await visitor("POST", "/invitations/preview", { token }, { key: null }),
      await accept({ token, ...newPerson }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([409, "CONFLICT"]);
      expect(body.error).toMatch(
        /may not give this role any more: ask a teammate to send the invitation again$/,
      );
    }
  };
  async function invitedBy(lead: SignedInPerson) {
    const email = newAddress();
    const { status, body } = await lead.call("POST", "/team/invitations", { email, role: "support" });
    expect(status).toBe(201);
    return { email, id: body.data.id, token: await tokenOf(email) };
  }

  test("is refused when the role of a person was narrowed, until another teammate sends it again", async () => {
    const lead = await service.newPerson(["team:*", ...supporting]);
    const { email, id, token } = await invitedBy(lead);
    const { body } = await service.call("GET", `/team/${lead.userId}`);
    await service.call("PATCH", `/roles/${body.data.role}`, { permissions: ["team:*", "reports:read"] });
    await refused(token);
    expect(await database.rows(sql`select from users where email = ${email}`)).toEqual([]);
    const again = await service.call("POST", `/team/invitations/${id}/resend`);
    expect([again.status, again.body.data.invited_by]).toEqual([200, "First key"]);
    expect((await accept({ token: await tokenOf(email), ...newPerson })).status).toBe(200);
  });

  test("is refused when the person may not invite any more, or is disabled", async () => {
    const lead = await service.newPerson(["team:*", ...supporting]);
    const { token } = await invitedBy(lead);
    const { body } = await service.call("GET", `/team/${lead.userId}`);
    await service.call("PATCH", `/roles/${body.data.role}`, { permissions: ["team:read", ...supporting] });
    await refused(token);
    const other = await service.newPerson(["team:*", ...supporting]);
    const theirs = await invitedBy(other);
    await database.run(sql`update users set disabled_at = now() where id = ${other.userId}`);
    await refused(theirs.token);
    await database.run(sql`update users set disabled_at = null where id = ${other.userId}`);
    expect((await accept({ token: theirs.token, ...newPerson })).status).toBe(200);
  });

  test("is refused when the key was deactivated, narrowed, has expired or is deleted", async () => {
    for (const end of [
      (id: string) => service.call("DELETE", `/api-keys/${id}`),
      (id: string) => service.call("PUT", `/api-keys/${id}`, { name: "K", permissions: ["team:*"] }),
      (id: string) => service.call("DELETE", `/api-keys/${id}/permanent`),
      async (id: string) => {
        await database.run(sql`update api_keys set expires_at = ${service.clock.now()} where id = ${id}`);
        return { status: 200 };
      },
    ]) {
      const made = await service.call("POST", "/api-keys", {
        name: "Inviting key",
        permissions: ["team:*", ...supporting],
      });
      const call = apiCaller(() => service.url, made.body.data.key);
      const email = newAddress();
      expect((await call("POST", "/team/invitations", { email, role: "support" })).status).toBe(201);
      const token = await tokenOf(email);
      expect((await visitor("POST", "/invitations/preview", { token }, { key: null })).status).toBe(200);
      expect((await end(made.body.data.id)).status).toBe(200);
      await refused(token);
    }
  });
});

test("an address is invited once at a time, and not when it is a teammate's", async () => {
  const email = newAddress();
  expect((await invite(email)).status).toBe(201);
  expect((await invite(email)).body.code).toBe("CONFLICT");
  expect((await invite(owner.email)).body.code).toBe("CONFLICT");
  for (const wrong of ["no address", "Ada <ada@example.com>", "a@b@c"]) {
    const answer = await invite(wrong);
    expect([answer.status, answer.body.details[0].field]).toEqual([400, "email"]);
  }
});

test("a new person needs a name and a password that is long enough", async () => {
  const email = newAddress();
  await invite(email);
  const token = await tokenOf(email);
  for (const [body, field] of [
    [{}, "name"],
    [{ name: "Grace" }, "password"],
    [{ name: "Grace", password: "short" }, "password"],
    [{ name: "Grace", password: email }, "password"],
    [{ name: " ", password: newPerson.password }, "name"],
  ] as const) {
    const answer = await accept({ token, ...body });
    expect([answer.status, answer.body.details[0].field]).toEqual([400, field]);
  }
  expect((await accept({ token: "x".repeat(43), ...newPerson })).status).toBe(404);
  expect((await accept({ token, ...newPerson })).status).toBe(200);
});

test("mails of invitations to one mailbox are limited", async () => {
  const email = newAddress();
  const { body } = await invite(email);
  const resend = () => service.call("POST", `/team/invitations/${body.data.id}/resend`);
  for (let sent = 1; sent < 10; sent++) expect((await resend()).status).toBe(200);
  const refused = await resend();
  expect([refused.status, refused.body.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
});
