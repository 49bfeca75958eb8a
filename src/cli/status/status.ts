/** `posthaste status`: what the installation does now, and for what it waits. */
import type { Command } from "commander";
import type { CliOptions } from "#cli/command/command-dependencies.ts";
import { requireDatabase, withDatabaseAsItIs } from "#cli/command/database.ts";
import { json } from "#cli/command/output.ts";
import { findServer } from "#cli/doctor/database-server-store.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import { findMissingMigrations } from "#platform/database/migrate.ts";
import type { Database } from "#platform/database/pool.ts";
import { version } from "#platform/version.ts";
import { readInstallation } from "./read-installation.ts";
import { statusPage, type Versions } from "./status-page.ts";

/** A statement of a status that takes longer harms the service that it looks at. */
const quick = { statementMs: 10_000, answerMs: 12_000 };

export function addStatusCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("status")
    .description("show the queue and why messages wait, processes, jobs, webhooks, storage and versions")
    .option("--json", "print JSON")
    .action(async (options: { readonly json?: true }) => {
      requireDatabase(environment);
      const { DATA_DIR } = readConfig(environment);
      const { versions, installation } = await withDatabaseAsItIs(
        environment,
        async (db) => {
          const versions = await readVersions(db);
          const isReadable = versions.missing_migrations.length === 0;
          return { versions, installation: isReadable ? await readInstallation(db, DATA_DIR) : null };
        },
        quick,
      );
      stdout.write(
        options.json
          ? json({ versions, installation })
          : statusPage(versions, installation, { now: systemClock.now(), width: stdout.columns }),
      );
    });
}

async function readVersions(db: Database): Promise<Versions> {
  const missing = await findMissingMigrations(db);
  const server = await findServer(db);
  return {
    program: version,
    node: process.versions.node,
    postgresql: server?.version ?? "unknown",
    missing_migrations: missing,
  };
}
