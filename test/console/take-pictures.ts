/**
 * `npm run -s screenshots` writes the pictures of the docs, docs/images/console-*.png: the real service in capture mode with the
 * people, the campaign, the opens and the clicks of the demo.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { demoApi } from "#cli/demo/api-client.ts";
import { readMails } from "#cli/demo/readers.ts";
import { buildAudience, confirmSender, sendNewsletter } from "#cli/demo/send-newsletter.ts";
import { TestBrowser } from "#test/support/browser-of.ts";
import { freePort } from "#test/support/free-port.ts";
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

/** A page below the workspace, and what a person does there before the picture. */
interface Picture {
  readonly path: (ids: Ids) => string;
  readonly act?: (page: Page) => Promise<void>;
  /** Of the window, where a page with much text would make a large file. */
  readonly height?: number;
}

interface Ids {
  readonly list: string;
  readonly segment: string;
  readonly sent: string;
  readonly draft: string;
}

const pictures: Readonly<Record<string, Picture>> = {
  home: { path: () => "" },
  messages: { path: () => "messages", height: 600 },
  report: { path: ({ sent }) => `campaigns/${sent}` },
  editor: { path: ({ draft }) => `campaigns/${draft}` },
  import: {
    path: ({ list }) => `lists/${list}/import`,
    act: async (page) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: "Choose a file" }).click();
      await (await chooser).setFiles({
        name: "customers.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(file),
      });
      await page.getByText("What each column is for").waitFor();
    },
  },
  segment: {
    path: ({ list, segment }) => `lists/${list}/segments/${segment}`,
    act: (page) => page.getByText(/^The newest \d+ of them$/).waitFor(),
  },
};
const themes = ["light", "dark"] as const;

const file = [
  "Email;First name;Town;Customer since;Newsletter",
  "ada@example.com;Ada;London;12/03/2024;yes",
  "grace@example.com;Grace;Arlington;25/11/2023;yes",
  "hedy@example.com;Hedy;Vienna;02/06/2025;no",
].join("\n");

const html = `<h1>Spring is here</h1>
<p>Hello {{ first_name | default: "there" }},</p>
<p>the new boots are in: waterproof, light, and made to be mended.</p>
<p><a href="https://shop.example/boots">See the boots</a></p>
`;

const dataDir = await mkdtemp(join(tmpdir(), "posthaste-pictures-"));
try {
  await using service = await startProgram({
    BOOTSTRAP_API_KEY: key,
    DATA_DIR: dataDir,
    INBOX_TOKEN,
    // Links in mails have it.
    PORT: String(await freePort()),
    PLATFORM_FROM: "posthaste@demo.example",
  });
  const ids = await fill(service);
  const browser = await launchChromium();
  try {
    await takeAll(service, browser, ids);
  } finally {
    await browser.close();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
}

async function fill(service: Program): Promise<Ids> {
  const api = demoApi(service.url, key, INBOX_TOKEN);
  const sender = await confirmSender(api);
  const audience = await buildAudience(api);
  const sent = await sendNewsletter(api, audience, sender);
  await readMails(api, sent);
  await api.ask("POST", "/sending-domains", { domain: "shop.example" });
  for (const [name, tag] of [
    ["ada", ""],
    ["grace", "+later"],
    ["hedy", "+bounce"],
  ])
    await api.ask("POST", "/emails/send", {
      to: `${name}${tag}@example.com`,
      subject: `Your order, ${name}`,
      body: "<p>Thank you.</p>",
    });
  const { id: draft } = await api.ask("POST", "/campaigns", {
    name: "Spring",
    subject: "Spring is here, {{ first_name }}",
    from_email: sender,
    mailing_list_id: audience.list,
    html_content: html,
  });
  return { list: audience.list, segment: audience.segment, sent, draft };
}

async function takeAll(service: Program, browser: Browser, ids: Ids): Promise<void> {
  const [, token] = /\/console\/welcome#([\w-]+)/.exec(service.recentOutput) ?? [];
  const session = new TestBrowser(service.url);
  await session.call("POST", "/first-owner", { ...owner, token });
  const { body } = await session.call("GET", "/session");
  const url = service.url.replace("127.0.0.1", "localhost");
  for (const colorScheme of themes) {
    const context = await browser.newContext({
      baseURL: url,
      viewport: size,
      reducedMotion: "reduce",
      colorScheme,
      timezoneId: owner.timezone,
    });
    const value = session.cookies.get("posthaste") ?? "";
    await context.addCookies([{ name: "posthaste", value, url, httpOnly: true, sameSite: "Lax" }]);
    for (const [name, { path, act, height = size.height }] of Object.entries(pictures)) {
      const page = await context.newPage();
      await page.setViewportSize({ ...size, height });
      await page.goto(`/console/${body.data.workspaces[0].id}/${path(ids)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await act?.(page);
      // The stream of events never ends, so the network is never idle on some pages.
      await page.waitForLoadState("networkidle", { timeout: 4_000 }).catch(() => {});
      await page.screenshot({ path: join(folder, `console-${name}-${colorScheme}.png`) });
      process.stdout.write(`docs/images/console-${name}-${colorScheme}.png\n`);
      await page.close();
    }
    await context.close();
  }
}
