/** A whole journey in the browser: an empty installation, a list, people from a file, a campaign, and a mail for each of them. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { eventually } from "#test/support/eventually.ts";
import { openInbox } from "#test/support/inbox.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { addSender, SENDER } from "./seed.ts";

const PATIENCE_MS = 180_000;
const JOURNEY_MS = 120_000;
const file = [
  "E-Mail;Vorname;Wohnort",
  "ada@example.com;Ada;London",
  "grace@example.com;Grace;Arlington",
  "jürgen@example;Jürgen;Köln",
  "edith@example.com;Edith;Wien",
].join("\n");

interface Captured {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly html: string;
}

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let page: Page;

  beforeAll(async () => {
    scene = await openConsole();
    await addSender(scene.scene, "The shop");
    page = await (await scene.newContext()).newPage();
  }, PATIENCE_MS);

  const button = (name: string | RegExp) => page.getByRole("button", { name });
  async function choose(control: string, option: string): Promise<void> {
    await button(control).click();
    await page.getByRole("option", { name: option }).click();
  }

  test(
    "a list is made, a file imported with a mapping, and a campaign reaches each of its people",
    async () => {
      await page.goto(`/console/${scene.workspace}/lists`);
      await button("New list").first().click();
      await page.getByLabel("Name", { exact: true }).fill("Customers");
      await button("Create").click();
      await page.getByRole("heading", { name: "Customers", level: 1 }).waitFor();

      await button("Import a file").click();
      const chooser = page.waitForEvent("filechooser");
      await button("Choose a file").click();
      await (await chooser).setFiles({
        name: "people.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(file),
      });
      await page.getByText("What each column is for").waitFor();
      // The service knows the words for address and name in this language; the town becomes a new field.
      await choose("Wohnort is for", "A new field …");
      await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
      await button("Go on to the rules").click();
      await button("Try it without writing").click();
      await button("Import 3 people into Customers").click();
      await page.getByRole("link", { name: "Open Customers" }).waitFor();
      await page.getByText("completed", { exact: true }).first().waitFor();
      await page.getByRole("link", { name: "Open Customers" }).click();
      await page.getByText("edith@example.com").waitFor();

      await page.getByRole("link", { name: "Campaigns", exact: true }).click();
      await button("New campaign").click();
      await page.getByLabel("Name", { exact: true }).fill("Spring");
      await page.getByLabel("Subject").fill("Spring in {{ wohnort }}");
      await page.getByRole("combobox", { name: "List" }).click();
      await page.getByRole("option", { name: "Customers" }).click();
      await button("Create the draft").click();
      const html = page.getByRole("textbox", { name: "HTML" });
      await html.click();
      await page.keyboard.insertText("<p>Hello {{ first_name }}</p>");
      await button("Send …").click();
      await button("Send to 3 people").click();
      await button("Stop and edit").waitFor();
      await button("Stop and edit").waitFor({ state: "hidden", timeout: 40_000 });
      const { call } = scene.scene.program;
      const { body } = await eventually("a mail for each", async () => {
        const answer = await call("GET", "/messages?source=campaign&status=delivered");
        return answer.body.data.messages.length >= 3 && answer;
      });
      expect(body.data.messages).toHaveLength(3);
      const mail = body.data.messages.find(({ localpart }: Record<string, string>) => localpart === "edith");
      const captured = await eventually("the mail in the inbox", async () => {
        const answer = await openInbox(scene.scene.program.url, `/inbox/messages/${mail.id}`);
        return answer.ok && ((await answer.json()) as Captured);
      });
      expect(captured.headers).toContainEqual({ name: "Subject", value: "Spring in Wien" });
      expect(captured.html).toContain("Hello Edith");
    },
    JOURNEY_MS,
  );

  /** A draft for two people, and the page that asks whether to send it. */
  async function openSendSheet(name: string): Promise<string> {
    const call = scene.callAsOwner();
    const { body: list } = await call("POST", "/mailing-lists", { name: `People of ${name}` });
    for (const email of ["hedy@example.com", "mary@example.com"])
      await call("POST", `/mailing-lists/${list.data.id}/subscribers`, { email });
    const { body } = await call("POST", "/campaigns", {
      name,
      subject: "Spring",
      from_email: SENDER,
      html_content: "<p>Spring</p>",
      mailing_list_id: list.data.id,
    });
    await page.goto(`/console/${scene.workspace}/campaigns/${body.data.id}`);
    await button(/^Send …/).click();
    await button("Send to 2 people").waitFor();
    return body.data.id;
  }
  const statusOf = async (id: string) =>
    (await scene.callAsOwner()("GET", `/campaigns/${id}`)).body.data.status as string;

  test("what was changed in another window is not sent as if it had been seen", async () => {
    const id = await openSendSheet("Changed");
    await scene.callAsOwner()("PATCH", `/campaigns/${id}`, { subject: "Autumn" });
    await button("Send to 2 people").click();
    await page.getByText("The campaign was changed in another window").waitFor();
    expect(await statusOf(id)).toBe("draft");
    await button("Show it as it is now").click();
    await page.getByRole("dialog").getByText("Autumn").first().waitFor();
    await button("Send to 2 people").click();
    await page
      .getByText(/begins in/)
      .first()
      .waitFor();
  });

  test("an editor in another window closes when its campaign is sent", async () => {
    const id = await openSendSheet("Twice open");
    const steps = page.locator("[role=tablist][aria-label=Steps]");
    await steps.waitFor();
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    await scene.callAsOwner()("POST", `/campaigns/${id}/send`, { scheduled_at });
    await steps.waitFor({ state: "detached" });
    expect(await statusOf(id)).toBe("scheduled");
  });

  test("Send without a network fails at once, and sends nothing when the network is back", async () => {
    const id = await openSendSheet("Offline");
    await page.context().setOffline(true);
    await button("Send to 2 people").click();
    await page.getByText("The service does not answer").first().waitFor();
    await button("Back to the draft").click();
    const back = page.waitForResponse(/\/api\/v1\//);
    await page.context().setOffline(false);
    await page.reload();
    await back;
    expect(await statusOf(id)).toBe("draft");
  });

  test("a double click, or Enter held down, makes one list", async () => {
    const call = scene.callAsOwner();
    const namesOf = async (path: string) =>
      JSON.stringify((await call("GET", path)).body.data).split('"name":"Once"').length - 1;
    await page.goto(`/console/${scene.workspace}/lists`);
    await button("New list").first().click();
    await page.getByLabel("Name", { exact: true }).fill("Once");
    await button("Create").dblclick();
    await page.getByRole("heading", { name: "Once", level: 1 }).waitFor();
    expect(await namesOf("/mailing-lists")).toBe(1);
    await page.goto(`/console/${scene.workspace}/lists`);
    await button("New list").first().click();
    await page.getByLabel("Name", { exact: true }).fill("Once");
    for (let time = 0; time < 5; time++) await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Once", level: 1 }).waitFor();
    expect(await namesOf("/mailing-lists")).toBe(2);
  });
});
