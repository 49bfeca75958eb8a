/** The pages of the console by the paths of console/src/routes.tsx. The tests of all pages are driven by these lists. */
import { readFileSync } from "node:fs";
import type { Seed } from "./seed.ts";

const file = new URL("../../console/src/routes.tsx", import.meta.url);

/** Whether the tests look at the whole matrix of pages, states, themes, screens and roles, and not at a part of it. */
export const isEvery = process.env.CONSOLE_TESTS === "all";

/** Pages without a workspace. */
export const outside = ["sign-in", "welcome", "reset", "invitation", "confirm-email"] as const;

/** Pages of mailed and printed links, with a token that has ended; without one they say that the link is not complete. */
export const linked = ["welcome#ended", "reset#ended", "invitation#ended", "confirm-email#ended"] as const;

/** Pages of a workspace; a segment that begins with `$` is an id of that name, or of what the segment before it names. */
export const inside = [
  "",
  "account",
  "api-keys",
  "campaigns",
  "campaigns/$campaign",
  "domains",
  "domains/$domain",
  "jobs",
  "lists",
  "lists/$list",
  "lists/$list/import",
  "lists/$list/segments/$segment",
  "messages",
  "messages/$message",
  "people",
  "people/$person",
  "segments",
  "suppression",
  "suppression/$list",
  "team",
] as const;

/** The pages as the tests open them: parts with an address of their own, and things in another state, beside each page. */
export const views = [
  ...inside,
  "campaigns/$campaign?step=to",
  "campaigns/$campaign?step=send",
  "campaigns/$sms",
  "campaigns/$sent",
  "campaigns/$sent?tab=recipients",
  "lists/$list?tab=fields",
  "lists/$list?tab=form",
  "lists/$list?tab=segments",
  "lists/$list?tab=settings",
  "team?tab=roles",
] as const;

/** The button that opens an overlay of the page: a dialog, a menu, a list of choices. */
export const overlays: Readonly<Record<string, string | RegExp>> = {
  "": /^Notices$|^\d+ notices?$/,
  account: "Add an app",
  "api-keys": "New key",
  campaigns: "New campaign",
  "campaigns/$campaign": "Send …",
  "campaigns/$campaign?step=to": "Test …",
  "campaigns/$sent?tab=recipients": "Acts on the recipients",
  domains: "Add a domain",
  "domains/$domain": "Create a key",
  lists: "New list",
  "lists/$list": "Columns and rows",
  "lists/$list?tab=fields": "New field",
  "lists/$list?tab=settings": "Delete the list",
  "lists/$list/segments/$segment": "More acts",
  messages: "Columns and rows",
  people: "Add a person",
  "people/$person": "Add to a list",
  segments: "New segment",
  suppression: "New list",
  "suppression/$list": "Add",
  team: "Invite",
  "team?tab=roles": "New role",
};

/** Kilobytes of scripts that a page may load beyond those of Home. */
export const MOST_PAGE_KB = 60;
export const heavyPages: Readonly<Record<string, number>> = {
  // The code editor.
  "campaigns/$campaign": 200,
  "campaigns/$sms": 200,
  "campaigns/$campaign?step=to": 200,
  "campaigns/$campaign?step=send": 200,
};

/** The address of a page below /console, with the ids of the seed. */
export function addressOf(page: string, { workspace, ids }: Seed): string {
  const filled = page.replaceAll(/([\w-]+)\/\$(\w+)/g, (_, folder: string, name: string) => {
    const id = ids[name] ?? ids[folder];
    if (id === undefined) throw new Error(`the seed has no id of ${folder} for ${page}`);
    return `${folder}/${id}`;
  });
  return `/${workspace}/${filled}`;
}

/** The paths that the router of the console has, without the frame of the workspace. */
export function routedPaths(): string[] {
  const paths = [...readFileSync(file, "utf8").matchAll(/\bpath: "([^"]*)"/g)].map(([, path = ""]) => path);
  return paths.filter((path) => path !== "$workspace").map((path) => (path === "/" ? "" : path));
}
