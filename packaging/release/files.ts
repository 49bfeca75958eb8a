/** The files of a release, all in one folder, with their checksums and a signature. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { makePackage } from "../make-package.ts";
import { billOfMaterials } from "./bill-of-materials.ts";
import { notesOf } from "./changelog.ts";

const run = promisify(execFile);
const MOST_OUTPUT = 64 * 1024 ** 2;
export const CHECKSUMS = "SHA256SUMS";
/** What the signature is for: ssh-keygen refuses to verify it for anything else. */
export const NAMESPACE = "posthaste-release";

/** Makes the folder anew. @returns the names of the files, without checksums */
export async function makeFiles(checkout: string, folder: string, version: string): Promise<string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const inCheckout = { cwd: checkout, maxBuffer: MOST_OUTPUT };
  await makePackage(checkout, folder);
  await run("npm", ["pack", "--workspace", "@posthaste/client", "--pack-destination", folder], inCheckout);
  const source = `posthaste-${version}-source.tar.gz`;
  await run(
    "git",
    ["archive", `--prefix=posthaste-${version}/`, "-o", join(folder, source), "HEAD"],
    inCheckout,
  );
  await writeFile(join(folder, `posthaste-${version}.cdx.json`), await billOfMaterials(checkout));
  const notes = notesOf(await readFile(join(checkout, "CHANGELOG.md"), "utf8"), version) ?? "";
  await writeFile(join(folder, "release-notes.md"), `${notes}\n`);
  return (await readdir(folder)).sort();
}

/** In the form that `sha256sum --check` reads. */
export async function writeChecksums(folder: string, names: readonly string[]): Promise<void> {
  const lines = await Promise.all(
    names.map(async (name) => {
      const digest = createHash("sha256");
      await pipeline(createReadStream(join(folder, name)), digest);
      return `${digest.digest("hex")}  ${name}\n`;
    }),
  );
  await writeFile(join(folder, CHECKSUMS), lines.join(""));
}

/**
 * Signs the checksums as OpenSSH signs files: `SHA256SUMS.sig`.
 * @param keyFile a private key of OpenSSH, such as one of `ssh-keygen -t ed25519`
 */
export async function signChecksums(folder: string, keyFile: string): Promise<void> {
  const file = join(folder, CHECKSUMS);
  await run("ssh-keygen", ["-q", "-Y", "sign", "-f", keyFile, "-n", NAMESPACE, file]);
}

/** The public key as a line of an `allowed_signers` file, for the checksums and for the tag, which Git signs. */
export async function allowedSigner(keyFile: string): Promise<string> {
  const { stdout } = await run("ssh-keygen", ["-y", "-f", keyFile]);
  const [type, key] = stdout.split(/\s+/);
  return `posthaste namespaces="${NAMESPACE},git" ${type} ${key}`;
}
