/** The real program in capture mode with its console, its first owner, and browsers in which the owner is signed in. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { afterAll } from "vitest";
import type { CallApi } from "#test/support/api-caller.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { startChromium } from "#test/support/chromium.ts";
import { launcherOf } from "#test/support/release.ts";
import { openScene, type Scene } from "#test/support/scene.ts";

export const owner = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  password: "four random words here",
  workspace_name: "Acme",
  timezone: "Europe/Paris",
};

const builder = fileURLToPath(new URL("../../src/build-console.ts", import.meta.url));

export interface ConsoleScene {
  readonly scene: Scene;
  /** The service as people open it: passkeys belong to localhost. */
  readonly url: string;
  readonly browser: Browser;
  /** The id of the first workspace. */
  readonly workspace: string;
  /** Calls the API as the owner, in the first workspace or in another one. */
  readonly callAsOwner: (workspace?: string) => CallApi;
  /** A browser of the owner, or of another session, or with `isSignedIn: false` of a visitor. It closes with the file unless it is closed before. */
  newContext(options?: BrowserContextOptions & BrowserPerson): Promise<BrowserContext>;
}

interface BrowserPerson {
  readonly isSignedIn?: boolean;
  /** The token of the session. */
  readonly session?: string;
}

type Settings = Readonly<Record<string, string>>;

/** The program as its first start leaves it: without a person. */
export async function openFirstStart(env: Settings = {}): Promise<Scene> {
  await buildConsole();
  const scene = await openScene({ env: { MAIL_MODE: "capture", ...env } });
  afterAll(() => scene[Symbol.asyncDispose]());
  return scene;
}

/** Call in beforeAll. Everything ends after the test file. */
export async function openConsole(env: Settings = {}): Promise<ConsoleScene> {
  const scene = await openFirstStart(env);
  const browser = await startChromium();
  const url = localUrl(scene);
  const session = new TestBrowser(scene.program.url);
  const workspace = await createOwner(session, welcomeToken(scene));
  const cookie = session.cookies.get("posthaste") ?? "";
  return {
    scene,
    url,
    browser,
    workspace,
    callAsOwner:
      (where = workspace) =>
      (method, path, body, { headers = {} } = {}) =>
        session.call(method, path, body, { "X-Workspace": where, ...headers }),
    async newContext({ isSignedIn = true, session: token = cookie, ...options } = {}) {
      const context = await browser.newContext({ reducedMotion: "reduce", baseURL: url, ...options });
      if (isSignedIn) {
        const flags = { httpOnly: true, sameSite: "Lax" } as const;
        await context.addCookies([{ name: "posthaste", value: token, url, ...flags }]);
      }
      return context;
    },
  };
}

/** The service as people of this machine open it. */
export function localUrl({ program }: Scene): string {
  return program.url.replace("127.0.0.1", "localhost");
}

/** Builds the console if its build is not that of the sources; test files that start together build once. */
async function buildConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, [launcherOf(), "--script", builder]);
}

/** The token of the link that a start prints while there is no person. */
export function welcomeToken({ program }: Scene): string {
  const [, token] = /\/console\/welcome#([\w-]+)/.exec(program.recentOutput) ?? [];
  if (token === undefined) throw new Error(`the start printed no link:\n${program.recentOutput}`);
  return token;
}

async function createOwner(session: TestBrowser, token: string): Promise<string> {
  const { status, body } = await session.call("POST", "/first-owner", { ...owner, token });
  if (status !== 201) throw new Error(`POST /first-owner answered ${status} ${JSON.stringify(body)}`);
  const { body: opened } = await session.call("GET", "/session");
  return opened.data.workspaces[0].id;
}
