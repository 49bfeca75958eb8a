/**
 * `posthaste key …`: API keys of a workspace. The operator creates one for a workspace without a usable key, and revokes one
 * that has leaked, also the last one.
 */

import type { Command } from "commander";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { systemClock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { typedCommand } from "#platform/typed-command.ts";
import type { ApiKey } from "#workspace/api-keys/api-key.ts";
import { issueKey } from "#workspace/api-keys/issue.ts";
import { catalogueOf, readPermissions } from "#workspace/api-keys/permission-catalogue.ts";
import { readExpiry } from "#workspace/api-keys/read-expiry.ts";
import { listKeys, lockKeys, updateKey } from "#workspace/api-keys/store.ts";
import { readName } from "#workspace/read-display-name.ts";
import { findOldestWorkspaceIds, findWorkspace } from "#workspace/workspaces/store.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withInstallation } from "./command/database.ts";
import { argument, readId, readList, readWorkspaceId } from "./command/option-parsers.ts";
import { json, table } from "./command/output.ts";

const columns = [
  "id",
  "name",
  "permissions",
  "key_prefix",
  "is_active",
  "last_used_at",
  "expires_at",
] as const;

const workspaceHelp = "the workspace's id, where there are several workspaces";

interface KeyOptions {
  readonly workspace?: WorkspaceId;
  readonly json?: true;
}

interface CreateOptions extends KeyOptions {
  readonly name: string;
  readonly permissions: string[];
  readonly expires?: Date;
}

export function addKeyCommands(program: Command, { stdout, environment, endpoints }: CliOptions): void {
  const readGiven = (text: string) => readPermissions(readList(text), catalogueOf(endpoints()));

  const keys = program.command("key").description("create, list and revoke the API keys of a workspace");

  keys
    .command("create")
    .description("create a key; its secret is printed once")
    .option("--workspace <id>", workspaceHelp, readWorkspaceId)
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
      const key = await withInstallation(environment, async (db) =>
        issueKey(db, await chooseWorkspace(db, workspace), settings, systemClock.now()),
      );
      if (options.json) stdout.write(json(key));
      else {
        stdout.write(table(["id", "name", "permissions", "expires_at"], [rowOf(key)]));
        stdout.write(`\nIts secret, shown only now: ${key.key}\n`);
      }
    });
  keys
    .command("list")
    .description("list the keys of a workspace, newest first, without their secrets")
    .option("--workspace <id>", workspaceHelp, readWorkspaceId)
    .option("--json", "print JSON")
    .action(async ({ workspace, ...options }: KeyOptions) => {
      const listed = await withInstallation(environment, async (db) =>
        listKeys(db, await chooseWorkspace(db, workspace), { showInactive: true }),
      );
      stdout.write(options.json ? json(listed) : table(columns, listed.map(rowOf)));
    });

  keys
    .command("revoke")
    .description("deactivate a key: requests with it are answered 401 within two seconds")
    .argument("<id>", "the key's id", readId)
    .option("--workspace <id>", workspaceHelp, readWorkspaceId)
    .option("--json", "print JSON")
    .action(async (id: string, { workspace, ...options }: KeyOptions) => {
      const revoked = await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          const workspaceId = await chooseWorkspace(tx, workspace);
          const [key] = await lockKeys(tx, workspaceId, [id]);
          if (key === undefined) throw notFound("API key");
          const inactive = { ...key, is_active: false };
          await updateKey(tx, workspaceId, inactive);
          return inactive;
        }),
      );
      if (options.json) stdout.write(json(revoked));
      else {
        stdout.write(table(columns, [rowOf(revoked)]));
        stdout.write("\nThe key is revoked: requests with it are answered 401 within two seconds.\n");
      }
    });
}

/**
 * The workspace that a command is about: that of its option --workspace, or the only one of the installation.
 * @throws ApiError NOT_FOUND if it does not exist; Error that says what to do if there is none, or more than one
 */
async function chooseWorkspace(db: Queryable, asked: WorkspaceId | undefined): Promise<WorkspaceId> {
  if (asked !== undefined) {
    if ((await findWorkspace(db, asked)) === undefined) throw notFound("Workspace");
    return asked;
  }
  const [only, other] = await findOldestWorkspaceIds(db, 2);
  if (only === undefined) throw new Error("there is no workspace");
  if (other !== undefined) {
    throw new Error(
      `there are several workspaces: add --workspace ID; \`${typedCommand("workspace list")}\` shows their ids`,
    );
  }
  describeAudit({ workspaceId: only });
  return only;
}

function rowOf<Key extends Pick<ApiKey, "permissions">>(key: Key) {
  return { ...key, permissions: key.permissions.join(",") };
}
