/**
 * Makes the npm package of the service from a copy: the program in JavaScript, with its dependencies. A process that is killed
 * meanwhile leaves a folder `.package-…`, and changes nothing in the checkout.
 */
import { execFile } from "node:child_process";
import { cp, glob, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeProgram } from "./program-in-javascript.ts";

const run = promisify(execFile);
const MOST_OUTPUT = 64 * 1024 ** 2;
/** Of the `files`, the folder that is made here. */
const PROGRAM = "lib";
/** What npm adds to the `files` of package.json. */
const ALWAYS = ["README.md", "LICENSE"];

/** @returns the name of the file, such as posthaste-0.2.0.tgz, in the folder `destination` */
export async function makePackage(checkout: string, destination: string): Promise<string> {
  await run("npm", ["run", "-s", "build", "-w", "console"], { cwd: checkout, maxBuffer: MOST_OUTPUT });
  const manifest = JSON.parse(await readFile(join(checkout, "package.json"), "utf8"));
  // In the checkout, so that a file system can share the blocks of what is copied.
  const folder = await mkdtemp(join(checkout, ".package-"));
  try {
    const listed = [...manifest.files, ...ALWAYS].filter((path) => path !== PROGRAM);
    const paths = await Array.fromAsync(glob(listed, { cwd: checkout }));
    paths.push(...(await packagesOf(checkout, manifest.optionalDependencies)));
    for (const path of paths) await cp(join(checkout, path), join(folder, path), { recursive: true });
    await writeProgram(join(checkout, "src"), join(folder, PROGRAM), manifest.imports);
    const own = { ...manifest, bundleDependencies: true };
    await writeFile(join(folder, "package.json"), `${JSON.stringify(own, null, 2)}\n`);
    await mkdir(destination, { recursive: true });
    const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination];
    const { stdout } = await run("npm", words, { cwd: folder, maxBuffer: MOST_OUTPUT });
    return stdout.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The installed packages, of which npm packs those that the dependencies need: neither development ones nor those for one system. */
async function packagesOf(
  checkout: string,
  forOneSystem: Readonly<Record<string, string>>,
): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(checkout, "package-lock.json"), "utf8"));
  const wanted = Object.keys(packages).filter((path) => {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return name !== undefined && !packages[path].dev && !packages[path].link && !(name in forOneSystem);
  });
  const isThere = await Promise.all(
    wanted.map((path) =>
      lstat(join(checkout, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return wanted.filter((_, at) => isThere[at]);
}
