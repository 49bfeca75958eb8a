/**
 * Freezes what later versions upgrade from, before a version is released (npm run freeze-release):
 *
 * - the digests of its migrations, in db/released-migrations.json: test/upgrade compares the files with them for good;
 * - a backup of a database with the data of the demo, in test/upgrade/released: each later version is tested with it.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readMigrations, thisRelease } from "#platform/database/migration-files.ts";
import { version } from "#platform/version.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));
const record = join(checkout, "db/released-migrations.json");
/** No secret: the data is that of the demo. */
const PASSPHRASE = "the data of the demo";

const released = JSON.parse(await readFile(record, "utf8")) as Record<string, Record<string, string>>;
const earlier = Object.entries(released).filter(([one]) => one !== version);
const frozen = new Set(earlier.flatMap(([, migrations]) => Object.keys(migrations)));
const added = (await readMigrations(thisRelease)).filter(({ name }) => !frozen.has(name));
const migrations = Object.fromEntries(added.map(({ name, digest }) => [name, digest]));
await writeFile(record, `${JSON.stringify({ ...released, [version]: migrations }, null, 2)}\n`);

const folder = await mkdtemp(join(tmpdir(), "posthaste-freeze-"));
try {
  const run = (...words: string[]) =>
    promisify(execFile)(process.execPath, [join(checkout, "bin/posthaste.js"), ...words], {
      env: { ...process.env, DATA_DIR: folder, POSTHASTE_BACKUP_PASSPHRASE: PASSPHRASE },
    });
  await run("demo", "--no-stay", "--data-dir", folder);
  await run("backup", "--with-secret-key", join(checkout, `test/upgrade/released/${version}.backup`));
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`Version ${version} is frozen, with ${added.length} migrations of its own.\n`);
