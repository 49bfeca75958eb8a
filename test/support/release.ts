/** This program as another release, for tests of upgrades. */
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = fileURLToPath(new URL("../../", import.meta.url));

/** The launcher of this checkout, or of a release at `root`. */
export const launcherOf = (root = checkout) => join(root, "bin/posthaste.js");

/**
 * Copies this program to a folder of `parent`, with another version and further migrations.
 * @param migrations the text of each migration by its name
 * @returns the folder
 */
export async function makeRelease(
  parent: string,
  version: string,
  migrations: Readonly<Record<string, string>>,
): Promise<string> {
  const root = join(parent, version);
  for (const part of ["bin", "src", "db", "console/dist", "openapi.json"])
    await cp(join(checkout, part), join(root, part), { recursive: true });
  await symlink(join(checkout, "node_modules"), join(root, "node_modules"));
  const description = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
  await writeFile(join(root, "package.json"), JSON.stringify({ ...description, version }));
  for (const [name, statements] of Object.entries(migrations))
    await writeFile(join(root, "db/migrations", name), statements);
  return root;
}
