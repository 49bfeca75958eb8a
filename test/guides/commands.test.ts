/** The commands of docs/production.md, docs/troubleshooting.md and docs/privacy.md, run in bash in their order. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { guideBlocks } from "#test/support/guide-blocks.ts";
import { addVerifiedDomain, publish } from "#test/support/publish.ts";
import { hasReaderTools, ReaderShell } from "#test/support/reader-shell.ts";
import { openScene, type Scene } from "#test/support/scene.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** These ask other hosts. */
const elsewhere = /^(?:dig|nc|git) .*\n/gm;
const ran = new Set<string>();

/** The blocks of a page, without commands of the command line that another block had, because each takes a second. */
function blocksOf(page: string): string[] {
  return guideBlocks(page, "sh").map((block) =>
    block.replaceAll(elsewhere, "").replaceAll(/^npm run .*\n/gm, (line) => {
      if (ran.has(line)) return "";
      ran.add(line);
      return line;
    }),
  );
}

describe.skipIf(!hasReaderTools("jq", "npm"))("with bash, curl, jq and npm", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ env: { MAIL_MODE: "capture" } });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const openShell = () =>
    new ReaderShell({
      folder: root,
      url: scene.program.url,
      given: { KEY: `efk_${"e2e0".repeat(10)}`, ADDRESS: "8.4.2.1" },
      env: { DATABASE_URL: scene.database.url, DATA_DIR: scene.dataDir, HOME: scene.dataDir },
    });

  test("those of production.md bring a domain, its first mail, and a workspace with a cap", async () => {
    await using shell = openShell();
    for (const block of blocksOf("production.md")) {
      // The reader publishes the records before that.
      if (/\/verify /.test(block)) await publishRecords();
      const printed = await shell.run(block);
      if (/\/verify /.test(block)) {
        expect(printed).toContain('"dkim_verified":true');
        expect(printed).toContain('"return_path_verified":true');
      }
    }
    const { body } = await scene.program.call("GET", "/messages?email=you@gmail.com");
    expect(body.data.messages).toHaveLength(1);
    expect(await scene.program.command("workspace", "list")).toMatch(/Acme.*500/);
  });

  test("those of troubleshooting.md", async () => {
    const { call } = scene.program;
    await addVerifiedDomain(call, scene.dns, "shop.test");
    const { body: domains } = await call("GET", "/sending-domains");
    const { body: list } = await call("POST", "/mailing-lists", { name: "People" });
    const draft = {
      name: "June",
      subject: "Hello",
      from_email: "june@shop.test",
      mailing_list_id: list.data.id,
      text_content: "Hello",
    };
    const { body: campaign } = await call("POST", "/campaigns", draft);
    const receiver = { url: "https://8.8.8.8/events", events: ["message.bounced"] };
    const { body: webhook } = await call("POST", "/webhooks", receiver);
    await using shell = openShell();
    await shell.run(`CAMPAIGN=${campaign.data.id} DOMAIN=${domains.data[0].id} WEBHOOK=${webhook.data.id}`);
    for (const block of blocksOf("troubleshooting.md")) await shell.run(block);
  });

  test("those of privacy.md show and erase a person", async () => {
    const printed: string[] = [];
    await using shell = openShell();
    for (const block of blocksOf("privacy.md"))
      printed.push(await shell.run(block.replace("-o ada.json", "")));
    expect(printed.at(-2)).toContain('"is_complete":true');
    expect(printed.at(-1)).toContain("job_id");
  });

  async function publishRecords(): Promise<void> {
    const { call } = scene.program;
    const { body: domains } = await call("GET", "/sending-domains");
    const { body } = await call("GET", `/sending-domains/${domains.data[0].id}/dns-status`);
    publish(scene.dns, body.data.dns.records);
  }
});
