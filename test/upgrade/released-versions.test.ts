/** What was released stays: its migrations do not change, and a database with data of each version becomes one of this. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sql, { raw } from "sql-template-tag";
import { describe, expect, onTestFinished, test } from "vitest";
import { findMiscounts } from "#cli/doctor/counters.ts";
import { runCli } from "#cli/program.ts";
import { readMigrations, thisRelease } from "#platform/database/migration-files.ts";
import { newDatabase } from "#test/support/database.ts";
import { eventually } from "#test/support/eventually.ts";
import { startProgram } from "#test/support/program.ts";
import { reviewMigration } from "./review-migration.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const released: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  await readFile(join(root, "db/released-migrations.json"), "utf8"),
);
const frozen = new Map(Object.values(released).flatMap((migrations) => Object.entries(migrations)));
const migrations = await readMigrations(thisRelease);
const kept = (await readdir(join(root, "test/upgrade/released"))).map((name) => name.replace(".backup", ""));

test("a released migration never changes", () => {
  const digests = new Map(migrations.map(({ name, digest }) => [name, digest]));
  expect(Object.fromEntries([...frozen.keys()].map((name) => [name, digests.get(name)]))).toEqual(
    Object.fromEntries(frozen),
  );
});

test("programs of the former release can work on while an unreleased migration is applied, and afterwards", async () => {
  await using database = await newDatabase();
  const client = await database.openSession();
  onTestFinished(() => client.end());
  const faults: string[] = [];
  for (const { name, statements, needsProgram, isInTransaction } of migrations) {
    if (!frozen.has(name) && needsProgram === null && isInTransaction)
      faults.push(...(await reviewMigration(client, statements)).map((fault) => `${name}: ${fault}`));
    await client.query(statements);
  }
  expect(faults).toEqual([]);
});

describe("a database of version", () => {
  test("each release is kept", () => {
    expect(kept.sort()).toEqual(Object.keys(released).sort());
  });

  test.each(kept)(
    "%s becomes one of this version, with its people, mail, counters and keys",
    async (version) => {
      const folder = await mkdtemp(join(tmpdir(), "posthaste-released-"));
      onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
      await using database = await newDatabase();
      const environment = {
        DATABASE_URL: database.url,
        DATA_DIR: folder,
        POSTHASTE_BACKUP_PASSPHRASE: "the data of the demo",
        BOOTSTRAP_API_KEY: `efk_${"1234".repeat(10)}`,
        MAIL_MODE: "capture",
      };
      const code = await runCli(["restore", join(root, `test/upgrade/released/${version}.backup`)], {
        stdout: { write: () => {} },
        stderr: process.stderr,
        environment,
        endpoints: () => [],
        serve: async () => {},
      });
      expect(code).toBe(0);
      const applied = await database.rows<{ name: string }>(
        sql`select name from schema_migrations order by name`,
      );
      expect(applied.map(({ name }) => name)).toEqual(migrations.map(({ name }) => name));
      expect(await findMiscounts(database)).toEqual([]);
      const counts = await database.row(
        raw(`select (select count(*)::int from subscribers) as people,
        (select count(*)::int from campaign_recipients) as recipients,
        (select sum(delivered)::int from campaign_counters) as delivered`),
      );
      expect(counts).toEqual({ people: 1_500, recipients: 1_000, delivered: 957 });

      // The restored keys are those of the database: the program starts, and sends what waited.
      await using program = await startProgram(environment);
      const waiting = async () =>
        (await database.rows(sql`select from delivery_queue where due_at <= now()`)).length;
      const before = await database.rows(sql`select from captured_messages`);
      await program.command("sending", "release");
      await database.run(sql`update delivery_queue set due_at = now()`);
      await eventually("the queue to be sent", async () => (await waiting()) === 0);
      expect((await database.rows(sql`select from captured_messages`)).length).toBeGreaterThanOrEqual(
        before.length,
      );
    },
  );
});
