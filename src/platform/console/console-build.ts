/**
 * The build of the console, `console/dist`: whether it is that of the sources beside it, and its renewal. A build is made in
 * another folder and renamed when it is whole. A lock, a symbolic link whose target is the id of its process, lets programs that
 * start together build once; that of a dead process counts for nothing.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "#platform/process/alive.ts";

/** What decides the content of a build, in the checkout. */
const sources = [
  "console/index.html",
  "console/package.json",
  "console/public",
  "console/src",
  "console/vite.config.ts",
  "clients/typescript/src",
  "openapi.json",
];
/** The digest of the sources, in the folder of their build. */
const STAMP = "sources.sha256";
const LOOK_MS = 100;
/** Longer than a build takes; the lock may name a process that has nothing to do with it. */
const MOST_WAIT_MS = 60_000;

export class ConsoleBuild {
  /** The folder of the build that is served. */
  readonly folder: string;
  readonly #checkout: string;
  readonly #workshop: string;
  readonly #lock: string;

  constructor(checkout = fileURLToPath(new URL("../../../", import.meta.url))) {
    this.#checkout = checkout;
    this.folder = join(checkout, "console/dist");
    this.#workshop = join(checkout, "console/.build");
    this.#lock = join(this.#workshop, "lock");
  }

  /** The path of Vite; undefined where the development dependencies are not installed. */
  get builder(): string | undefined {
    try {
      return createRequire(join(this.#checkout, "console/package.json")).resolve("vite");
    } catch {
      return undefined;
    }
  }

  /** Whether there is no build, or one of other sources. An image has no sources: what it has is not stale. */
  async isStale(): Promise<boolean> {
    const digest = await this.#digestOfSources();
    if (digest === undefined) return false;
    return (await readFile(join(this.folder, STAMP), "utf8").catch(() => undefined)) !== digest;
  }

  /** Whether a process of this machine is building. */
  async isUnderWay(): Promise<boolean> {
    const holder = await readlink(this.#lock).catch(() => undefined);
    return holder !== undefined && isAlive(Number(holder));
  }

  /**
   * Builds, unless another process does it first.
   * @param bundle writes a build into a folder
   * @returns whether this call has built
   */
  async renew(bundle: (folder: string) => Promise<void>): Promise<boolean> {
    await mkdir(this.#workshop, { recursive: true });
    await this.#takeLock();
    try {
      // Before the build, so that a change during it makes the build stale.
      const digest = await this.#digestOfSources();
      if (digest === undefined || !(await this.isStale())) return false;
      await this.#clear();
      const made = join(this.#workshop, `new-${process.pid}`);
      const former = join(this.#workshop, `former-${process.pid}`);
      await bundle(made);
      await writeFile(join(made, STAMP), digest);
      await rename(this.folder, former).catch(ignoreMissing);
      await rename(made, this.folder);
      await this.#clear();
      return true;
    } finally {
      await rm(this.#lock, { force: true });
    }
  }

  async #takeLock(): Promise<void> {
    for (const deadline = Date.now() + MOST_WAIT_MS; ; await delay(LOOK_MS)) {
      try {
        await symlink(String(process.pid), this.#lock);
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
      if (Date.now() > deadline || !(await this.isUnderWay())) await rm(this.#lock, { force: true });
    }
  }

  /** Removes what builds have left, also those that were killed. */
  async #clear(): Promise<void> {
    const left = (await readdir(this.#workshop)).map((name) => join(this.#workshop, name));
    const removed = left.filter((path) => path !== this.#lock);
    await Promise.all(removed.map((path) => rm(path, { recursive: true, force: true })));
  }

  async #digestOfSources(): Promise<string | undefined> {
    const files = (await Promise.all(sources.map((path) => filesOf(this.#checkout, path)))).flat();
    if (!files.includes("console/index.html")) return undefined;
    const contents = await Promise.all(files.map((path) => readFile(join(this.#checkout, path))));
    const digest = createHash("sha256");
    for (const [at, path] of files.entries()) {
      const content = createHash("sha256").update(contents[at] ?? "");
      digest.update(`${path} ${content.digest("hex")}\n`);
    }
    return digest.digest("hex");
  }
}

/** The file, or all files below the folder, sorted; none when it is missing. */
async function filesOf(checkout: string, path: string): Promise<string[]> {
  try {
    const entries = await readdir(join(checkout, path), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(checkout.length)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return [path];
    ignoreMissing(error);
    return [];
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
