import { setTimeout } from "node:timers/promises";
import { TOTP } from "otpauth";
import sql from "sql-template-tag";
import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startService } from "#test/support/service.ts";
import { SoftwareAuthenticator } from "#test/support/software-authenticator.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { issueWelcomePath } from "#workspace/people/issue-link.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { updateUser } from "#workspace/people/users-store.ts";

const service = await startService();
const { database, clock, workspaceId } = service;
const hasher = new PasswordHasher();
const password = "a long password of a test";
const passwordHash = await hasher.hash(password);
const origin = `http://localhost:${new URL(service.url).port}`;

let count = 0;
let email: string;
let userId: string;

beforeEach(async () => {
  count += 1;
  email = `person${count}@example.com`;
  await database.run(sql`delete from attempt_buckets`);
  userId = (await createUser(database, { email, name: "Ada", passwordHash }, clock.now())).id;
  await insertWorkspaceMember(database, workspaceId, owner(), clock.now());
});

const owner = () => ({ userId, builtInRole: "owner", roleId: null });
const newBrowser = (headers?: Record<string, string>) => new TestBrowser(service.url, headers);
const signIn = (browser = newBrowser(), given: object = {}) =>
  browser.call("POST", "/sign-in", { email, password, ...given });
async function signedIn(): Promise<TestBrowser> {
  const browser = newBrowser();
  expect((await signIn(browser)).body.data.status).toBe("signed_in");
  return browser;
}
/** Hashes that the running service has computed. It keeps an answer of /metrics for a second. */
async function hashCount(): Promise<number> {
  await setTimeout(1_100);
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^posthaste_password_hashes_total\{[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}
const inWorkspace = { "X-Workspace": workspaceId };
const mailsTo = async (address: string) =>
  database.rows<{ subject: string; text: string; workspace_id: string }>(sql`
    select subject, text, m.workspace_id from messages m
    join message_contents c on c.workspace_id = m.workspace_id and c.message_id = m.id
    where localpart || '@' || domain = ${address} order by m.id`);

/** Adds an authenticator app, and gives the code of a moment. */
async function addApp(browser: TestBrowser) {
  const begun = await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" });
  expect(begun.status).toBe(201);
  const code = () =>
    new TOTP({ secret: begun.body.data.secret }).generate({ timestamp: clock.now().getTime() });
  const added = await browser.call("POST", "/me/authenticator-apps", { code: code() });
  expect(added.status).toBe(201);
  return { code, recoveryCodes: added.body.data.recovery_codes as string[], id: added.body.data.factor.id };
}

async function addPasskey(browser: TestBrowser, key = new SoftwareAuthenticator(origin)) {
  const { body } = await browser.call("POST", "/me/passkeys/setup");
  const { challenge, passkey_options } = body.data;
  const given = { challenge, name: "Laptop", passkey: key.create(passkey_options) };
  return { key, added: await browser.call("POST", "/me/passkeys", given) };
}

describe("a sign-in with a password", () => {
  test("opens a session with the person, the workspaces and the permissions", async () => {
    const browser = newBrowser();
    const { status, body, headers } = await signIn(browser, { email: ` ${email.toUpperCase()} ` });
    expect([status, body.data.status]).toEqual([200, "signed_in"]);
    expect(body.data.session).toMatchObject({
      person: { id: userId, email, name: "Ada", has_password: true },
      workspaces: [
        { id: workspaceId, role: { key: "owner", id: null, name: "Owner" }, permissions: ["*:*"] },
      ],
      has_second_factor: false,
      second_factors: [],
    });
    const cookie = headers.getSetCookie().find((one) => one.startsWith("posthaste="));
    expect(cookie).toMatch(/^posthaste=[\w-]{43}; .*HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    expect((await browser.call("GET", "/session")).body.data).toEqual(body.data.session);
    expect((await browser.call("GET", "/mailing-lists", undefined, inWorkspace)).status).toBe(200);
  });

  test("has the same answer, and costs one hash, for a wrong password, an unknown address and a disabled account", async () => {
    await updateUser(database, userId, { disabled_at: clock.now() });
    const known = `known${count}@example.com`;
    await createUser(database, { email: known, name: "Ada", passwordHash }, clock.now());
    const tries = [{}, { email: "unknown@example.com" }, { email: known, password: "wrong" }];
    const answers = [];
    const counts = [await hashCount()];
    for (const given of tries) {
      answers.push(await signIn(newBrowser(), given));
      counts.push(await hashCount());
    }
    const [first = 0] = counts;
    expect(counts).toEqual([first, first + 1, first + 2, first + 3]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test("gives a new token, and ends the session that the browser had (fixation)", async () => {
    const browser = await signedIn();
    const planted = browser.copy();
    await signIn(browser);
    expect(browser.cookies.get("posthaste")).not.toBe(planted.cookies.get("posthaste"));
    expect((await planted.call("GET", "/session")).status).toBe(401);
  });

  test("is refused from a page of another origin", async () => {
    for (const headers of [
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
    ] as Record<string, string>[]) {
      expect((await signIn(newBrowser(headers))).status).toBe(403);
    }
  });

  test("stores a new hash when the parameters have changed", async () => {
    const weak = await new PasswordHasher({ memory: 1_024, passes: 2, parallelism: 1 }).hash(password);
    await updateUser(database, userId, { password_hash: weak });
    await signedIn();
    const row = await database.row<{ password_hash: string }>(sql`
      select password_hash from users where id = ${userId}`);
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signedIn();
  });

  test("from a new browser is announced by mail, from a known one and the first it is not", async () => {
    const browser = await signedIn();
    await signIn(browser);
    expect(await mailsTo(email)).toEqual([]);
    await signIn(newBrowser({ "User-Agent": "Another browser" }));
    expect(await mailsTo(email)).toMatchObject([
      { subject: "New sign-in to your account", text: expect.stringContaining("Another browser") },
    ]);
  });
});

describe("wrong passwords", () => {
  test("of one account are refused after ten, with Retry-After and a mail, and a known browser still gets in", async () => {
    const known = await signedIn();
    const attempts = Array.from({ length: 10 }, () => signIn(newBrowser(), { password: "wrong" }));
    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual(Array(10).fill(401));
    const refused = await signIn(newBrowser());
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "90"]);
    expect(await mailsTo(email)).toMatchObject([{ subject: "Failed sign-ins to your account" }]);
    expect((await signIn(known)).status).toBe(200);
    clock.advance(90_000);
    expect((await signIn(newBrowser())).status).toBe(200);
  });

  test("a thousand from one network, over many accounts, cost sixty hashes", async () => {
    const statuses: number[] = [];
    const before = await hashCount();
    for (let begin = 0; begin < 1_000; begin += 50) {
      const some = Array.from({ length: 50 }, (_, at) =>
        signIn(newBrowser(), { email: `guess${begin + at}@example.com`, password: "wrong" }),
      );
      statuses.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(940);
    expect((await hashCount()) - before).toBe(60);
  });
});

describe("a session", () => {
  test("ends after 14 days without a request, and after 60 days in any case", async () => {
    const [idle, used] = [await signedIn(), await signedIn()];
    for (let round = 1; round <= 6; round++) {
      clock.advance(10 * DAY_MS - 1_000);
      expect((await used.call("GET", "/session")).status).toBe(200);
      if (round === 2) expect((await idle.call("GET", "/session")).status).toBe(401);
    }
    clock.advance(6_000);
    expect((await used.call("GET", "/session")).status).toBe(401);
  });

  test("names another workspace in vain", async () => {
    const other = await service.newWorkspace();
    const browser = await signedIn();
    const answer = await browser.call("GET", "/mailing-lists", undefined, {
      "X-Workspace": other.workspaceId,
    });
    expect([answer.status, answer.body.code]).toEqual([403, "FORBIDDEN"]);
  });

  test("loses a right within two seconds of its loss", async () => {
    const browser = await signedIn();
    expect((await browser.call("GET", "/mailing-lists", undefined, inWorkspace)).status).toBe(200);
    await database.run(sql`
      update workspace_members set built_in_role = 'billing' where workspace_id = ${workspaceId} and user_id = ${userId}`);
    clock.advance(2_000);
    expect((await browser.call("GET", "/mailing-lists", undefined, inWorkspace)).body.code).toBe(
      "INSUFFICIENT_SCOPE",
    );
  });

  test("ends within two seconds when the account is disabled", async () => {
    const browser = await signedIn();
    await updateUser(database, userId, { disabled_at: clock.now() });
    clock.advance(2_000);
    expect((await browser.call("GET", "/session")).status).toBe(401);
  });

  test("changes nothing for a page of another origin", async () => {
    const browser = await signedIn();
    const answer = await browser.call("PATCH", "/me", { name: "Eve" }, { "Sec-Fetch-Site": "cross-site" });
    expect(answer.status).toBe(403);
    expect((await browser.call("GET", "/me")).body.data.name).toBe("Ada");
  });

  test("is listed and ended by its person only", async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const { body } = await one.call("GET", "/sessions");
    expect(body.data).toMatchObject([{ user_agent: "Test browser" }, { user_agent: "Test browser" }]);
    const theirs = body.data.find((session: { is_current: boolean }) => !session.is_current);
    const stranger = await service.newPerson([]);
    expect((await stranger.call("DELETE", `/sessions/${theirs.id}`)).status).toBe(404);
    expect((await one.call("DELETE", `/sessions/${theirs.id}`)).status).toBe(200);
    expect((await other.call("GET", "/session")).status).toBe(401);
    expect((await one.call("DELETE", `/sessions/${newId()}`)).status).toBe(404);
  });

  test("ends with a sign-out, and all end with a sign-out everywhere", async () => {
    const [one, other, third] = [await signedIn(), await signedIn(), await signedIn()];
    const copy = third.copy();
    expect((await third.call("DELETE", "/session")).status).toBe(200);
    expect((await copy.call("GET", "/session")).status).toBe(401);
    expect((await one.call("DELETE", "/sessions")).body.data).toEqual({ ended: 1 });
    expect((await other.call("GET", "/session")).status).toBe(401);
    expect((await one.call("DELETE", "/sessions?include_current=true")).body.data).toEqual({ ended: 1 });
  });

  test("confirmed by a password lasts ten minutes and gets a new token; a wrong password is refused", async () => {
    const browser = await signedIn();
    clock.advance(11 * MINUTE_MS);
    const key = { name: "Key", permissions: ["*:*"] };
    const create = () => browser.call("POST", "/api-keys", key, inWorkspace);
    expect((await create()).body.code).toBe("REAUTHENTICATION_REQUIRED");
    const former = browser.copy();
    const wrong = await browser.call("POST", "/session/confirmation", { password: "wrong" });
    expect([wrong.status, (await create()).status]).toEqual([403, 403]);
    expect((await browser.call("POST", "/session/confirmation", {})).status).toBe(400);
    expect((await browser.call("POST", "/session/confirmation", { password })).status).toBe(200);
    expect((await create()).status).toBe(201);
    expect((await former.call("GET", "/session")).status).toBe(401);
  });
});

describe("an authenticator app", () => {
  test("is asked for at the sign-in; a code works once, a wrong one not, and five tries end the sign-in", async () => {
    const browser = await signedIn();
    const { code } = await addApp(browser);
    clock.advance(MINUTE_MS);
    const first = await signIn();
    expect(first.body.data).toMatchObject({
      status: "second_factor_required",
      session: null,
      second_factor: { kinds: ["authenticator_app", "recovery_code"], passkey_options: null },
    });
    const { challenge } = first.body.data.second_factor;
    const used = newBrowser();
    expect((await used.call("GET", "/session")).status).toBe(401);
    const confirm = (given: object) => used.call("POST", "/sign-in/second-factor", given);
    expect((await confirm({ challenge, code: "000000" })).status).toBe(401);
    expect((await confirm({ challenge })).status).toBe(400);
    const right = code();
    const done = await confirm({ challenge, code: right });
    expect([done.status, done.body.data.session.has_second_factor]).toEqual([200, true]);
    const again = (await signIn()).body.data.second_factor.challenge;
    expect((await confirm({ challenge: again, code: right })).status).toBe(401);
    for (let tries = 0; tries < 4; tries++) await confirm({ challenge: again, code: "000000" });
    clock.advance(MINUTE_MS);
    expect((await confirm({ challenge: again, code: code() })).status).toBe(401);
  });

  test("codes are refused after ten wrong ones, over many sign-ins", async () => {
    await addApp(await signedIn());
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const { challenge } = (await signIn()).body.data.second_factor;
      for (let tries = 0; tries < 5; tries++) {
        const answer = await newBrowser().call("POST", "/sign-in/second-factor", {
          challenge,
          code: "000000",
        });
        statuses.push(answer.status);
      }
    }
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)]);
  });

  test("is needed in a workspace that requires a second factor", async () => {
    const { workspaceId: strict } = await service.newWorkspace();
    await insertWorkspaceMember(database, strict, owner(), clock.now());
    await database.run(sql`update workspaces set requires_second_factor = true where id = ${strict}`);
    const browser = await signedIn();
    const read = () => browser.call("GET", "/mailing-lists", undefined, { "X-Workspace": strict });
    expect((await read()).body.code).toBe("SECOND_FACTOR_REQUIRED");
    const { id } = await addApp(browser);
    expect((await read()).status).toBe(200);
    expect((await browser.call("DELETE", `/me/second-factors/${id}`)).status).toBe(200);
    expect((await read()).body.code).toBe("SECOND_FACTOR_REQUIRED");
  });

  test("is replaced by a recovery code, once", async () => {
    const { recoveryCodes } = await addApp(await signedIn());
    expect(recoveryCodes).toHaveLength(10);
    const [recovery_code = ""] = recoveryCodes;
    const spend = async (code: string) => {
      const { challenge } = (await signIn()).body.data.second_factor;
      return (await newBrowser().call("POST", "/sign-in/second-factor", { challenge, recovery_code: code }))
        .status;
    };
    expect([await spend(recovery_code.toUpperCase()), await spend(recovery_code)]).toEqual([200, 401]);
  });
});

describe("a passkey", () => {
  test("signs in alone, and completes a sign-in with a password", async () => {
    const { key, added } = await addPasskey(await signedIn());
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const browser = newBrowser();
    const { challenge, passkey_options } = (await browser.call("POST", "/sign-in/passkey/challenge")).body
      .data;
    const given = { challenge, passkey: key.get(passkey_options) };
    const answer = await browser.call("POST", "/sign-in/passkey", given);
    expect(answer.body.data.session).toMatchObject({ has_second_factor: true, person: { email } });
    expect((await browser.call("POST", "/sign-in/passkey", given)).status).toBe(401);
    const second = (await signIn(newBrowser())).body.data.second_factor;
    expect(second.kinds).toEqual(["passkey", "recovery_code"]);
    const proof = { challenge: second.challenge, passkey: key.get(second.passkey_options, false) };
    expect((await newBrowser().call("POST", "/sign-in/second-factor", proof)).status).toBe(200);
  });

  test("of another origin, of an unchecked owner, or for another challenge does not sign in", async () => {
    const { key } = await addPasskey(await signedIn());
    const begin = async () => (await newBrowser().call("POST", "/sign-in/passkey/challenge")).body.data;
    const finish = async (challenge: string, passkey: object) =>
      (await newBrowser().call("POST", "/sign-in/passkey", { challenge, passkey })).status;
    const [one, other] = [await begin(), await begin()];
    expect(await finish(one.challenge, key.get(one.passkey_options, false))).toBe(401);
    expect(await finish(one.challenge, key.get(other.passkey_options))).toBe(401);
    // The same key on a page of another port of the host, which signs what the real page asked for.
    const phished = key.get(one.passkey_options, true, "http://localhost:1");
    expect(await finish(one.challenge, phished)).toBe(401);
    const phishing = new SoftwareAuthenticator("http://localhost:1");
    expect((await addPasskey(await signedIn2(key), phishing)).added.status).toBe(400);
  });

  /** Signs in with the passkey as the second factor. */
  async function signedIn2(key: SoftwareAuthenticator): Promise<TestBrowser> {
    const browser = newBrowser();
    const { challenge, passkey_options } = (await signIn(browser)).body.data.second_factor;
    await browser.call("POST", "/sign-in/second-factor", { challenge, passkey: key.get(passkey_options) });
    return browser;
  }

  test("confirms who the person is", async () => {
    const { key } = await addPasskey(await signedIn());
    const browser = await signedIn2(key);
    clock.advance(11 * MINUTE_MS);
    const { challenge, passkey_options } = (await browser.call("POST", "/session/confirmation/challenge"))
      .body.data;
    const given = { challenge, passkey: key.get(passkey_options) };
    expect((await browser.call("POST", "/session/confirmation", given)).status).toBe(200);
    expect((await browser.call("POST", "/me/recovery-codes")).body.data.recovery_codes).toHaveLength(10);
  });
});

describe("a reset of the password", () => {
  const request = (address: string, headers?: Record<string, string>) =>
    newBrowser(headers).call("POST", "/password-resets", { email: address });
  const tokenOf = (text: string) => /\/console\/reset#([\w-]{43})/.exec(text)?.[1] ?? "";

  test("answers the same for every address, and mails only to accounts, with a link that no Host header changes", async () => {
    const known = await request(email);
    const unknown = await request("unknown2@example.com");
    expect([known.status, unknown.status, known.body]).toEqual([202, 202, unknown.body]);
    expect(await mailsTo("unknown2@example.com")).toEqual([]);
    const [mail] = await mailsTo(email);
    expect(mail?.text).toContain(`${service.url.replace("localhost", "127.0.0.1")}/console/reset#`);
    const visible = await service.call("GET", "/messages?limit=200");
    expect(JSON.stringify(visible.body)).not.toContain(email);
  });

  test("changes the password once, ends all sessions and keeps the second factor", async () => {
    const browser = await signedIn();
    await addApp(browser);
    await request(email);
    const token = tokenOf((await mailsTo(email)).at(-1)?.text ?? "");
    const complete = (password: string) =>
      newBrowser().call("POST", "/password-resets/complete", { token, password });
    for (const bad of ["short", "qwertyuiop", "1234567890", "a".repeat(12), email]) {
      expect((await complete(bad)).body.code).toBe("VALIDATION_ERROR");
    }
    expect((await complete("another long password")).status).toBe(200);
    expect((await complete("a third long password")).status).toBe(404);
    expect((await browser.call("GET", "/session")).status).toBe(401);
    expect((await signIn()).status).toBe(401);
    const answer = await signIn(newBrowser(), { password: "another long password" });
    expect(answer.body.data.status).toBe("second_factor_required");
  });

  test("is too late after 30 minutes, and an earlier link stops working with a newer one", async () => {
    await request(email);
    await request(email);
    const [older = "", newer = ""] = (await mailsTo(email)).map(({ text }) => tokenOf(text));
    const complete = (token: string) =>
      newBrowser().call("POST", "/password-resets/complete", { token, password: "another long password" });
    expect((await complete(older)).status).toBe(404);
    clock.advance(30 * MINUTE_MS);
    expect((await complete(newer)).status).toBe(404);
  });
});

describe("the own account", () => {
  test("is changed field by field", async () => {
    const browser = await signedIn();
    const changes = {
      name: "Grace",
      language: "pt-br",
      timezone: "Europe/Paris",
      theme: "dark",
      preferences: { a: [1] },
    };
    const { status, body } = await browser.call("PATCH", "/me", changes);
    expect([status, body.data]).toMatchObject([200, { ...changes, language: "pt-BR", email }]);
    expect((await browser.call("PATCH", "/me", { theme: null })).body.data).toMatchObject({
      name: "Grace",
      theme: null,
    });
    for (const bad of [
      { language: "??" },
      { timezone: "Mars" },
      { preferences: { a: "x".repeat(17_000) } },
    ]) {
      expect((await browser.call("PATCH", "/me", bad)).status).toBe(400);
    }
  });

  test("gets a new password with the present one; other sessions end", async () => {
    const [browser, other] = [await signedIn(), await signedIn()];
    const change = (current_password: string) =>
      browser.call("PUT", "/me/password", { current_password, new_password: "another long password" });
    expect((await change("wrong")).status).toBe(403);
    expect((await change(password)).status).toBe(200);
    expect((await browser.call("GET", "/session")).status).toBe(200);
    expect((await other.call("GET", "/session")).status).toBe(401);
  });

  test("gets a new address when its owner opens the mailed link; another person's address stays theirs", async () => {
    const browser = await signedIn();
    const same = await browser.call("POST", "/me/email", { email: email.toUpperCase() });
    expect([same.status, same.body.details[0].field]).toEqual([400, "email"]);
    expect(await mailsTo(email)).toEqual([]);
    const taken = await browser.call("POST", "/me/email", { email: "person1@example.com" });
    const asked = await browser.call("POST", "/me/email", { email: `new.${email}` });
    expect([taken.status, asked.status]).toEqual([201, 201]);
    const token = /#([\w-]{43})/.exec((await mailsTo(`new.${email}`))[0]?.text ?? "")?.[1];
    const confirm = () => newBrowser().call("POST", "/email-changes/confirm", { token });
    expect((await confirm()).body.data).toEqual({ email: `new.${email}` });
    expect((await confirm()).status).toBe(404);
    expect((await browser.call("GET", "/me")).body.data.email).toBe(`new.${email}`);
    // Both requests get the same notice: it reveals nothing of the other person.
    expect((await mailsTo(email)).map(({ subject }) => subject).toSorted()).toEqual([
      "Another address was asked for",
      "Another address was asked for",
      "Your address was changed",
    ]);
  });
});

test("the first owner gets the first workspace and the installation, and the link works once", async () => {
  const fresh = await startService();
  const given = {
    name: "Ada",
    email: "ada@example.com",
    password,
    workspace_name: "Acme",
    timezone: "Europe/Paris",
  };
  const path = (await issueWelcomePath(fresh.database, fresh.clock.now())) ?? "";
  const token = path.split("#")[1];
  const create = (browser: TestBrowser) => browser.call("POST", "/first-owner", { ...given, token });
  const wrong = await new TestBrowser(fresh.url).call("POST", "/first-owner", { ...given, token: "x" });
  expect(wrong.status).toBe(404);
  const browser = new TestBrowser(fresh.url);
  const { status, body } = await create(browser);
  expect([status, body.data]).toMatchObject([
    201,
    {
      person: { is_operator: true },
      workspaces: [{ id: fresh.workspaceId, name: "Acme", role: { key: "owner" } }],
    },
  ]);
  expect((await browser.call("GET", "/session")).status).toBe(200);
  const log = await fresh.call("GET", "/audit-events?operation=createFirstOwner");
  expect(log.body.data).toMatchObject([
    { actor: { kind: "person", id: body.data.person.id }, resource: { name: given.email }, result: "done" },
  ]);
  expect((await create(new TestBrowser(fresh.url))).status).toBe(404);
  expect(await issueWelcomePath(fresh.database, fresh.clock.now())).toBeUndefined();
});
