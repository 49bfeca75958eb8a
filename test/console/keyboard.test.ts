/** Journeys by keyboard alone: done, the focus always visible, never lost. */
import { TOTP } from "otpauth";
import type { Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "#platform/clock.ts";
import { asWorkspaceId } from "#platform/ids.ts";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { eventually } from "#test/support/eventually.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { Keyboard } from "./keyboard.ts";
import { type ConsoleScene, openConsole, owner } from "./open-console.ts";
import { SENDER, type Seed, seedWorkspace } from "./seed.ts";

const PATIENCE_MS = 180_000;
const JOURNEY_MS = 120_000;
const STEP_MS = 30_000;
const CHORD_MS = 5_000;
const UUID_LENGTH = 36;

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;
  let page: Page;
  let keys: Keyboard;

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, (place, number) => `${place} ${number}`);
  }, PATIENCE_MS);

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  async function begin(isSignedIn: boolean, path: string): Promise<void> {
    const context = await scene.newContext({ isSignedIn });
    page = await context.newPage();
    keys = new Keyboard(page);
    await page.goto(`/console${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
  async function goTo(key: string, heading: string): Promise<void> {
    const title = page.getByRole("heading", { name: heading, level: 1 });
    // The keys count as one when a second is between them at most, which a busy machine may miss.
    await eventually(`the page ${heading}`, async () => {
      await keys.press("g");
      await keys.press(key);
      const shown = title.waitFor({ timeout: CHORD_MS });
      return shown.then(
        () => true,
        () => false,
      );
    });
  }
  /** Writes in a field with suggestions and takes the first. */
  async function pick(label: string, text: string): Promise<void> {
    await keys.fill(page.getByRole("combobox", { name: label }), text);
    await page.getByRole("option", { name: text }).first().waitFor();
    await keys.press("ArrowDown");
    await keys.press("Enter");
  }
  /** Limits what the workspace sends in an hour; null ends the limit. */
  async function capHour(hourly_cap: number | null): Promise<void> {
    await changeWorkspace(
      scene.scene.database,
      asWorkspaceId(scene.workspace),
      { hourly_cap },
      { clock: systemClock, plans },
    );
  }
  /** Opens a choice, and takes the option that begins with the text. */
  async function choose(label: RegExp, text: string): Promise<void> {
    await keys.enter(page.getByRole("button", { name: label }));
    await page.getByRole("option", { name: text }).first().waitFor();
    await keys.type(text);
    await keys.press("Enter");
  }
  /** No journey ends without the focus on something that shows it. */
  async function end(): Promise<void> {
    await keys.requireFocus();
    await page.context().close();
  }
  afterEach(end);

  describe("signed in", () => {
    afterEach(() => capHour(null));
    beforeEach(() => begin(true, `/${scene.workspace}`));

    test("skip to the page", async () => {
      await keys.press("Tab");
      await keys.expectFocus(page.getByRole("link", { name: "Skip to the page" }));
      await keys.press("Enter");
      expect(new URL(page.url()).hash).toBe("#page");
    });

    test("go to a page by its key, and to another by the palette", async () => {
      await goTo("m", "Messages");
      await keys.press("ControlOrMeta+k");
      await page.getByRole("dialog", { name: "Search everything" }).waitFor();
      await keys.type("API keys");
      await page
        .getByRole("menuitem", { name: /API keys/ })
        .first()
        .waitFor();
      await keys.press("ArrowDown");
      await keys.press("Enter");
      await page.getByRole("heading", { name: "API keys" }).waitFor();
    });

    test("change the theme", async () => {
      await keys.enter(button(`Account of ${owner.name}`));
      await page.getByRole("menu", { name: "Account" }).waitFor();
      await keys.type("dark");
      await keys.press("Enter");
      await page.locator("html[data-theme=dark]").waitFor();
      await keys.requireFocus();
      await page.reload();
      await page.locator("html[data-theme=dark]").waitFor();
      await keys.tabTo(page.getByRole("link", { name: "Skip to the page" }));
    });

    test("make a key", async () => {
      await goTo("k", "API keys");
      await keys.enter(button("New key"));
      await keys.expectFocus(page.getByLabel("Name", { exact: true }));
      await keys.type("Typed key");
      await keys.enter(button("Make the key"));
      await page.getByText(/^efk_\w+$/).waitFor();
      await keys.enter(button("I have kept it"));
      await page.getByText("Typed key", { exact: true }).waitFor();
      await page.getByRole("dialog").waitFor({ state: "hidden" });
    });

    test("add a domain", async () => {
      await goTo("d", "Domains & senders");
      await keys.enter(button("Add a domain"));
      await keys.expectFocus(page.getByLabel("Domain", { exact: true }));
      await keys.type("typed.example");
      await keys.press("Enter");
      await page.getByRole("heading", { name: "typed.example", level: 1 }).waitFor();
    });

    test("invite a teammate", async () => {
      await goTo("t", "Team");
      await keys.enter(button("Invite"));
      await keys.expectFocus(page.getByLabel("Email", { exact: true }));
      await keys.type("hedy@example.com");
      await choose(/Role$/, "Support");
      await keys.enter(button("Send the invitation"));
      await page.getByText("hedy@example.com", { exact: true }).first().waitFor();
    });

    test("ask why an address gets no mail, and let it get mail again", async () => {
      await goTo("b", "Suppression");
      await keys.fill(page.getByLabel("May these addresses be mailed?"), "gone@example.com");
      await keys.enter(button(/^Remove gone@example.com from /));
      await page
        .getByText(/gone@example.com is off/)
        .first()
        .waitFor();
      await page.getByText("On no list").waitFor();
      await button(/^Remove gone@example.com from /).waitFor({ state: "hidden" });
    });

    test("leave a page that a list does not have, and choose a person by address", async () => {
      await page.goto(`/console/${scene.workspace}/people?page=99999`);
      await page.getByText("There is no page 99,999").waitFor();
      await keys.enter(button(/^Go to the (first|last) page$/));
      await page
        .getByRole("checkbox", { name: /^Choose \S+@\S+$/ })
        .first()
        .waitFor();
      await keys.tabTo(page.getByRole("row").nth(1));
    });

    test("find a message that waits, and have it tried now", async () => {
      await goTo("m", "Messages");
      await keys.press("/");
      await keys.type("reader4+later@example.com");
      await keys.press("Enter");
      await page.getByRole("listbox", { name: "Suggestions" }).waitFor({ state: "hidden" });
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await keys.tabTo(page.getByRole("row").nth(1));
      await keys.press("Enter");
      await page.getByRole("complementary", { name: "Message" }).waitFor();
      await keys.enter(button("Try now"));
      await page.getByText("The message is tried now").first().waitFor({ state: "attached" });
    });

    test("import a file, a column of it into a field", { timeout: JOURNEY_MS }, async () => {
      await page.goto(`/console/${scene.workspace}/lists/${seed.ids.lists}/import`);
      await button("Choose a file").waitFor();
      const chooser = page.waitForEvent("filechooser");
      await keys.enter(button("Choose a file"));
      const buffer = Buffer.from("email,first,residence\nhedy@example.com,Hedy,Wien\n");
      await (await chooser).setFiles({ name: "one.csv", mimeType: "text/csv", buffer });
      await choose(/residence is for/, "City");
      await keys.enter(button("Go on to the rules"));
      await keys.enter(button("Try it without writing"));
      await keys.enter(button(/^Import 1 person into /));
      await keys.enter(page.getByRole("link", { name: /^Open / }));
      await page.getByText("hedy@example.com").first().waitFor();
    });

    test("build a segment", { timeout: JOURNEY_MS }, async () => {
      await goTo("s", "Segments");
      await keys.enter(button("New segment").first());
      await pick("List", "Customers");
      await keys.enter(button("Write the rules"));
      await keys.expectFocus(page.getByLabel("Name", { exact: true }));
      await keys.type("In Paris");
      if ((await page.getByRole("combobox", { name: "Field" }).count()) === 0)
        await keys.enter(button("Add a rule"));
      await pick("Field", "City");
      await choose(/Condition/, "contains");
      await keys.fill(page.getByLabel(/^Value of City/), "Paris 7");
      await page
        .getByRole("complementary", { name: "Who is selected" })
        .getByRole("status")
        .filter({ hasText: /^1\s/ })
        .first()
        .waitFor();
      await keys.press("ControlOrMeta+s");
      await page.getByRole("heading", { name: "In Paris", level: 1 }).waitFor();
    });

    test("write a campaign, leave its editor, and send it to its people", {
      timeout: JOURNEY_MS,
    }, async () => {
      await goTo("c", "Campaigns");
      await keys.enter(button("New campaign"));
      await keys.expectFocus(page.getByLabel("Name", { exact: true }));
      await keys.type("Autumn");
      await keys.fill(page.getByLabel("Subject"), "Autumn is here");
      await pick("List", "Customers");
      await keys.enter(button("Create the draft"));
      const html = page.getByRole("textbox", { name: "HTML" });
      await keys.fill(html, "Leaves fall.");
      await keys.press("Tab");
      await keys.expectFocus(html);
      await page.getByText(/^Saved [\d:]+$/).waitFor();

      await keys.press("Escape");
      await keys.press("Shift+Tab");
      await keys.expectFocus(page.getByRole("radio", { name: "HTML" }));
      await keys.tabTo(html);
      // Through the preview, out of its frame, and around the page.
      await keys.enter(button("Send …"));
      await page.getByRole("dialog", { name: "Send Autumn" }).waitFor();
      await keys.enter(button(/^Send to \d+ people$/));
      await keys.expectFocus(button("Stop and edit"));
      await button("Stop and edit").waitFor({ state: "hidden", timeout: 60_000 });

      const id = page.url().split("/campaigns/")[1]?.slice(0, UUID_LENGTH) ?? "";
      const sent = await eventually("the campaign to be sent", async () => {
        const { body } = await scene.scene.program.call("GET", `/campaigns/${id}`);
        return body.data.status === "sent" && body.data;
      });
      expect([sent.subject, sent.sent_count]).toEqual(["Autumn is here", sent.total_recipients]);
      expect(sent.total_recipients).toBeGreaterThanOrEqual(30);
      await page.getByText(/^Sent to \d+ people/).waitFor();
    });

    test("write the conditions of a campaign", { timeout: JOURNEY_MS }, async () => {
      await page.goto(`/console/${scene.workspace}/campaigns/${seed.ids.campaigns}?step=to`);
      await keys.tabTo(page.getByRole("radio", { name: "A list" }));
      await keys.press("ArrowLeft");
      await keys.expectFocus(page.getByRole("radio", { name: "Conditions" }));
      await pick("Field", "City");
      await choose(/Condition/, "contains");
      await keys.fill(page.getByLabel(/^Value of City/), "Paris 7");
      await page.getByText(/^of 1 person would get it now$/).waitFor();
      const { body } = await scene.scene.program.call("GET", `/campaigns/${seed.ids.campaigns}`);
      expect(body.data).toMatchObject({
        recipient_type: "custom",
        mailing_list_id: seed.ids.lists,
        segment_conditions: { logic: "and", rules: [{ operator: "contains", value: "Paris 7" }] },
      });
    });

    test("pause a campaign that is being sent", { timeout: JOURNEY_MS }, async () => {
      const { call } = scene.scene.program;
      const mail = { subject: "Long", from_email: SENDER, html_content: "<p>Long</p>" };
      const { body } = await call("POST", "/campaigns", {
        ...mail,
        name: "Long campaign",
        mailing_list_id: seed.ids.lists,
      });
      // It waits for the next hour; where that begins meanwhile, one message leaves and it waits again.
      await capHour(1);
      await call("POST", `/campaigns/${body.data.id}/send`, {});
      await goTo("c", "Campaigns");
      await keys.press("/");
      await keys.type("Long campaign");
      await keys.press("Enter");
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      await keys.tabTo(page.getByRole("row").nth(1));
      await keys.press("Enter");
      await page.getByRole("heading", { name: "Long campaign", level: 1 }).waitFor();
      await page.getByText(/^Sending: /).waitFor();
      await keys.enter(button("Pause"));
      // The button that paused it resumes it, and keeps the focus.
      await keys.expectFocus(button("Resume"));
      await page.getByText(/^Paused .*A person or a key has paused it/).waitFor();
      expect((await call("GET", `/campaigns/${body.data.id}`)).body.data.status).toBe("paused");
    });
  });

  test("add a second factor, sign out, and sign in with it", { timeout: JOURNEY_MS }, async () => {
    await begin(false, "/sign-in");
    const signIn = async () => {
      await keys.expectFocus(page.getByLabel("Email"));
      await keys.type(owner.email);
      await keys.fill(page.getByLabel("Password"), owner.password);
      // The page that opens first has the focus nowhere until Tab is pressed.
      await page.keyboard.press("Enter");
    };
    await signIn();
    await page.getByRole("heading", { name: "Hello, Ada" }).waitFor();
    const openMenu = async () => {
      await keys.enter(button(`Account of ${owner.name}`));
      await page.getByRole("menu", { name: "Account" }).waitFor();
    };
    await openMenu();
    await keys.press("Home");
    await keys.press("Enter");
    await keys.enter(button("Add an app"));
    await keys.expectFocus(page.getByLabel("Name", { exact: true }).last());
    await keys.type("Phone");
    await keys.press("Enter");
    const secret = await page.getByRole("dialog").locator("pre").innerText();
    const code = (later = 0) => new TOTP({ secret }).generate({ timestamp: Date.now() + later });
    await keys.expectFocus(page.getByLabel("Code", { exact: true }));
    await keys.type(code());
    await keys.press("Enter");
    await keys.enter(button("I have kept them"));

    await openMenu();
    await keys.press("End");
    await keys.press("Enter");
    await page.getByRole("heading", { name: "Sign in to Posthaste" }).waitFor();
    await signIn();
    await keys.expectFocus(page.getByLabel("Code", { exact: true }));
    // Each code works once, so this is the next one.
    await keys.type(code(STEP_MS));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Hello, Ada" }).waitFor();
    // As on every page that opens first, Tab begins at its top.
    await keys.press("Tab");
    await keys.expectFocus(page.getByRole("link", { name: "Skip to the page" }));
  });
});
