/** The pages of the console, by the paths of console/src/routes.tsx. The tests of all pages are driven by these lists. */
import { readFileSync } from "node:fs";
import type { Seed } from "./seed.ts";

const file = new URL("../../console/src/routes.tsx", import.meta.url);

/** Pages without a workspace. */
export const outside = ["sign-in", "welcome", "reset", "invitation", "confirm-email"] as const;

/** Pages of a workspace; a segment that begins with `$` is an id of what the segment before it names. */
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

/** Pages that show nothing yet. The list only becomes shorter: a test fails when a page of it has a heading. */
export const unfinished: ReadonlySet<string> = new Set([
  "reset",
  "invitation",
  "confirm-email",
  "account",
  "campaigns",
  "campaigns/$campaign",
  "jobs",
  "lists",
  "lists/$list",
  "lists/$list/import",
  "lists/$list/segments/$segment",
  "people",
  "people/$person",
  "segments",
  "suppression",
  "suppression/$list",
]);

/** Kilobytes of scripts that a page may load beyond those of Home. */
export const MOST_PAGE_KB = 60;
export const heavyPages: Readonly<Record<string, number>> = {
  // The code editor.
  "campaigns/$campaign": 200,
};

/** The address of a page below /console, with the ids of the seed. */
export function addressOf(page: string, { workspace, ids }: Seed): string {
  const filled = page.replaceAll(/([\w-]+)\/\$\w+/g, (_, folder: string) => {
    const id = ids[folder];
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
