/** Single sign-on in the console, at a real OpenID provider: in, in for the first time, refused, and back where one was. */
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { freePort } from "#test/support/free-port.ts";
import { startOpenIdProvider, type TestOpenIdProvider } from "#test/support/openid-provider.ts";
import { type ConsoleScene, openConsole, owner } from "./open-console.ts";
import { WatchedPage } from "./watched-page.ts";

const PATIENCE_MS = 180_000;
const JOURNEY_MS = 60_000;

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let provider: TestOpenIdProvider;
  let context: BrowserContext;
  let watched: WatchedPage;
  let page: Page;
  /** A page of the workspace with a filter, as a person has it in a bookmark. */
  let wanted: string;

  beforeAll(async () => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    provider = await startOpenIdProvider({ redirectUri: `${url}/single-sign-on/finish` });
    scene = await openConsole({
      ...provider.env,
      PORT: String(port),
      PUBLIC_URL: url,
      OIDC_CREATE_USERS: "true",
      OIDC_ROLE_CLAIM: "groups",
      OIDC_ROLES: "readers=analyst",
    });
    wanted = `/console/${scene.workspace}/messages?status=bounced`;
  }, PATIENCE_MS);

  beforeEach(async () => {
    context = await scene.newContext({ isSignedIn: false });
    watched = await WatchedPage.open(context);
    page = watched.page;
  });
  afterEach(async () => {
    provider.intercept(null);
    await context.close();
  });

  const button = () => page.getByRole("button", { name: "Continue with Acme ID" });
  const filter = () => page.getByLabel("Filter messages");
  const path = () => new URL(page.url()).pathname + new URL(page.url()).search;
  async function begin(address = wanted): Promise<void> {
    await page.goto(address);
    await button().click();
  }
  /** What the page says in place of a session, with what a machine finds in it. */
  async function refusal(): Promise<string> {
    await page.getByRole("heading", { name: "You are not signed in", level: 1 }).waitFor();
    expect(await watched.axe()).toEqual([]);
    return page.getByRole("main").innerText();
  }
  async function signInByPassword(): Promise<void> {
    await page.getByLabel("Email").fill(owner.email);
    await page.getByLabel("Password").fill(owner.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  }
  /** As when a person presses "Cancel" at the provider (OpenID Connect Core, section 3.1.2.6). */
  function cancelThere(): void {
    provider.intercept(({ url = "" }, response) => {
      const { pathname, searchParams } = new URL(url, provider.issuer);
      if (pathname !== "/auth") return false;
      const answer = new URLSearchParams({
        error: "access_denied",
        state: searchParams.get("state") ?? "",
        iss: provider.issuer,
      });
      const Location = `${searchParams.get("redirect_uri")}?${answer.toString()}`;
      response.writeHead(303, { Location }).end();
      return true;
    });
  }

  test(
    "a person signs in by the button and comes to the page that was asked for",
    async () => {
      provider.account({ email: owner.email, email_verified: true }, "ada");
      await begin();
      await filter().waitFor();
      expect(path()).toBe(wanted);
      expect(await page.getByRole("button", { name: `Account of ${owner.name}` }).count()).toBe(1);
    },
    JOURNEY_MS,
  );

  test(
    "a first sign-in creates the person with the role of their group",
    async () => {
      provider.account({
        email: "grace@example.com",
        email_verified: true,
        name: "Grace Hopper",
        groups: ["readers"],
      });
      await begin("/console/");
      await page.getByRole("heading", { name: "Hello, Grace" }).waitFor();
      const { body } = await scene.callAsOwner()("GET", "/team");
      const grace = body.data.find(({ email }: { email: string }) => email === "grace@example.com");
      expect(grace).toMatchObject({ name: "Grace Hopper", role: "analyst" });
    },
    JOURNEY_MS,
  );

  test(
    "a refusal says why, and another way to sign in leads to the page that was asked for",
    async () => {
      provider.account({ email: owner.email, email_verified: false });
      await begin();
      expect(await refusal()).toContain("Acme ID does not say that your address is verified.");
      await page.getByRole("link", { name: "Go to the sign-in page" }).click();
      await signInByPassword();
      await filter().waitFor();
      expect(path()).toBe(wanted);
    },
    JOURNEY_MS,
  );

  test(
    "a person without a group that may sign in gets no account, and reads whom to ask",
    async () => {
      provider.account({ email: "eve@example.com", email_verified: true, groups: ["others"] });
      await begin();
      expect(await refusal()).toContain(
        "There is no account here with your address. Please ask an owner of your workspace for an invitation",
      );
    },
    JOURNEY_MS,
  );

  test(
    "a sign-in that was cancelled at the provider can begin again",
    async () => {
      cancelThere();
      await begin();
      expect(await refusal()).toContain("The sign-in at Acme ID was cancelled or refused there.");
      provider.intercept(null);
      provider.account({ email: owner.email, email_verified: true }, "ada");
      await page.getByRole("link", { name: "Go to the sign-in page" }).click();
      await button().click();
      await filter().waitFor();
      expect(path()).toBe(wanted);
    },
    JOURNEY_MS,
  );

  test(
    "an address that is too long to be named opens without its filter",
    async () => {
      provider.account({ email: owner.email, email_verified: true }, "ada");
      await begin(`${wanted}&subject=${"long".repeat(300)}`);
      await filter().waitFor();
      expect(new URL(page.url()).pathname).toBe(new URL(wanted, scene.url).pathname);
    },
    JOURNEY_MS,
  );
});
