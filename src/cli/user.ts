/** `posthaste user …`: people who sign in. It needs no session, so that operators who are locked out can use it. */

import { type Command, InvalidArgumentError } from "commander";
import { describeAudit } from "#platform/audit/pending-event.ts";
import { systemClock } from "#platform/clock.ts";
import { readConfig } from "#platform/config/config.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { requireBelowRowLimitUnderLock } from "#platform/database/row-limit-store.ts";
import { notFound } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { localUrl } from "#platform/network/local-url.ts";
import { PasswordHasher } from "#workspace/passwords/hash-password.ts";
import { requireGoodPassword } from "#workspace/passwords/password-rules.ts";
import { builtInRoleKeys } from "#workspace/people/built-in-roles.ts";
import { changeInstallationUser } from "#workspace/people/change-installation-user.ts";
import { createUser, readPersonEmail } from "#workspace/people/create-user.ts";
import { findInstallationUser, listInstallationUsers } from "#workspace/people/installation-users-store.ts";
import { issuePasswordPath } from "#workspace/people/issue-link.ts";
import { insertWorkspaceMember } from "#workspace/people/members-store.ts";
import { removeSessionsOf } from "#workspace/people/sessions-store.ts";
import { findUserByEmail, lockUser, type User } from "#workspace/people/users-store.ts";
import { readName } from "#workspace/read-display-name.ts";
import { replacePassword } from "#workspace/sign-in/replace-password.ts";
import { removeExternalAccounts } from "#workspace/single-sign-on/store.ts";
import { lockTeam, teammateRoom } from "#workspace/team/teammate-store.ts";
import { findFirstWorkspace, findWorkspace } from "#workspace/workspaces/store.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabase, withInstallation } from "./command/database.ts";
import { argument, readWorkspaceId } from "./command/option-parsers.ts";
import { json, table } from "./command/output.ts";

const columns = [
  "id",
  "email",
  "name",
  "is_operator",
  "is_disabled",
  "workspace_count",
  "last_seen_at",
  "created_at",
] as const;
const PAGE = 500;
/** Octets of standard input: more than the longest password. */
const MOST_INPUT = 4_096;
const jsonHelp = "print JSON";
const stdinHelp = "read the password from standard input and print no link";

interface PasswordOptions {
  readonly passwordStdin?: true;
  readonly json?: true;
}

interface CreateOptions extends PasswordOptions {
  readonly name?: string;
  readonly owner?: true;
  readonly role?: string;
  readonly workspace?: WorkspaceId;
  readonly operator?: true;
}

export function addUserCommands(program: Command, options: CliOptions): void {
  const { stdout, environment } = options;
  const user = program.command("user").description("people who sign in");
  const email = argument((text) => readPersonEmail(text, "the address"));

  /** Shows a user, and the link with which they choose a password. */
  function show(row: Readonly<Record<string, unknown>>, path: string | undefined, asJson: boolean): void {
    const config = readConfig(environment);
    const base = config.PUBLIC_URL?.href.replace(/\/$/, "") ?? localUrl(config);
    const link = path === undefined ? undefined : `${base}${path}`;
    if (asJson) {
      stdout.write(json({ ...row, ...(link !== undefined && { password_link: link }) }));
      return;
    }
    stdout.write(table(columns, [row as never]));
    if (link !== undefined) {
      stdout.write(`\nTo choose a password, open this link. It works once, for 24 hours:\n${link}\n`);
    }
  }

  /** How a person signs in where passwords are switched off: no link is printed there. */
  function noteWithoutPasswords(asJson = false): void {
    const config = readConfig(environment);
    if (asJson || config.PASSWORD_LOGIN === "on") return;
    const way =
      config.OIDC_ISSUER === null
        ? "Without OIDC_ISSUER only people who have a passkey can sign in: configure single sign-on, or set PASSWORD_LOGIN=on."
        : `They sign in with ${config.OIDC_NAME}, whose account must have this address, or with a passkey.`;
    stdout.write(`\nPasswords are switched off (PASSWORD_LOGIN=off). ${way}\n`);
  }

  /** A link, unless a password is given or passwords are switched off. */
  const linkFor = (tx: Queryable, userId: string, { passwordStdin }: PasswordOptions) =>
    passwordStdin || readConfig(environment).PASSWORD_LOGIN === "off"
      ? undefined
      : issuePasswordPath(tx, userId, systemClock.now());

  user
    .command("create")
    .description("create a person; prints a link that works once, to choose a password")
    .argument("<email>", "the address to sign in with", email)
    .option("--name <name>", "their name; the address when omitted", argument(readName))
    .option("--owner", "make them an owner of the workspace, by default of the first one")
    .option("--role <role>", `a role in the workspace: one of ${builtInRoleKeys.join(", ")}`, readRoleKey)
    .option("--workspace <id>", "the workspace of --owner or --role", readWorkspaceId)
    .option("--operator", "make them an operator of the installation")
    .option("--password-stdin", stdinHelp)
    .option("--json", jsonHelp)
    .action(async (address: string, given: CreateOptions, command: Command) => {
      const role = given.owner ? "owner" : given.role;
      if (given.owner && given.role !== undefined) command.error("error: give --owner or --role, not both");
      if (given.workspace !== undefined && role === undefined) {
        command.error("error: --workspace needs --owner or --role");
      }
      const passwordHash = given.passwordStdin ? await readPasswordHash(options, address) : null;
      const now = systemClock.now();
      const name = given.name ?? address;
      const made = await withDatabase(environment, (db) =>
        db.transaction(async (tx) => {
          const isOperator = given.operator ?? false;
          const { id } = await createUser(tx, { email: address, name, passwordHash, isOperator }, now);
          const workspaceId =
            role === undefined ? undefined : await joinWorkspace(tx, id, role, given.workspace);
          describeAudit({ ...(workspaceId && { workspaceId }), resource: { id, name: address } });
          return { row: await findInstallationUser(tx, id), path: await linkFor(tx, id, given) };
        }),
      );
      show({ ...made.row }, made.path, given.json ?? false);
      noteWithoutPasswords(given.json);
    });

  user
    .command("list")
    .description("list all people, newest first")
    .option("--json", jsonHelp)
    .action(async (given: PasswordOptions) => {
      const rows = await withInstallation(environment, listAll);
      stdout.write(given.json ? json(rows) : table(columns, rows));
    });

  user
    .command("reset-password")
    .description("print a link with which a person chooses a new password; it works once")
    .argument("<email>", "their address", email)
    .option("--password-stdin", `${stdinHelp}; ends the sessions of the person`)
    .option("--json", jsonHelp)
    .action(async (address: string, given: PasswordOptions) => {
      const password_hash = given.passwordStdin ? await readPasswordHash(options, address) : undefined;
      const changed = await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          const locked = await lockNamed(tx, address);
          const { id } = locked;
          if (password_hash !== undefined) await replacePassword(tx, locked, password_hash);
          describeAudit({ resource: { id, name: address } });
          return { row: await findInstallationUser(tx, id), path: await linkFor(tx, id, given) };
        }),
      );
      show({ ...changed.row }, changed.path, given.json ?? false);
      noteWithoutPasswords(given.json);
    });

  user
    .command("disconnect")
    .description(
      "forget a person's account at the OpenID provider, and end their sessions; the next single sign-on connects one again",
    )
    .argument("<email>", "their address", email)
    .option("--json", jsonHelp)
    .action(async (address: string, given: PasswordOptions) => {
      const row = await withInstallation(environment, (db) =>
        db.transaction(async (tx) => {
          const { id } = await lockNamed(tx, address);
          await removeExternalAccounts(tx, id);
          // The sessions may be those of another person, who had the address before.
          await removeSessionsOf(tx, id);
          describeAudit({ resource: { id, name: address } });
          return findInstallationUser(tx, id);
        }),
      );
      show({ ...row }, undefined, given.json ?? false);
    });

  for (const [name, is_disabled, description] of [
    ["disable", true, "disable a person: they cannot sign in, and their sessions end"],
    ["enable", false, "let a disabled person sign in again"],
  ] as const) {
    user
      .command(name)
      .description(description)
      .argument("<email>", "their address", email)
      .option("--json", jsonHelp)
      .action(async (address: string, given: PasswordOptions) => {
        const row = await withInstallation(environment, (db) =>
          db.transaction(async (tx) => {
            const { id } = await findNamed(tx, address);
            return changeInstallationUser(tx, id, { is_disabled }, systemClock.now());
          }),
        );
        show({ ...row }, undefined, given.json ?? false);
      });
  }
}

async function findNamed(tx: Queryable, address: string): Promise<User> {
  const user = await findUserByEmail(tx, address);
  if (user === undefined) throw notFound("User");
  return user;
}

async function lockNamed(tx: Queryable, address: string): Promise<User> {
  const user = await lockUser(tx, (await findNamed(tx, address)).id);
  if (user === undefined) throw notFound("User");
  return user;
}

async function listAll(db: Database) {
  const all = [];
  const filter = { search: undefined, is_operator: undefined };
  for (let from = {}; ; ) {
    const page = await listInstallationUsers(db, filter, { limit: PAGE, offset: 0, ...from });
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return all;
    from = { after: last.id };
  }
}

async function joinWorkspace(
  tx: Queryable,
  userId: string,
  builtInRole: string,
  asked: WorkspaceId | undefined,
): Promise<WorkspaceId> {
  const workspace = asked === undefined ? await findFirstWorkspace(tx) : await findWorkspace(tx, asked);
  if (workspace === undefined) throw notFound("Workspace");
  await lockTeam(tx, workspace.id);
  await requireBelowRowLimitUnderLock(tx, workspace.id, teammateRoom);
  await insertWorkspaceMember(tx, workspace.id, { userId, builtInRole, roleId: null }, systemClock.now());
  return workspace.id;
}

function readRoleKey(text: string): string {
  if (builtInRoleKeys.some((key) => key === text)) return text;
  throw new InvalidArgumentError(`Roles are ${builtInRoleKeys.join(", ")}.`);
}

/** The first line of standard input. */
async function readPasswordHash({ stdin }: CliOptions, address: string): Promise<string> {
  let input = "";
  for await (const piece of stdin ?? []) {
    input += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    if (input.length > MOST_INPUT || input.includes("\n")) break;
  }
  const [password = ""] = input.split(/\r?\n/);
  requireGoodPassword(password, address);
  return new PasswordHasher().hash(password);
}
