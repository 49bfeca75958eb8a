/** A browser in which a person of the benchmark's workspace is signed in. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Program } from "#test/support/program.ts";
import type { BenchSetup } from "./setup.ts";

/** A person's visits to the console. */
export class Visit {
  readonly service: Program;
  readonly setup: BenchSetup;
  /** Address of the workspace. */
  readonly home: string;
  readonly #browser: Browser;
  readonly #url: string;
  readonly #token: string;

  constructor(browser: Browser, service: Program, setup: BenchSetup, token: string) {
    this.service = service;
    this.setup = setup;
    this.home = `/console/${setup.workspaceId}`;
    this.#browser = browser;
    this.#url = service.url.replace("127.0.0.1", "localhost");
    this.#token = token;
  }

  /** A browser that has never been here. */
  async arrive(): Promise<BrowserContext> {
    const context = await this.#browser.newContext({
      baseURL: this.#url,
      viewport: { width: 1280, height: 800 },
    });
    await context.addCookies([
      { name: "posthaste", value: this.#token, url: this.#url, httpOnly: true, sameSite: "Lax" },
    ]);
    return context;
  }

  async open(path: string): Promise<Page> {
    const page = await (await this.arrive()).newPage();
    await page.goto(`${this.home}${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    return page;
  }
}

export async function timed(act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}
