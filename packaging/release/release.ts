/**
 * `npm run release -- [--dry-run] [--version X]` checks the checkout, and makes the files of a release in `release/`. Without
 * --dry-run it also makes the tag. It publishes nothing: the workflow release.yml makes files of its own from the pushed tag.
 *
 * RELEASE_SIGNING_KEY_FILE names the private key of OpenSSH that signs the checksums and the tag; only a dry run does without.
 */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { problemsOf } from "./checks.ts";
import { allowedSigner, makeFiles, signChecksums, writeChecksums } from "./files.ts";

const checkout = join(import.meta.dirname, "../..");
const folder = join(checkout, "release");
const say = (line: string) => process.stdout.write(`${line}\n`);

async function release(): Promise<number> {
  const { values } = parseArgs({
    options: { "dry-run": { type: "boolean", default: false }, version: { type: "string" } },
  });
  const version =
    values.version ?? String(JSON.parse(await readFile(join(checkout, "package.json"), "utf8")).version);
  const isDryRun = values["dry-run"];
  const keyFile = process.env.RELEASE_SIGNING_KEY_FILE;
  const problems = [...(await problemsOf(checkout, version))];
  if (keyFile === undefined && !isDryRun) {
    problems.push("RELEASE_SIGNING_KEY_FILE is not set: a release is signed.");
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) return 1;

  const names = await makeFiles(checkout, folder, version);
  await writeChecksums(folder, names);
  say(["release/", ...names.map((name) => `  ${name}`), "  SHA256SUMS"].join("\n"));
  if (keyFile === undefined) {
    say("Not signed: RELEASE_SIGNING_KEY_FILE is not set.");
  } else {
    await signChecksums(folder, keyFile);
    say(`  SHA256SUMS.sig, signed by\n${await allowedSigner(keyFile)}`);
  }
  if (isDryRun || keyFile === undefined) return 0;
  await tag(version, keyFile);
  say(
    `The tag v${version} is made. To publish it:\n  git push origin v${version}\nThe workflow release.yml makes, signs and publishes files of its own from the tag; those in release/ stay here.`,
  );
  return 0;
}

/** An annotated tag that the same key signs, unless the commit has it already. */
async function tag(version: string, keyFile: string): Promise<void> {
  const { stdout } = await promisify(execFile)("git", ["tag", "--points-at", "HEAD"], { cwd: checkout });
  if (stdout.split("\n").includes(`v${version}`)) return;
  const signed = ["-c", "gpg.format=ssh", "-c", `user.signingkey=${keyFile}`, "tag", "--sign"];
  await promisify(execFile)("git", [...signed, "--message", `Posthaste ${version}`, `v${version}`], {
    cwd: checkout,
  });
}

process.exitCode = await release();
