/** What must be true of a checkout before it is released. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { notesOf } from "./changelog.ts";

const run = promisify(execFile);
const manifests = ["package.json", "clients/typescript/package.json", "console/package.json"];

/** Sentences about what is wrong; none if the checkout can be released as that version. */
export async function problemsOf(checkout: string, version: string): Promise<readonly string[]> {
  const found = await Promise.all([
    unclean(checkout),
    otherVersions(checkout, version),
    missingNotes(checkout, version),
    staleFiles(checkout),
    openMigrations(checkout),
    takenTag(checkout, version),
  ]);
  return found.flat();
}

const textOf = (checkout: string, path: string) => readFile(join(checkout, path), "utf8");

async function unclean(checkout: string): Promise<string[]> {
  const { stdout } = await run("git", ["status", "--porcelain"], { cwd: checkout });
  return stdout === "" ? [] : [`The working tree has changes: commit or remove them.\n${stdout.trimEnd()}`];
}

async function otherVersions(checkout: string, version: string): Promise<string[]> {
  const found: [string, string][] = await Promise.all(
    manifests.map(async (path) => [path, JSON.parse(await textOf(checkout, path)).version]),
  );
  const { packages } = JSON.parse(await textOf(checkout, "package-lock.json"));
  for (const path of manifests) {
    const name = path.replace(/\/?package\.json$/, "");
    found.push([`package-lock.json ("${name}")`, packages[name]?.version]);
  }
  const { devDependencies } = JSON.parse(await textOf(checkout, "console/package.json"));
  found.push(["console/package.json (@posthaste/client)", devDependencies["@posthaste/client"]]);
  found.push(["openapi.json", JSON.parse(await textOf(checkout, "openapi.json")).info.version]);
  return found
    .filter(([, other]) => other !== version)
    .map(([path, other]) => `${path} has version ${other}, not ${version}.`);
}

async function missingNotes(checkout: string, version: string): Promise<string[]> {
  const notes = notesOf(await textOf(checkout, "CHANGELOG.md"), version);
  if (notes === undefined) return [`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD".`];
  if (/^\*\*Operators must\*\*/m.test(notes)) return [];
  return [`CHANGELOG.md says for ${version} not what "**Operators must**" do; "nothing" is an answer, too.`];
}

async function staleFiles(checkout: string): Promise<string[]> {
  const words = ["bin/posthaste.js", "--script", "src/generate.ts", "--check"];
  return run("node", words, { cwd: checkout }).then(
    () => [],
    ({ stdout, stderr }: { stdout: string; stderr: string }) => [
      `Generated files are stale:\n${(stdout || stderr).trimEnd()}`,
    ],
  );
}

/** Where migrations of releases are recorded, all of this version must be: they never change again. */
async function openMigrations(checkout: string): Promise<string[]> {
  const path = "db/released-migrations.json";
  const record = await textOf(checkout, path);
  const names = await readdir(join(checkout, "db/migrations"));
  const missing = names.filter((name) => name.endsWith(".sql") && !record.includes(JSON.stringify(name)));
  return missing.length === 0
    ? []
    : [`${path} does not have ${missing.join(", ")}: run npm run freeze-release, and commit.`];
}

async function takenTag(checkout: string, version: string): Promise<string[]> {
  const revision = async (name: string) =>
    (await run("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd: checkout })).stdout;
  const tagged = await revision(`refs/tags/v${version}`).catch(() => undefined);
  if (tagged === undefined || tagged === (await revision("HEAD"))) return [];
  return [`The tag v${version} exists and is another commit.`];
}
