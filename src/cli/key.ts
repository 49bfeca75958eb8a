/** `posthaste key …`: API keys that the operator creates, for example for a workspace without a usable key. */

import type { Command } from "commander";
import { systemClock } from "#platform/clock.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { issueKey } from "#workspace/api-keys/issue.ts";
import { catalogueOf, readPermissions } from "#workspace/api-keys/permission-catalogue.ts";
import { readExpiry } from "#workspace/api-keys/read-expiry.ts";
import { readName } from "#workspace/read-display-name.ts";
import { findWorkspace } from "#workspace/workspaces/store.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabase } from "./command/database.ts";
import { argument, readList, readWorkspaceId } from "./command/option-parsers.ts";
import { json, table } from "./command/output.ts";

interface CreateOptions {
  readonly workspace: WorkspaceId;
  readonly name: string;
  readonly permissions: string[];
  readonly expires?: Date;
  readonly json?: true;
}

export function addKeyCommands(program: Command, { stdout, environment, endpoints }: CliOptions): void {
  const readGiven = (text: string) => readPermissions(readList(text), catalogueOf(endpoints()));

  program
    .command("key")
    .description("create API keys")
    .command("create")
    .description("create a key; its secret is printed once")
    .requiredOption("--workspace <id>", "the workspace's id", readWorkspaceId)
    .requiredOption("--name <name>", "its name", argument(readName))
    .requiredOption("--permissions <list>", "such as emails:send,reports:read or *:*", argument(readGiven))
    .option(
      "--expires <moment>",
      "ISO 8601; UTC if it has no offset",
      argument((text) => readExpiry(text, systemClock.now())),
    )
    .option("--json", "print JSON")
    .action(async ({ workspace, name, permissions, expires, ...options }: CreateOptions) => {
      const settings = { name, permissions, expires_at: expires ?? null };
      const key = await withDatabase(environment, async (db) => {
        if (!(await findWorkspace(db, workspace))) throw notFound("Workspace");
        return issueKey(db, workspace, settings, systemClock.now());
      });
      if (options.json) stdout.write(json(key));
      else {
        const row = { ...key, permissions: key.permissions.join(",") };
        stdout.write(table(["id", "name", "permissions", "expires_at"], [row]));
        stdout.write(`\nIts secret, shown only now: ${key.key}\n`);
      }
    });
}
