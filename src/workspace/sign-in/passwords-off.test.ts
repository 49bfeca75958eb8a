/** With PASSWORD_LOGIN=off, no operation takes or sets a password. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startService } from "#test/support/service.ts";
import { issueWelcomePath } from "#workspace/people/issue-link.ts";
import { insertLink } from "#workspace/people/links-store.ts";
import { hashToken, newToken } from "#workspace/people/open-session.ts";
import { insertInvitation } from "#workspace/team/invitations/store.ts";

const service = await startService({ env: { PASSWORD_LOGIN: "off" } });
const { database, clock } = service;
const withProvider = await startService({
  env: { PASSWORD_LOGIN: "off", OIDC_ISSUER: "https://login.example.com", OIDC_CLIENT_ID: "posthaste" },
});
const visitor = new TestBrowser(service.url);
const password = "a long password of a test";

const later = () => new Date(clock.now().getTime() + 60_000);
async function invitationFor(
  email: string,
  { database, workspaceId }: Pick<typeof service, "database" | "workspaceId"> = service,
): Promise<string> {
  const [token, now] = [newToken(), clock.now()];
  const role = { builtInRole: "support", roleId: null, name: "Support", permissions: [] };
  const inviter = { userId: null, keyId: null, name: "Ada" };
  const times = { created_at: now, sent_at: now, expires_at: later() };
  await insertInvitation(database, workspaceId, { id: newId(), email, role, inviter, ...times }, token);
  return token;
}

test("the first owner is not created with a password, and the refusal names the command", async () => {
  const token = (await issueWelcomePath(database, clock.now()))?.split("#")[1];
  const given = {
    token,
    name: "Ada",
    email: "a@example.com",
    password,
    workspace_name: "A",
    timezone: "UTC",
  };
  const { status, body } = await visitor.call("POST", "/first-owner", given);
  expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
  expect(body.error).toContain("posthaste -- user create --owner --operator");
  expect(await database.rows(sql`select from users`)).toEqual([]);
});

test("a sign-in, a reset, a change and a confirmation by password are refused and change nothing", async () => {
  const person = await service.newPerson(["*:*"]);
  const token = newToken();
  const link = { purpose: "set_password", user_id: person.userId, email: null } as const;
  await insertLink(database, hashToken(token), link, { now: clock.now(), expiresAt: later() });
  const answers = [
    await visitor.call("POST", "/sign-in", { email: person.email, password }),
    await visitor.call("POST", "/password-resets", { email: person.email }),
    await visitor.call("POST", "/password-resets/complete", { token, password }),
    await person.call("PUT", "/me/password", { new_password: password }),
    await person.call("POST", "/session/confirmation", { password }),
  ];
  for (const { status, body } of answers) {
    expect([status, body.code]).toEqual([403, "FORBIDDEN"]);
    expect(body.error).toMatch(
      /^Passwords are switched off here: (?:use a passkey|confirm with a code or a passkey)$/,
    );
  }
  expect(await database.rows(sql`select password_hash from users where id = ${person.userId}`)).toEqual([
    { password_hash: null },
  ]);
  expect(await database.rows(sql`select from attempt_buckets`)).toEqual([]);
  const byCode = await person.call("POST", "/session/confirmation", { code: "000000" });
  expect(byCode.body.error).toMatch(/^The proof is wrong/);
});

test("an invitation makes no new account with a password, and an existing person accepts it", async () => {
  const email = "guest@example.com";
  const body = { token: await invitationFor(email), name: "Grace", password };
  const refused = await visitor.call("POST", "/invitations/accept", body);
  expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
  expect(refused.body.error).toContain("ask the operator of the installation to configure single sign-on");
  expect(await database.rows(sql`select from users where email = ${email}`)).toEqual([]);
  const other = await service.newWorkspace();
  const person = await service.newPerson([], { workspaceId: other.workspaceId });
  const token = await invitationFor(person.email);
  expect((await person.call("POST", "/invitations/accept", { token })).status).toBe(200);
});

test("a refusal names single sign-on where it is configured", async () => {
  const there = new TestBrowser(withProvider.url);
  const signIn = await there.call("POST", "/sign-in", { email: "a@example.com", password });
  expect([signIn.status, signIn.body.error]).toEqual([
    403,
    "Passwords are switched off here: use single sign-on or a passkey",
  ]);
  const token = await invitationFor("new@example.com", withProvider);
  const accepted = await there.call("POST", "/invitations/accept", { token, name: "Grace", password });
  expect([accepted.status, accepted.body.error]).toEqual([
    403,
    "Passwords are switched off here: sign in with single sign-on, then open the invitation again",
  ]);
});
