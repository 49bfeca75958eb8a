/** A real browser: the Chromium or Chrome that is installed. Its pages run scripts that are given as text. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll } from "vitest";
import { launchChromium } from "./launch-chromium.ts";

export { isChromiumInstalled } from "./launch-chromium.ts";

/** Starts the browser; it ends after the test file. The host evil.example is this machine. */
export async function startChromium(): Promise<Browser> {
  const browser = await launchChromium();
  afterAll(() => browser.close());
  return browser;
}

export interface PageAnswer {
  readonly status: number;
  /** Parsed JSON, untyped: each test knows which shape it asked for. */
  readonly body: ReturnType<typeof JSON.parse>;
}

/** A page whose scripts call the API, as those of the console do. */
export async function openPage(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Sends a request with `fetch` in the page. */
export function fetchIn(
  page: Page,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageAnswer> {
  const request = {
    method,
    headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  return page.evaluate<PageAnswer>(`fetch(${JSON.stringify(`/api/v1${path}`)}, ${JSON.stringify(request)})
    .then(async (response) => ({ status: response.status, body: await response.json() }))`);
}

/** Gives the page an authenticator that asks nobody and keeps its passkeys (WebAuthn, section 11: automation). */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** What `navigator.credentials.create` gives in the page for the options of the API. */
export function createPasskey(page: Page, options: unknown): Promise<object> {
  return page.evaluate<object>(`navigator.credentials.create({
    publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}),
  }).then((credential) => credential.toJSON())`);
}

/** What `navigator.credentials.get` gives in the page for the options of the API. */
export function usePasskey(page: Page, options: unknown): Promise<object> {
  return page.evaluate<object>(`navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}),
  }).then((credential) => credential.toJSON())`);
}
