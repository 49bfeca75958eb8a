/**
 * A page of the console with what may go wrong in any page: errors, requests to other hosts, violations of its policy, content that
 * moves, sideways scrolling, and what axe finds. Files that it loads are counted with the bytes that came over the network.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { axeFindings } from "#test/support/axe.ts";

/** No request for this long: the page shows what it has. */
const QUIET_MS = 120;
const MOST_WAIT_MS = 15_000;
const EVENTS = "/api/v1/events";

/** Runs in the page before its own scripts. */
const observe = `
  globalThis.__seen = { shift: 0, moved: [], violations: [], ran: [] };
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      __seen.shift += value;
      __seen.moved.push(...sources.map(({ node }) => node?.outerHTML?.slice(0, 100) ?? String(node?.nodeName)));
    }
  }).observe({ type: "layout-shift", buffered: true });
  document.addEventListener("securitypolicyviolation", (event) =>
    __seen.violations.push(event.effectiveDirective + " " + event.blockedURI + " " + event.sample));
`;

interface Seen {
  readonly shift: number;
  readonly moved: readonly string[];
  readonly violations: readonly string[];
  /** What the attack corpus ran. */
  readonly ran: readonly string[];
}

export interface LoadedFile {
  readonly path: string;
  /** "Script", "Stylesheet", "Font" and others, as the browser names them. */
  readonly type: string;
  readonly bytes: number;
}

export class WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the page's scripts. */
  readonly errors: string[] = [];
  readonly foreign: string[] = [];
  readonly files: LoadedFile[] = [];
  readonly #pending = new Set<unknown>();
  #quietSince = Date.now();

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(context: BrowserContext): Promise<WatchedPage> {
    const page = await context.newPage();
    const watched = new WatchedPage(page);
    await page.addInitScript(observe);
    await watched.#countFiles();
    page.on("pageerror", (error) => watched.errors.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type()))
        watched.errors.push(`${message.text()} ${message.location().url}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      const isOwn = url.hostname === "localhost" || !/^(?:http|ws)/.test(url.protocol);
      if (!isOwn) watched.foreign.push(url.href);
      if (isOwn && url.pathname !== EVENTS) watched.#pending.add(request);
    });
    const settle = (request: unknown) => {
      watched.#pending.delete(request);
      watched.#quietSince = Date.now();
    };
    page.on("requestfinished", settle).on("requestfailed", settle);
    return watched;
  }

  /** Opens an address and waits until what it asks for is there. */
  async visit(path: string): Promise<void> {
    await this.page.goto(path, { waitUntil: "load" });
    await this.page.locator("#root > *").first().waitFor({ state: "attached" });
    await this.settled();
  }

  /** Waits until no request is under way, except the stream of events, and the page has been painted. */
  async settled(): Promise<void> {
    const deadline = Date.now() + MOST_WAIT_MS;
    const isBusy = () => this.#pending.size > 0 || Date.now() - this.#quietSince < QUIET_MS;
    while (isBusy() && Date.now() < deadline) await delay(20);
    await this.page.evaluate(
      "document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))",
    );
  }

  seen(): Promise<Seen> {
    return this.page.evaluate<Seen>("__seen");
  }

  /** What axe finds, a line for each element. */
  axe(): Promise<string[]> {
    return axeFindings(this.page);
  }

  /** The boxes around the heading that can be scrolled sideways: the page itself must not. */
  overflow(): Promise<string[]> {
    return this.page.evaluate<string[]>(`(() => {
      const wide = [];
      for (let box = document.querySelector("h1") ?? document.body; box; box = box.parentElement) {
        const scrolls = box === document.documentElement || /auto|scroll/.test(getComputedStyle(box).overflowX);
        if (scrolls && box.scrollWidth > box.clientWidth + 1)
          wide.push(box.nodeName + " " + box.className + " " + box.scrollWidth + " > " + box.clientWidth);
      }
      return wide;
    })()`);
  }

  headings(): Promise<string[]> {
    return this.page.locator("h1").allInnerTexts();
  }

  async #countFiles(): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page);
    await session.send("Network.enable");
    const begun = new Map<string, LoadedFile>();
    session.on("Network.responseReceived", ({ requestId, type, response }) =>
      begun.set(requestId, {
        type,
        path: new URL(response.url).pathname,
        bytes: -response.encodedDataLength,
      }),
    );
    // The head of the answer is about half a kilobyte, and is not part of the file.
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      const file = begun.get(requestId);
      if (file !== undefined) this.files.push({ ...file, bytes: file.bytes + encodedDataLength });
    });
  }
}

/** Kilobytes of the files of a type. */
export function kilobytes(files: readonly LoadedFile[], type: string): number {
  const bytes = files.filter((file) => file.type === type).reduce((sum, file) => sum + file.bytes, 0);
  return bytes / 1024;
}
