/** `posthaste migrate`: migrates the schema before a new version of the service starts. */

import type { Command } from "commander";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabase } from "./command/database.ts";

export function addMigrateCommand(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("migrate")
    .description("bring the database's schema up to date")
    .action(async () => {
      const applied = await withDatabase(environment, async (_, migrations) => migrations);
      stdout.write(applied.length === 0 ? "The schema is up to date.\n" : `${applied.join("\n")}\n`);
    });
}
