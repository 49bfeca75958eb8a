/**
 * Every page for every built-in role, and for one that may do nothing in the console: nothing that a page asks for is refused, no
 * control and no link leads to a refusal, and what the role lacks is said in plain words.
 */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import sql from "sql-template-tag";
import { beforeAll, describe, expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { isChromiumInstalled } from "#test/support/chromium.ts";
import { eventually } from "#test/support/eventually.ts";
import { signInPerson } from "#test/support/people.ts";
import { type BuiltInRole, builtInRoles } from "#workspace/people/built-in-roles.ts";
import { addressOf, inside, isEvery, views } from "./console-routes.ts";
import { operationsOfControl } from "./controls.ts";
import { type ConsoleScene, openConsole } from "./open-console.ts";
import { plainWords, type Seed, seedWorkspace } from "./seed.ts";
import { WatchedPage } from "./watched-page.ts";

const PATIENCE_MS = 180_000;
const ROLE_MS = 300_000;

interface Role {
  readonly name: string;
  readonly permissions: readonly string[];
}

/** A permission that no page of the console asks for. */
const guest: Role = { name: "Guest", permissions: ["validations:read"] };
/** An admin has the permissions of an owner. */
const different = [...builtInRoles.values()].filter(({ key }) => key !== "admin");
const roles: readonly Role[] = isEvery ? [...different, guest] : [roleOf("support"), guest];
const pages = isEvery ? views : inside;

function roleOf(key: BuiltInRole["key"]): Role {
  const role = builtInRoles.get(key);
  if (role === undefined) throw new Error(`no role ${key}`);
  return role;
}

const permissions = permissionsOfOperations();
/** The operation that fills a page, by the first part of its address. */
const entries = new Map(
  [
    ...(sourceOf("shell/pages.ts").split("const deeper")[0] ?? "").matchAll(
      /\bto: "([^"]*)",[^}]*\blists: "(\w+)"/g,
    ),
  ].map(([, to = "", lists = ""]) => [to, lists]),
);

function mayCall(role: Role, operation: string): boolean {
  const wanted = permissions.get(operation);
  if (wanted === undefined) throw new Error(`openapi.json has no operation ${operation}`);
  const [resource, action] = wanted.split(":");
  if (action === undefined) return true;
  return role.permissions.some((held) => {
    const [heldResource = "", heldAction = ""] = held.split(":");
    return [resource, "*"].includes(heldResource) && [action, "*"].includes(heldAction);
  });
}

/** What pages below a list need beside the list. */
const deeper: readonly (readonly [RegExp, string])[] = [
  [/^lists\/[^/]+\/import/, "importSubscribers"],
  [/^lists\/[^/]+\/segments\/new/, "createSegment"],
  [/^lists\/[^/]+\/segments\//, "getSegment"],
];

/** The permission that a role lacks for a page of this address; undefined if it may open it. */
function lackedFor(role: Role, path: string): string | undefined {
  const entry = entries.get(placeOf(path));
  const needed = [entry, ...deeper.filter(([at]) => at.test(path)).map(([, operation]) => operation)];
  const lacked = needed.find((operation) => operation !== undefined && !mayCall(role, operation));
  return lacked && permissions.get(lacked);
}

describe.skipIf(!isChromiumInstalled)("in a browser", () => {
  let scene: ConsoleScene;
  let seed: Seed;

  beforeAll(async () => {
    scene = await openConsole();
    seed = await seedWorkspace(scene.scene, scene.workspace, plainWords);
  }, PATIENCE_MS);

  async function sessionOf({ name, permissions: held }: Role): Promise<string> {
    const { database, program } = scene.scene;
    const where = { database, url: () => program.url, now: new Date() };
    const { token, userId } = await signInPerson(where, seed.workspace as WorkspaceId, [
      ...held,
      "validations:read",
    ]);
    const key = [...builtInRoles.values()].find((role) => role.name === name)?.key;
    await database.run(
      key
        ? sql`update workspace_members set built_in_role = ${key}, role_id = null where user_id = ${userId}`
        : sql`
          update roles set name = ${name}
          where id = (select role_id from workspace_members where user_id = ${userId})`,
    );
    return token;
  }

  test.each(roles)("nothing is refused to the role $name", { timeout: ROLE_MS }, async (role) => {
    const viewport = { width: 1280, height: 800 };
    const context = await scene.newContext({ viewport, session: await sessionOf(role) });
    const watched = await WatchedPage.open(context);
    const faults: string[] = [];
    let where = "";
    const { page } = watched;
    page.on("response", (answer) => {
      if (answer.status() === 403)
        faults.push(`/${where}: refused ${answer.request().method()} ${answer.url()}`);
    });
    await watched.visit(`/console/${seed.workspace}/account`);
    let from = "account";
    for (where of pages) {
      // Two views of one place may have the same heading.
      if (placeOf(from) === placeOf(where) && from !== where) await follow(page, addressOf("account", seed));
      if (from !== where) await follow(page, addressOf(where, seed));
      from = where;
      await watched.settled();
      const text = await page.locator("main").innerText();
      const lacked = lackedFor(role, where);
      if (lacked !== undefined) {
        const says = `Your role (${role.name}) lacks ${lacked}. An owner of Acme can give you another role.`;
        if (!text.includes(says)) faults.push(`/${where}: does not say “${says}” but ${text.slice(0, 200)}`);
        continue;
      }
      if (/Your role .* lacks/.test(text)) faults.push(`/${where}: ${text.slice(0, 300)}`);
      for (const control of await controlsOf(page)) {
        const operations = operationsOfControl(where, control.split("\n")[0] ?? "");
        if (operations === undefined) faults.push(`/${where}: what does “${control}” call?`);
        const refused = operations?.filter((operation) => !mayCall(role, operation)) ?? [];
        if (refused.length > 0) faults.push(`/${where}: “${control}” calls ${refused.join()}`);
      }
      for (const path of await linksOf(page, seed.workspace))
        if (lackedFor(role, path) !== undefined) faults.push(`/${where}: a link leads to ${path}`);
    }
    await context.close();
    expect(faults, faults.join("\n")).toEqual([]);
  });
});

/** The first word of an address. */
function placeOf(path: string): string {
  return path.split(/[/?]/)[0] ?? "";
}

/** Opens a page within the open one, as a link does, and waits until its heading is not the one before. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`for (const heading of document.querySelectorAll("main h1")) heading.dataset.before = heading.textContent;
    history.pushState(null, "", ${JSON.stringify(`/console${path}`)})`);
  await eventually(`the page ${path}`, () =>
    page.evaluate<boolean>(
      `[...document.querySelectorAll("main h1")].some((heading) => heading.dataset.before !== heading.textContent)`,
    ),
  );
}

/** The names of the buttons of a page, and of what its menus offer; without those that only unfold a part of the page. */
async function controlsOf(page: Page): Promise<string[]> {
  const names = await page.evaluate<string[]>(`[...document.querySelectorAll("main button")]
    .filter((button) => button.checkVisibility() && button.ariaHasPopup !== "listbox" && !button.closest("table tbody, [role=tablist]"))
    .filter((button) => button.ariaExpanded === null || button.ariaHasPopup !== null)
    .map((button) => {
      const bar = button.closest("[role=toolbar]")?.ariaLabel;
      const name = button.ariaLabel ?? button.innerText.trim();
      return bar ? bar + ": " + name : name;
    })`);
  const menus = page.locator("main button[aria-haspopup=true]:visible");
  for (const menu of await menus.all()) {
    await menu.click();
    await page.getByRole("menu").waitFor();
    names.push(...(await page.getByRole("menuitem").allInnerTexts()));
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
  }
  return [...new Set(names)];
}

/** The pages of the workspace that a page links to. */
async function linksOf(page: Page, workspace: string): Promise<string[]> {
  const paths = await page.evaluate<string[]>(
    `[...document.querySelectorAll("main a[href]")].filter((link) => link.checkVisibility()).map((link) => link.getAttribute("href"))`,
  );
  const base = `/console/${workspace}/`;
  return [...new Set(paths.filter((path) => path.startsWith(base)).map((path) => path.slice(base.length)))];
}

function permissionsOfOperations(): ReadonlyMap<string, string> {
  const { paths } = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
    readonly paths: Readonly<
      Record<
        string,
        Readonly<Record<string, { readonly operationId: string; readonly "x-permission"?: string }>>
      >
    >;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return new Map(operations.map((one) => [one.operationId, one["x-permission"] ?? ""]));
}

function sourceOf(path: string): string {
  return readFileSync(new URL(`../../console/src/${path}`, import.meta.url), "utf8");
}
