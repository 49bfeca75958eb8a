/**
 * `npm run -s screenshots` writes the pictures of the docs, docs/images/console-*.png: the real service in capture mode with the
 * people, the campaign, the opens and the clicks of the demo.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { demoApi } from "#cli/demo/api-client.ts";
import { readMails } from "#cli/demo/readers.ts";
import { buildAudience, confirmSender, sendNewsletter } from "#cli/demo/send-newsletter.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { INBOX_TOKEN } from "#test/support/inbox.ts";
import { launchChromium } from "#test/support/launch-chromium.ts";
import { type Program, startProgram } from "#test/support/program.ts";

const folder = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const key = `efk_${"picture0".repeat(5)}`;
const size = { width: 1280, height: 800 };
const owner = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  password: "four random words here",
  workspace_name: "The Shop",
  timezone: "Europe/Paris",
};

/** The pictures by name: the page below the workspace, and what is shown of it. */
const pictures: Readonly<Record<string, { readonly path: string; readonly isDark?: boolean }>> = {
  home: { path: "" },
  messages: { path: "messages", isDark: true },
  domains: { path: "domains" },
};

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-pictures-"));
try {
  await using service = await startProgram({
    BOOTSTRAP_API_KEY: key,
    DATA_DIR: dataDir,
    INBOX_TOKEN,
    PLATFORM_FROM: "posthaste@demo.example",
  });
  await fill(service);
  const browser = await launchChromium();
  try {
    await takeAll(service, browser);
  } finally {
    await browser.close();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

async function fill(service: Program): Promise<void> {
  const api = demoApi(service.url, key, INBOX_TOKEN);
  const sender = await confirmSender(api);
  const audience = await buildAudience(api);
  await readMails(api, await sendNewsletter(api, audience, sender));
  await api.ask("POST", "/sending-domains", { domain: "shop.example" });
}

async function takeAll(service: Program, browser: Browser): Promise<void> {
  const [, token] = /\/console\/welcome#([\w-]+)/.exec(service.recentOutput) ?? [];
  const session = new TestBrowser(service.url);
  await session.call("POST", "/first-owner", { ...owner, token });
  const { body } = await session.call("GET", "/session");
  const url = service.url.replace("127.0.0.1", "localhost");
  for (const [name, { path, isDark = false }] of Object.entries(pictures)) {
    const context = await browser.newContext({
      baseURL: url,
      viewport: size,
      reducedMotion: "reduce",
      colorScheme: isDark ? "dark" : "light",
      timezoneId: owner.timezone,
    });
    const value = session.cookies.get("posthaste") ?? "";
    await context.addCookies([{ name: "posthaste", value, url, httpOnly: true, sameSite: "Lax" }]);
    const page = await context.newPage();
    await page.goto(`/console/${body.data.workspaces[0].id}/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    // The stream of events never ends, so the network is never idle on some pages.
    await page.waitForLoadState("networkidle", { timeout: 2_000 }).catch(() => {});
    await page.screenshot({ path: join(folder, `console-${name}.png`) });
    process.stdout.write(`docs/images/console-${name}.png\n`);
    await context.close();
  }
}
