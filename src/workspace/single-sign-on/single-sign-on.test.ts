/** The judge is a certified OpenID provider (test/support/openid-provider.ts). */
import { TOTP } from "otpauth";
import sql from "sql-template-tag";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startOpenIdProvider } from "#test/support/openid-provider.ts";
import { startService, type TestService } from "#test/support/service.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { updateUser } from "#workspace/people/users-store.ts";

const provider = await startOpenIdProvider();
const service = await startService({ env: provider.env });
const { database, clock, workspaceId } = service;

let count = 0;
let email: string;
let userId: string;

beforeEach(async () => {
  count += 1;
  email = `person${count}@example.com`;
  userId = await newUser();
});
afterEach(() => provider.intercept(null));

async function newUser(passwordHash: string | null = null): Promise<string> {
  const { id } = await createUser(database, { email, name: "Ada", passwordHash }, clock.now());
  await insertWorkspaceMember(
    database,
    workspaceId,
    { userId: id, builtInRole: "owner", roleId: null },
    clock.now(),
  );
  return id;
}
const newBrowser = ({ url } = service) => new TestBrowser(url);
const newAccount = (claims: object = {}) => provider.account({ email, email_verified: true, ...claims });
async function begin(browser: TestBrowser, body: object = {}): Promise<string> {
  const { status, body: answer } = await browser.call("POST", "/sign-in/single-sign-on", body);
  expect([status, answer.error]).toEqual([201, undefined]);
  return answer.data.url;
}
const pathOf = ({ pathname, search }: URL) => pathname + search;
/** The whole way of a browser: start, provider, and back. */
async function signOn(subject: string, browser = newBrowser(), body: object = {}) {
  const back = await provider.signIn(await begin(browser, body), subject);
  return { browser, back, page: await browser.open(pathOf(back)) };
}
const isSignedIn = async (browser: TestBrowser) => (await browser.call("GET", "/session")).status === 200;
async function expectRefused(
  { browser, page }: Awaited<ReturnType<typeof signOn>>,
  status: number,
  words: RegExp,
): Promise<void> {
  expect(page.status, page.text).toBe(status);
  expect(page.text).toMatch(words);
  expect(await isSignedIn(browser)).toBe(false);
}
const accountsOf = (id = userId) =>
  database.rows<{ issuer: string; subject: string }>(
    sql`select issuer, subject from external_accounts where user_id = ${id}`,
  );
const mailsTo = (address: string) =>
  database.rows<{ subject: string }>(sql`
    select subject from messages where localpart || '@' || domain = ${address} order by id`);
const auditOf = (id: string) =>
  database.rows<{ operation: string; result: string; actor_name: string }>(sql`
    select operation, result, actor_name from audit_events where operation = 'finishSingleSignOn' and resource_id = ${id}`);

describe("a single sign-on", () => {
  test("opens a session of the person whose verified address the provider names, and ties the account", async () => {
    const subject = newAccount();
    const { browser, page } = await signOn(subject, newBrowser(), {
      return_to: "/console/campaigns?page=2#top",
    });
    expect([page.status, page.headers.get("location")]).toEqual([303, "/console/campaigns?page=2#top"]);
    const session = (await browser.call("GET", "/session")).body.data;
    expect(session).toMatchObject({ person: { id: userId, email }, has_second_factor: false });
    expect(await accountsOf()).toEqual([{ issuer: provider.issuer, subject }]);
    expect(await auditOf(userId)).toEqual([
      { operation: "finishSingleSignOn", result: "done", actor_name: "Ada" },
    ]);
    expect(await mailsTo(email)).toEqual([{ subject: "Single sign-on is connected with your account" }]);
  });

  test("sets the same cookie as a sign-in, and removes its own", async () => {
    const browser = newBrowser();
    const { headers } = await browser.call("POST", "/sign-in/single-sign-on");
    const [own = ""] = headers.getSetCookie();
    expect(own).toMatch(/^posthaste_sign_on=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const { page } = await signOn(newAccount(), browser);
    const cookies = page.headers.getSetCookie();
    expect(cookies.find((one) => one.startsWith("posthaste="))).toMatch(
      /^posthaste=[\w-]{43}; .*HttpOnly; SameSite=Lax/,
    );
    expect(cookies.find((one) => one.startsWith("posthaste_sign_on="))).toMatch(
      /^posthaste_sign_on=; Max-Age=0;/,
    );
  });

  test("keeps both cookies to this host and to HTTPS where people use HTTPS", async () => {
    const secure = await startService({ env: { ...provider.env, TRUSTED_PROXIES: "127.0.0.1" } });
    await createUser(secure.database, { email, name: "Ada", passwordHash: null }, clock.now());
    const browser = new TestBrowser(secure.url, { "X-Forwarded-Proto": "https" });
    const { headers } = await browser.call("POST", "/sign-in/single-sign-on");
    expect(headers.getSetCookie()[0]).toMatch(
      /^__Host-posthaste_sign_on=.*; HttpOnly; Secure; SameSite=Lax$/,
    );
    const { page } = await signOn(newAccount(), browser);
    expect(page.headers.getSetCookie().join("\n")).toMatch(/^__Host-posthaste=[\w-]{43}; .*Secure/m);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("confirms no longer than the person proved at the provider who they are", async () => {
    const subject = newAccount();
    clock.set(new Date(Date.now() + 5 * MINUTE_MS));
    const { browser } = await signOn(subject);
    const { confirmed_until } = (await browser.call("GET", "/session")).body.data;
    const leftMs = new Date(confirmed_until).getTime() - clock.now().getTime();
    expect(leftMs).toBeGreaterThan(4 * MINUTE_MS);
    expect(leftMs).toBeLessThan(6 * MINUTE_MS);
  });

  test("confirms nothing when the provider does not say when the person proved it", async () => {
    const silent = await startOpenIdProvider({ hasAuthTime: false });
    const opened = await startService({ env: silent.env });
    await createUser(opened.database, { email, name: "Ada", passwordHash: null }, opened.clock.now());
    const browser = newBrowser(opened);
    const subject = silent.account({ email, email_verified: true });
    const back = await silent.signIn(await begin(browser), subject);
    expect((await browser.open(pathOf(back))).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    const refused = await browser.call("POST", "/me/authenticator-apps/setup", { name: "Phone" });
    expect([refused.status, refused.body.code]).toEqual([403, "REAUTHENTICATION_REQUIRED"]);
  });

  test("asked for again is refused when the person proved it only before", async () => {
    const subject = newAccount();
    clock.set(new Date());
    const { browser } = await signOn(subject, newBrowser(), { reauthenticate: true });
    expect(await isSignedIn(browser)).toBe(true);
    clock.set(new Date(Date.now() + MINUTE_MS));
    const early = await signOn(subject, newBrowser(), { reauthenticate: true });
    await expectRefused(early, 403, /does not say that it asked you again/);
  });

  test("goes to the console when no path is named", async () => {
    const { page } = await signOn(newAccount());
    expect(page.headers.get("location")).toBe("/console");
  });

  test("finds a tied account again by its subject after the address has changed on both sides", async () => {
    const subject = newAccount();
    await signOn(subject);
    await updateUser(database, userId, { email: `renamed${count}@example.com` });
    provider.account({ email: "someone.else@example.com", email_verified: false }, subject);
    const { browser } = await signOn(subject);
    expect((await browser.call("GET", "/session")).body.data.person.id).toBe(userId);
  });

  test("mails the person about a new browser", async () => {
    const subject = newAccount();
    await signOn(subject);
    await signOn(subject);
    expect((await mailsTo(email)).map(({ subject: one }) => one)).toContain("New sign-in to your account");
  });

  test("ends the session that the browser had (fixation)", async () => {
    const subject = newAccount();
    const { browser } = await signOn(subject);
    const planted = browser.copy();
    await signOn(subject, browser);
    expect([await isSignedIn(planted), await isSignedIn(browser)]).toEqual([false, true]);
  });

  test("asks the provider for the password again on demand", async () => {
    const url = new URL(await begin(newBrowser(), { reauthenticate: true }));
    expect([url.searchParams.get("prompt"), url.searchParams.get("max_age")]).toEqual(["login", "0"]);
    expect(new URL(await begin(newBrowser())).searchParams.get("prompt")).toBe(null);
  });

  test("is named by the options of the sign-in page, with a secret in none of its parts", async () => {
    const { body } = await newBrowser().call("GET", "/sign-in/options");
    expect(body.data.single_sign_on).toEqual({ name: "Acme ID" });
    const url = new URL(await begin(newBrowser()));
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "posthaste",
      response_type: "code",
      redirect_uri: `${service.url}/single-sign-on/finish`,
      scope: "openid email profile",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
  });
});

describe("the second factor", () => {
  test("is asked for after a single sign-on, and completes it", async () => {
    const subject = newAccount();
    const { browser: first } = await signOn(subject);
    const begun = await first.call("POST", "/me/authenticator-apps/setup", { name: "Phone" });
    const totp = new TOTP({ secret: begun.body.data.secret });
    const code = () => totp.generate({ timestamp: clock.now().getTime() });
    expect((await first.call("POST", "/me/authenticator-apps", { code: code() })).status).toBe(201);
    clock.advance(MINUTE_MS);

    const { browser, page } = await signOn(subject, newBrowser(), { return_to: "/console/lists" });
    const next = new URL(page.headers.get("location") ?? "", service.url);
    expect([next.pathname, next.search]).toEqual(["/console/sign-in", "?return_to=%2Fconsole%2Flists"]);
    expect(await isSignedIn(browser)).toBe(false);
    const challenge = new URLSearchParams(next.hash.slice(1)).get("challenge");
    const open = await browser.call("POST", "/sign-in/second-factor/challenge", { challenge });
    expect(open.body.data).toEqual({
      challenge,
      kinds: ["authenticator_app", "recovery_code"],
      passkey_options: null,
      expires_at: new Date(clock.now().getTime() + 10 * MINUTE_MS).toISOString(),
    });
    const done = await browser.call("POST", "/sign-in/second-factor", { challenge, code: code() });
    expect(done.body.data).toMatchObject({ status: "signed_in", session: { has_second_factor: true } });
    const again = await browser.call("POST", "/sign-in/second-factor/challenge", { challenge });
    expect([again.status, again.body.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("stays required by a workspace that requires it, whatever the provider has asked for", async () => {
    const other = await service.newWorkspace();
    await database.run(
      sql`update workspaces set requires_second_factor = true where id = ${other.workspaceId}`,
    );
    const member = { userId, builtInRole: "owner", roleId: null };
    await insertWorkspaceMember(database, other.workspaceId, member, clock.now());
    const { browser } = await signOn(newAccount());
    const { body } = await browser.call("GET", "/mailing-lists", undefined, {
      "X-Workspace": other.workspaceId,
    });
    expect(body.code).toBe("SECOND_FACTOR_REQUIRED");
  });
});

describe("an answer of the provider is refused", () => {
  test("when its code was used already", async () => {
    const subject = newAccount();
    const browser = newBrowser();
    const url = await begin(browser);
    const before = browser.copy();
    const back = await provider.signIn(url, subject);
    expect((await browser.open(pathOf(back))).status).toBe(303);
    await expectRefused(
      { browser: before, back, page: await before.open(pathOf(back)) },
      400,
      /used already/,
    );
  });

  test("in another browser than the one that began", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    const other = newBrowser();
    await expectRefused(
      { browser: other, back, page: await other.open(pathOf(back)) },
      400,
      /begun no sign-in/,
    );
    await begin(other);
    await expectRefused(
      { browser: other, back, page: await other.open(pathOf(back)) },
      400,
      /begun no sign-in/,
    );
    expect((await browser.open(pathOf(back))).status).toBe(303);
  });

  test("with another state or without one", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    for (const state of ["wrong", ""]) {
      const changed = new URL(back);
      changed.searchParams.set("state", state);
      await expectRefused(
        { browser, back, page: await browser.open(pathOf(changed)) },
        400,
        /begun no sign-in/,
      );
    }
  });

  test("after ten minutes", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    clock.advance(10 * MINUTE_MS);
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /ten minutes/);
  });

  test("when the cookie was changed", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    const sealed = browser.cookies.get("posthaste_sign_on") ?? "";
    browser.cookies.set("posthaste_sign_on", `${sealed.slice(0, -2)}AA`);
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /begun no sign-in/);
  });

  test("with the nonce of another sign-in", async () => {
    const browser = newBrowser();
    const url = new URL(await begin(browser));
    url.searchParams.set("nonce", "a-nonce-of-another-sign-in");
    const back = await provider.signIn(url.href, newAccount());
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /not valid/);
    expect(await accountsOf()).toEqual([]);
  });

  test("of another issuer", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    back.searchParams.set("iss", "https://other.example");
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /not valid/);
  });

  test("with a token for another client of the provider", async () => {
    const subject = newAccount();
    const browser = newBrowser();
    const url = await begin(browser);
    const nonce = new URL(url).searchParams.get("nonce") ?? "";
    const tokens = await provider.tokensOfOtherClient(nonce, subject);
    expect(tokens["id_token"]).toEqual(expect.any(String));
    const back = await provider.signIn(url, subject);
    answerTokens(tokens);
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /not valid/);
  });

  test("with a token whose signature is wrong", async () => {
    const subject = newAccount();
    const browser = newBrowser();
    const url = new URL(await begin(browser));
    const [header, , signature] = String(
      (await provider.tokensOfOtherClient(url.searchParams.get("nonce") ?? "", subject))["id_token"],
    ).split(".");
    const seconds = Math.floor(Date.now() / 1_000);
    const claims = { iss: provider.issuer, aud: "posthaste", sub: subject, iat: seconds, exp: seconds + 60 };
    const forged = { ...claims, nonce: url.searchParams.get("nonce"), email, email_verified: true };
    const payload = Buffer.from(JSON.stringify(forged)).toString("base64url");
    const back = await provider.signIn(url.href, subject);
    answerTokens({ access_token: "a", token_type: "Bearer", id_token: `${header}.${payload}.${signature}` });
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 400, /not valid/);
  });

  test("when the person cancelled at the provider", async () => {
    const browser = newBrowser();
    const url = new URL(await begin(browser));
    const query = {
      error: "access_denied",
      state: url.searchParams.get("state") ?? "",
      iss: provider.issuer,
    };
    const back = new URL(`${service.url}/single-sign-on/finish?${new URLSearchParams(query).toString()}`);
    await expectRefused({ browser, back, page: await browser.open(pathOf(back)) }, 403, /cancelled/);
  });

  /** The token endpoint answers with these tokens. */
  function answerTokens(tokens: object): void {
    provider.intercept((request, response) => {
      if (request.url !== "/token") return false;
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(tokens));
      return true;
    });
  }
});

describe("a person is refused", () => {
  test("whose address the provider has not verified, or says nothing about", async () => {
    for (const claims of [{ email_verified: false }, { email_verified: undefined }, { email: undefined }]) {
      await expectRefused(await signOn(newAccount(claims)), 403, /verified/);
    }
    expect(await accountsOf()).toEqual([]);
  });

  test("who has no account here, without a trace", async () => {
    const address = `unknown${count}@example.com`;
    await expectRefused(
      await signOn(newAccount({ email: address })),
      403,
      /no account here with your address/,
    );
    expect(await database.row(sql`select from users where email = ${address}`)).toBeUndefined();
  });

  test("who is disabled, with a known account and at the first time", async () => {
    const subject = newAccount();
    await signOn(subject);
    await updateUser(database, userId, { disabled_at: clock.now() });
    await expectRefused(await signOn(subject), 403, /disabled/);
    await expectRefused(await signOn(newAccount()), 403, /disabled/);
    expect((await auditOf(userId)).map(({ result }) => result)).toEqual(["done"]);
  });

  test("and the audit log has each cause of refusal of a network once in ten minutes", async () => {
    const there = await startService({ env: provider.env });
    const { id } = await createUser(there.database, { email, name: "Ada", passwordHash: null }, clock.now());
    const refuse = async (subject: string) => {
      const refused = await signOn(subject, newBrowser(there));
      expect(refused.page.status).toBe(403);
    };
    const refusals = () =>
      there.database.rows(sql`
        select code, actor_kind, ip from audit_events where operation = 'finishSingleSignOn' and result = 'refused'`);
    const refusal = { code: "FORBIDDEN", actor_kind: "visitor", ip: "127.0.0.1" };
    for (let times = 0; times < 3; times += 1) await refuse(newAccount({ email: "no-one@example.com" }));
    expect(await refusals()).toEqual([refusal]);
    await updateUser(there.database, id, { disabled_at: clock.now() });
    for (let times = 0; times < 2; times += 1) await refuse(newAccount());
    expect(await refusals()).toEqual([refusal, refusal]);
  });

  test("who got the address of a person that is connected with another account", async () => {
    await signOn(newAccount());
    await expectRefused(await signOn(newAccount()), 403, /another account at Acme ID/);
    expect(await accountsOf()).toHaveLength(1);
  });
});

describe("the path after the sign-in", () => {
  test.each([
    "https://other.example/",
    "//other.example",
    "/\\other.example",
    "\\\\other.example",
    "/\t/other.example",
    "/.//other.example",
    "/..//other.example",
    "javascript:alert(1)",
    "console",
    "/a\r\nSet-Cookie: a=b",
    `/${"a".repeat(1_000)}`,
  ])("is refused when it is no path of this site: %j", async (return_to) => {
    const { status, body, headers } = await newBrowser().call("POST", "/sign-in/single-sign-on", {
      return_to,
    });
    expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", "return_to"]);
    expect(headers.getSetCookie()).toEqual([]);
  });
});

describe("a provider that fails", () => {
  test("while the code is exchanged gives a page with 503, and the next sign-in works", async () => {
    const subject = newAccount();
    for (const status of [500, 429, 401]) {
      provider.intercept((request, response) => {
        if (request.url !== "/token") return false;
        response.writeHead(status, { "Content-Type": "text/plain", "WWW-Authenticate": "Basic" }).end("no");
        return true;
      });
      const refused = await signOn(subject);
      await expectRefused(refused, 503, /Acme ID does not answer/);
      expect(refused.page.headers.get("retry-after")).toBe("10");
    }
    provider.intercept(null);
    expect(await isSignedIn((await signOn(subject)).browser)).toBe(true);
  });

  test("and hangs gives a page with 503", async () => {
    const subject = newAccount();
    // Without a deadline there is no answer.
    provider.intercept((request) => request.url === "/token");
    await expectRefused(await signOn(subject), 503, /does not answer/);
  });

  test("with an endless answer is cut off", async () => {
    const subject = newAccount();
    provider.intercept((request, response) => {
      if (request.url !== "/token") return false;
      response.writeHead(200, { "Content-Type": "application/json" });
      response.on("drain", () => response.write(" ".repeat(65_536)));
      response.write(" ".repeat(65_536));
      return true;
    });
    await expectRefused(await signOn(subject), 503, /does not answer/);
  });

  test("has its metadata read once an hour; the known ones are used when it does not answer", async () => {
    const reads = () => provider.asked.filter((path) => path.endsWith("openid-configuration")).length;
    await begin(newBrowser());
    const before = reads();
    await begin(newBrowser());
    expect(reads()).toBe(before);
    clock.advance(DAY_MS);
    await Promise.all([begin(newBrowser()), begin(newBrowser())]);
    expect(reads()).toBe(before + 1);
    clock.advance(DAY_MS);
    provider.intercept((_request, response) => {
      response.writeHead(500).end();
      return true;
    });
    await begin(newBrowser());
    await begin(newBrowser());
    expect(reads()).toBe(before + 2);
  });

  test("from the start gives 503 and no cookie, and works when the provider does", async () => {
    const late = await startOpenIdProvider();
    const other = await startService({ env: late.env });
    late.intercept(() => true);
    const browser = newBrowser(other);
    const { status, body, headers } = await browser.call("POST", "/sign-in/single-sign-on");
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "INTERNAL_ERROR", "10"]);
    expect(body.error).toMatch(/Acme ID does not answer/);
    expect(browser.cookies.size).toBe(0);
    late.intercept(null);
    await begin(browser);
  });
});

describe("limits and origins", () => {
  test("a page of another site cannot begin a sign-in", async () => {
    const { status } = await newBrowser().call(
      "POST",
      "/sign-in/single-sign-on",
      {},
      { "Sec-Fetch-Site": "cross-site" },
    );
    expect(status).toBe(403);
  });

  test("a HEAD request uses up nothing", async () => {
    const browser = newBrowser();
    const back = await provider.signIn(await begin(browser), newAccount());
    const Cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const head = await fetch(new URL(pathOf(back), service.url), { method: "HEAD", headers: { Cookie } });
    expect(head.status).toBe(405);
    expect((await browser.open(pathOf(back))).status).toBe(303);
  });

  test("a network can begin and finish so many sign-ins", async () => {
    const other = await startService({ env: provider.env });
    const browser = newBrowser(other);
    const statuses = new Set<number>();
    for (let calls = 0; calls < 121; calls += 1) {
      statuses.add((await browser.call("POST", "/sign-in/single-sign-on")).status);
    }
    expect([...statuses]).toEqual([201, 429]);
    const page = await browser.open("/single-sign-on/finish?code=a&state=b");
    expect([page.status, page.headers.get("content-type")]).toEqual([429, "text/html; charset=utf-8"]);
  });

  test("without a provider, the start and the page do not exist", async () => {
    const plain = await startService();
    const { status, body } = await newBrowser(plain).call("POST", "/sign-in/single-sign-on");
    expect([status, body.error]).toEqual([404, "Single sign-on is not configured here"]);
    expect((await newBrowser(plain).open("/single-sign-on/finish?code=a&state=b")).status).toBe(404);
  });
});

describe("with PASSWORD_LOGIN=off", () => {
  test("passwords are refused, and single sign-on works", async () => {
    const { test: off } = { test: await startService({ env: { ...provider.env, PASSWORD_LOGIN: "off" } }) };
    const password = "a long password of a test";
    const passwordHash = await new PasswordHasher().hash(password);
    await createUser(off.database, { email, name: "Ada", passwordHash }, off.clock.now());
    const browser = newBrowser(off);
    expect((await browser.call("GET", "/sign-in/options")).body.data).toEqual({
      passwords: false,
      passkeys: true,
      single_sign_on: { name: "Acme ID" },
      captures_mail: true,
    });
    expect((await browser.call("POST", "/sign-in", { email, password })).status).toBe(403);
    expect(await isSignedIn((await signOn(newAccount(), browser)).browser)).toBe(true);
  });
});

describe("people who are new", () => {
  const joins = {
    OIDC_CREATE_USERS: "true",
    OIDC_ROLE_CLAIM: "groups",
    OIDC_ROLES: "mail-admins=admin,marketing=marketer",
    OIDC_ALLOWED_DOMAINS: "example.com, acme.example",
  };

  async function open(env: Readonly<Record<string, string>>): Promise<TestService> {
    const opened = await startService({ env: { ...provider.env, ...env } });
    await createUser(
      opened.database,
      { email: "owner@example.com", name: "Owner", passwordHash: null },
      opened.clock.now(),
    );
    return opened;
  }

  test("get an account and the role of their group in the first workspace, once", async () => {
    const opened = await open(joins);
    const subject = provider.account({
      email: "New@Acme.Example",
      email_verified: true,
      name: " New\u0007 Person ",
      groups: ["staff", "marketing"],
    });
    const { browser } = await signOn(subject, newBrowser(opened));
    const { person, workspaces } = (await browser.call("GET", "/session")).body.data;
    expect(person).toMatchObject({
      email: "new@acme.example",
      name: "New  Person",
      is_operator: false,
      has_password: false,
    });
    expect(workspaces).toMatchObject([{ id: opened.workspaceId, role: { key: "marketer" } }]);
    const again = await signOn(subject, newBrowser(opened));
    expect((await again.browser.call("GET", "/session")).body.data.person.id).toBe(person.id);
  });

  test("get no account without a role, with another domain, or with an address that is not verified", async () => {
    const opened = await open(joins);
    const given = { email: "b@acme.example", email_verified: true, groups: ["marketing"] };
    const cases: [object, RegExp][] = [
      [{ groups: ["staff"] }, /no account here with your address/],
      [{ email: "b@other.example" }, /domain/],
      [{ email: "b@sub.acme.example" }, /domain/],
      [{ email_verified: false }, /verified/],
    ];
    for (const [change, words] of cases) {
      const subject = provider.account({ ...given, ...change });
      await expectRefused(await signOn(subject, newBrowser(opened)), 403, words);
    }
    expect(await opened.database.rows(sql`select email from users`)).toEqual([
      { email: "owner@example.com" },
    ]);
  });

  test("get no account before the first owner has one", async () => {
    const opened = await startService({ env: { ...provider.env, ...joins } });
    const subject = provider.account({
      email: "c@acme.example",
      email_verified: true,
      groups: ["marketing"],
    });
    await expectRefused(await signOn(subject, newBrowser(opened)), 403, /no account here with your address/);
  });

  test("get an account without a workspace when they are invited", async () => {
    const invited = `invited${count}@example.com`;
    const { call } = await service.newPerson(["*:*"]);
    const role = "analyst";
    const invitation = await call("POST", "/team/invitations", { email: invited, role });
    expect([invitation.status, invitation.body.error]).toEqual([201, undefined]);
    const { browser } = await signOn(newAccount({ email: invited }));
    const { person, workspaces } = (await browser.call("GET", "/session")).body.data;
    expect([person.email, workspaces]).toEqual([invited, []]);
  });

  test("whose provider says nothing about addresses are trusted only with OIDC_TRUST_EMAILS", async () => {
    const inToken = await startOpenIdProvider({ hasClaimsInToken: true });
    const opened = await startService({ env: { ...inToken.env, OIDC_TRUST_EMAILS: "true" } });
    await createUser(opened.database, { email, name: "Ada", passwordHash: null }, opened.clock.now());
    for (const [claims, signedIn] of [
      [{ email, email_verified: false }, false],
      [{ email }, true],
    ] as const) {
      const browser = newBrowser(opened);
      const back = await inToken.signIn(await begin(browser), inToken.account(claims));
      await browser.open(pathOf(back));
      expect(await isSignedIn(browser)).toBe(signedIn);
    }
    // The ID token has the address, so the UserInfo endpoint is not asked.
    expect(inToken.asked).not.toContain("/me");
  });
});
