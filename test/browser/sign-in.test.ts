/** Sign-in in a real browser: passkeys, cookies, and what pages of other sites cannot do. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import sql from "sql-template-tag";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  addAuthenticator,
  createPasskey,
  fetchIn,
  isChromiumInstalled,
  openPage,
  startChromium,
  usePasskey,
} from "#test/support/chromium.ts";
import { startOpenIdProvider } from "#test/support/openid-provider.ts";
import { startService, type TestService } from "#test/support/service.ts";
import { startTlsProxy } from "#test/support/tls-proxy.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { createUser } from "#workspace/people/create-user.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";

const password = "a long password of a test";
const email = "ada@example.com";

// Skipped where neither Chromium nor Chrome is installed; .ci/run installs one.
describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let browser: Browser;
  let service: TestService;
  /** The service as people open it: passkeys belong to localhost. */
  let origin: string;
  let otherPort: number;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await startChromium();
    service = await startService();
    await addPerson(service);
    origin = service.url.replace("127.0.0.1", "localhost");
    const others = createServer((_request, response) =>
      response.writeHead(200, { "Content-Type": "text/html" }).end("<title>Another site</title>"),
    );
    await once(others.listen(0, "127.0.0.1"), "listening");
    afterAll(() => others.close());
    otherPort = (others.address() as AddressInfo).port;
  });

  beforeEach(async () => {
    await context?.close();
    context = await browser.newContext();
    await service.database.run(sql`delete from attempt_buckets`);
    await service.database.run(sql`delete from passkeys`);
    await service.database.run(sql`delete from recovery_codes`);
  });

  async function addPerson({ database, clock, workspaceId }: TestService): Promise<void> {
    const passwordHash = await new PasswordHasher().hash(password);
    const { id: userId } = await createUser(database, { email, name: "Ada", passwordHash }, clock.now());
    const member = { userId, builtInRole: "owner", roleId: null };
    await insertWorkspaceMember(database, workspaceId, member, clock.now());
  }
  /** A page of the service without a content security policy of its own, so that only the API is tested. */
  const openOwnPage = (url = origin, where = context) => openPage(where, `${url}/api/v1/sign-in/options`);
  async function signIn(page: Page): Promise<void> {
    const { body } = await fetchIn(page, "POST", "/sign-in", { email, password });
    expect(body.data?.status, body.error).toBe("signed_in");
  }
  const statusOf = async (page: Page) => (await fetchIn(page, "GET", "/session")).status;
  const sessionCookie = async (where = context) =>
    (await where.cookies()).find(({ name }) => name.endsWith("posthaste"));

  describe("a passkey", () => {
    test("is added with the browser's own code, and signs in alone", async () => {
      const page = await openOwnPage();
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page);
      expect((await fetchIn(page, "DELETE", "/session")).status).toBe(200);
      expect(await statusOf(page)).toBe(401);

      const signedIn = await signInWithPasskey(page);
      expect([signedIn.status, signedIn.body.data?.status]).toEqual([200, "signed_in"]);
      expect(signedIn.body.data.session).toMatchObject({ person: { email }, has_second_factor: true });
    });

    test("is the second factor of a sign-in with a password", async () => {
      const page = await openOwnPage();
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page);
      const first = (await fetchIn(page, "POST", "/sign-in", { email, password })).body.data;
      expect([first.status, first.second_factor.kinds]).toEqual([
        "second_factor_required",
        expect.arrayContaining(["passkey"]),
      ]);
      const { challenge, passkey_options } = first.second_factor;
      const passkey = await usePasskey(page, passkey_options);
      const second = await fetchIn(page, "POST", "/sign-in/second-factor", { challenge, passkey });
      expect(second.body.data.status).toBe("signed_in");
    });

    test("is refused when a page of another origin with the same host had it sign", async () => {
      const page = await openOwnPage();
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page);
      const { challenge, passkey_options } = (await fetchIn(page, "POST", "/sign-in/passkey/challenge")).body
        .data;
      // The authenticator stays with the page, as a security key stays with its owner.
      await page.goto(`http://localhost:${otherPort}/`);
      const passkey = await usePasskey(page, passkey_options);
      await page.goto(`${origin}/api/v1/sign-in/options`);
      const refused = await fetchIn(page, "POST", "/sign-in/passkey", { challenge, passkey });
      expect([refused.status, refused.body.code]).toEqual([401, "UNAUTHORIZED"]);
      expect((await signInWithPasskey(page)).status).toBe(200);
    });

    test("is not offered to a page of another host", async () => {
      const page = await openOwnPage();
      await addAuthenticator(page);
      const { passkey_options } = (await fetchIn(page, "POST", "/sign-in/passkey/challenge")).body.data;
      await page.goto(`http://127.0.0.1:${otherPort}/`);
      await expect(usePasskey(page, passkey_options)).rejects.toThrow(/SecurityError/);
    });

    async function addPasskey(page: Page): Promise<void> {
      const { challenge, passkey_options } = (await fetchIn(page, "POST", "/me/passkeys/setup")).body.data;
      const passkey = await createPasskey(page, passkey_options);
      const { status, body } = await fetchIn(page, "POST", "/me/passkeys", {
        challenge,
        passkey,
        name: "Laptop",
      });
      expect([status, body.error]).toEqual([201, undefined]);
    }
    async function signInWithPasskey(page: Page) {
      const { challenge, passkey_options } = (await fetchIn(page, "POST", "/sign-in/passkey/challenge")).body
        .data;
      const passkey = await usePasskey(page, passkey_options);
      return fetchIn(page, "POST", "/sign-in/passkey", { challenge, passkey });
    }
  });

  describe("the cookie of a session", () => {
    test("is hidden from scripts and belongs to this host alone", async () => {
      const page = await openOwnPage();
      await signIn(page);
      expect(await sessionCookie()).toMatchObject({
        name: "posthaste",
        domain: "localhost",
        path: "/",
        httpOnly: true,
        sameSite: "Lax",
        secure: false,
      });
      expect(await page.evaluate("document.cookie")).toBe("");
    });

    test("changes at the sign-in, and a token that was planted before is worth nothing (fixation)", async () => {
      const attacker = await openOwnPage(origin, await browser.newContext());
      await signIn(attacker);
      const known = await sessionCookie(attacker.context());
      expect(known).toBeDefined();
      for (const value of [known?.value ?? "", "A".repeat(43)]) {
        await context.addCookies([
          { name: "posthaste", value, url: origin, httpOnly: true, sameSite: "Lax" },
        ]);
        const page = await openOwnPage();
        await signIn(page);
        expect((await sessionCookie())?.value).toMatch(/^[\w-]{43}$/);
        expect((await sessionCookie())?.value).not.toBe(value);
        expect(await statusOf(attacker)).toBe(401);
      }
      await attacker.context().close();
    });
  });

  describe.each([
    ["of another port of the host, to which the browser sends the cookie", "localhost"],
    ["of another host", "evil.example"],
    ["of this machine by another name", "127.0.0.1"],
  ])("a page %s", (_, host) => {
    /** Sends a request as the page, and gives what the service answered: the page itself may not read it. */
    async function send(page: Page, path: string, script: string): Promise<number> {
      const answered = page.waitForEvent("requestfinished", (request) =>
        request.url().startsWith(`${origin}${path}`),
      );
      const failed = page.waitForEvent("requestfailed", (request) =>
        request.url().startsWith(`${origin}${path}`),
      );
      await page.evaluate(`{ ${script} }`);
      const request = await Promise.race([answered, failed]);
      answered.catch(() => {});
      failed.catch(() => {});
      return (await request.response())?.status() ?? 0;
    }

    test("changes nothing with a form, a text or files, and ends no session", async () => {
      const own = await openOwnPage();
      await signIn(own);
      const { database, workspaceId } = service;
      const state = () =>
        database.row(sql`
          select (select count(*) from sign_in_challenges) as challenges, (select count(*) from sessions) as sessions,
            (select count(*) from authenticator_apps) as apps, (select count(*) from mailing_lists) as lists,
            (select count(*) from jobs) as jobs, (select min(password_hash) from users) as password`);
      const before = await state();
      const page = await openPage(context, `http://${host}:${otherPort}/`);
      const form = (path: string, type: string, field: string) => `
        const form = document.createElement("form");
        Object.assign(form, { method: "post", enctype: ${JSON.stringify(type)}, action: ${JSON.stringify(`${origin}${path}`)} });
        const field = document.createElement("input");
        Object.assign(field, { name: ${JSON.stringify(field)}, value: '"}' });
        form.append(field);
        document.body.append(form);
        form.submit();`;
      const fetched = (path: string, options: string) =>
        `fetch(${JSON.stringify(`${origin}${path}`)}, { credentials: "include", ${options} }).catch(() => {});`;
      const api = "/api/v1";
      const inWorkspace = `?workspace=${workspaceId}`;
      const attempts: [string, (path: string) => string][] = [
        [
          `${api}/session/confirmation/challenge`,
          (path) => form(path, "application/x-www-form-urlencoded", "a"),
        ],
        [`${api}/me/authenticator-apps/setup`, (path) => form(path, "text/plain", '{"name":"x","a":"')],
        [
          `${api}/me/password`,
          (path) => form(path, "text/plain", '{"new_password":"chosen by the attacker","a":"'),
        ],
        [`${api}/session/confirmation/challenge`, (path) => fetched(path, `method: "POST", mode: "no-cors"`)],
        [
          `${api}/me/authenticator-apps/setup`,
          (path) => fetched(path, `method: "POST", mode: "no-cors", body: '{"name":"x"}'`),
        ],
        [
          `${api}/mailing-lists${inWorkspace}`,
          (path) => fetched(path, `method: "POST", mode: "no-cors", body: '{"name":"x"}'`),
        ],
        [
          `${api}/validations/bulk${inWorkspace}`,
          (path) =>
            `const files = new FormData(); files.append("file", new File(["email\\nx@example.com\\n"], "a.csv", { type: "text/csv" }));
            ${fetched(path, `method: "POST", mode: "no-cors", body: files`)}`,
        ],
      ];
      for (const [path, script] of attempts) {
        if (!page.url().startsWith(`http://${host}:${otherPort}`))
          await page.goto(`http://${host}:${otherPort}/`);
        const status = await send(page, path, script(path));
        // Without the cookie, which SameSite=Lax keeps back, the caller is unknown.
        expect([path, status]).toEqual([path, host === "localhost" ? 403 : 401]);
      }
      await page.goto(`http://${host}:${otherPort}/`);
      // The browser asks first (CORS), and the service does not allow it.
      for (const options of [
        `method: "DELETE"`,
        `method: "POST", headers: { "Content-Type": "application/json", "X-Workspace": "${workspaceId}" }, body: "{}"`,
      ]) {
        await expect(
          page.evaluate(
            `fetch(${JSON.stringify(`${origin}${api}/session`)}, { credentials: "include", ${options} })`,
          ),
        ).rejects.toThrow(/Failed to fetch/);
      }
      // A page can read nothing either.
      await expect(
        page.evaluate(`fetch(${JSON.stringify(`${origin}${api}/session`)}, { credentials: "include" })`),
      ).rejects.toThrow(/Failed to fetch/);
      expect(await state()).toEqual(before);
      expect(await statusOf(own)).toBe(200);
    });

    test("signs nobody in as somebody else", async () => {
      const own = await openOwnPage();
      await signIn(own);
      const cookie = await sessionCookie();
      const page = await openPage(context, `http://${host}:${otherPort}/`);
      const credentials = JSON.stringify(JSON.stringify({ email, password }));
      const status = await send(
        page,
        "/api/v1/sign-in",
        `fetch("${origin}/api/v1/sign-in", { method: "POST", mode: "no-cors", credentials: "include", body: ${credentials} });`,
      );
      expect(status).toBe(403);
      expect(await sessionCookie()).toEqual(cookie);
    });
  });

  test("single sign-on over HTTPS comes back from the provider's site and sets a cookie of this host alone", async () => {
    const proxy = await startTlsProxy();
    const provider = await startOpenIdProvider({ redirectUri: `${proxy.url}/single-sign-on/finish` });
    const behind = await startService({
      env: { ...provider.env, PUBLIC_URL: proxy.url, TRUSTED_PROXIES: "127.0.0.1" },
    });
    await addPerson(behind);
    proxy.passTo(behind.url);
    provider.account({ email, email_verified: true });
    const secure = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await openOwnPage(proxy.url, secure);
    const begun = await fetchIn(page, "POST", "/sign-in/single-sign-on", {
      return_to: "/api/v1/session#top",
    });
    expect(begun.status).toBe(201);
    await page.goto(begun.body.data.url);
    expect(page.url()).toBe(`${proxy.url}/api/v1/session#top`);
    expect((await fetchIn(page, "GET", "/session")).body.data.person.email).toBe(email);
    const cookies = (await secure.cookies(proxy.url)).map(
      ({ name, httpOnly, sameSite, secure: isSecure, path }) => ({
        name,
        httpOnly,
        sameSite,
        isSecure,
        path,
      }),
    );
    const flags = { httpOnly: true, sameSite: "Lax", isSecure: true, path: "/" };
    expect(cookies).toEqual(
      expect.arrayContaining([
        { name: "__Host-posthaste", ...flags },
        { name: "__Host-posthaste_browser", ...flags },
      ]),
    );
    expect(cookies).toHaveLength(2);
    await secure.close();
  });
});
