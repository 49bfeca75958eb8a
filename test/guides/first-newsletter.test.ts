/** docs/first-newsletter.md, as a reader follows it: its own commands in bash, and in a browser what it says between them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { guideBlocks } from "#test/support/guide-blocks.ts";
import { openInbox } from "#test/support/inbox.ts";
import { hasReaderTools, ReaderShell } from "#test/support/reader-shell.ts";
import { openScene } from "#test/support/scene.ts";

const MOST_CALLS = 8;
const key = `efk_${"e2e0".repeat(10)}`;
const [start, ...blocks] = guideBlocks("first-newsletter.md", "sh");

test(`the guide needs at most ${MOST_CALLS} calls`, () => {
  expect(start).toBe("npm ci && npm start\n");
  const calls = blocks.join("\n").match(/\bcurl /g) ?? [];
  expect(calls.length).toBeLessThanOrEqual(MOST_CALLS);
});

describe.skipIf(!hasReaderTools("jq"))("with bash, curl and jq", () => {
  test("the commands of the guide, in their order, bring the newsletter to everyone on the list", async () => {
    await using scene = await openScene({ env: { MAIL_MODE: "capture" } });
    const { program } = scene;
    const folder = await mkdtemp(join(tmpdir(), "posthaste-reader-"));
    afterAll(() => rm(folder, { recursive: true }));
    await using shell = new ReaderShell({ url: program.url, folder, given: { KEY: key } });

    const inbox = async () => (await (await openInbox(program.url, "/inbox/messages")).json()) as Mail[];
    const mailTo = (address: string, subject: RegExp) =>
      eventually(`a mail to ${address}`, async () => {
        const found = (await inbox()).find((mail) => mail.to === address && subject.test(mail.subject));
        if (found === undefined) return undefined;
        return (await (await openInbox(program.url, `/inbox/messages/${found.id}`)).json()) as OpenedMail;
      });
    /** Follows the link in a mail and presses the button of its page. */
    const confirm = async ({ text }: OpenedMail) => {
      const link = /http\S+/.exec(text)?.[0] ?? "";
      const page = await (await fetch(link)).text();
      expect((await fetch(link, { method: "POST", body: fieldsOf(page) })).status).toBe(200);
    };

    const [setKey = "", sender = "", list = "", people = "", form = "", draft = "", ...others] = blocks;
    const [testMail = "", send = "", report = "", ...more] = others;
    expect(more).toEqual([]);
    await shell.run(setKey);

    expect(await shell.run(sender)).toContain('"success":true');
    await confirm(await mailTo("letters@example.org", /Confirm your sender address/));
    await shell.run(list);
    expect(await shell.run(people)).toContain('"field":"first_name"');

    const { url } = JSON.parse(await shell.run(form)).data;
    const page = await (await fetch(url)).text();
    // The page takes a form that was filled in for two seconds or longer.
    await eventually("the form to be accepted", async () => {
      const body = fieldsOf(page);
      body.set("email", "you@example.com");
      body.set("first_name", "You");
      const answer = await fetch(url, { method: "POST", body });
      return answer.ok && !(await answer.text()).includes("<form");
    });
    await confirm(await mailTo("you@example.com", /./));
    await eventually("four people on the list", async () => {
      const { body } = await program.call("GET", "/subscribers");
      return body.data.pagination.total === 4;
    });

    await shell.run(draft);
    await shell.run(testMail);
    expect((await mailTo("me@example.org", /^\[Test\]/)).html).toContain("We are open");
    await shell.run(send);
    for (const [address, name] of Object.entries(readers)) {
      const mail = await mailTo(address, new RegExp(`^${name}, the workshop is open$`));
      expect(mail.html).toContain(`Hello ${name}`);
      expect(mail.html).toContain("/u/");
    }
    await eventually("the campaign to be sent", async () => {
      const { status, delivered_count } = JSON.parse(await shell.run(report));
      return status === "sent" && delivered_count === 4;
    });
  });
});

const readers = {
  "ada@example.com": "Ada",
  "grace@example.com": "Grace",
  "edith@example.com": "Edith",
  "you@example.com": "You",
};

interface Mail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
}

interface OpenedMail extends Mail {
  readonly html: string;
  readonly text: string;
}

/** What the form of a page is filled with. */
function fieldsOf(page: string): URLSearchParams {
  const fields = page.matchAll(/<input[^>]* name="([\w.]+)"[^>]* value="([^"]*)"/g);
  return new URLSearchParams(
    Array.from(fields, ([, name = "", value = ""]): [string, string] => [name, value]),
  );
}
