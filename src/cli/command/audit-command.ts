/**
 * Commands that change something are in the audit log, as operations of the API are: one event for each command, in the
 * transaction of its change (platform/audit/audited-database.ts). `withDatabase` calls this for every command.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { userInfo } from "node:os";
import type { Command } from "commander";
import type { AuditEvent } from "#platform/audit/audit-event.ts";
import { auditedDatabase } from "#platform/audit/audited-database.ts";
import { changedFields, displayNameOf, idIn, isFields } from "#platform/audit/changed-fields.ts";
import { PendingEvent } from "#platform/audit/pending-event.ts";
import type { Database } from "#platform/database/pool.ts";
import { insertAuditEvent } from "#workspace/audit/store.ts";

/** The command that runs; set before its action. */
interface Running {
  command?: Command;
}

const running = new AsyncLocalStorage<Running>();

/** Parses and runs a command line, whose program reports its command. */
export function runAudited<Result>(program: Command, parse: () => Promise<Result>): Promise<Result> {
  const store: Running = {};
  program.hook("preAction", (_, command) => {
    store.command = command;
  });
  return running.run(store, parse);
}

/** Runs the work of a command on the database, with its event. */
export async function auditCommand<Result>(
  db: Database,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const command = running.getStore()?.command;
  if (command === undefined) return work(db);
  const pending = new PendingEvent((result) => eventOf(command, result), insertAuditEvent);
  try {
    return await pending.run(() => work(auditedDatabase(db)));
  } finally {
    pending.close();
  }
}

/** Writes the event of the running command, for commands that change the database in a way of their own. */
export async function recordCommand(db: Database): Promise<void> {
  const command = running.getStore()?.command;
  if (command !== undefined) await insertAuditEvent(db, eventOf(command, undefined));
}

/** The event names the command, such as `workspace set`, its given options, and the user of the machine. */
function eventOf(command: Command, result: unknown): AuditEvent {
  const words: string[] = [];
  for (let one: Command | null = command; one?.parent; one = one.parent) words.unshift(one.name());
  const { workspace: asked, json: _, ...options } = command.opts();
  const given = Object.entries(options).filter(
    ([name]) => command.getOptionValueSource(name) !== "default" && !name.endsWith("Stdin"),
  );
  // A command that creates a workspace answers it.
  const made = isFields(result) && isFields(result.workspace) ? result.workspace : undefined;
  const workspaceId = typeof asked === "string" ? asked : idIn(made);
  const [kind = ""] = words;
  return {
    workspaceId,
    actor: { kind: "system", id: null, name: `command line (${machineUser()})` },
    operation: words.join(" "),
    resource: {
      kind: kind.replaceAll("-", "_"),
      id: idIn(made) ?? idIn(result),
      name: displayNameOf(made, result),
    },
    result: "done",
    code: null,
    changes: changedFields(
      undefined,
      Object.fromEntries(given.map(([name, value]) => [snake(name), value])),
      {},
      false,
    ),
    ip: null,
    agent: null,
    requestId: null,
  };
}

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Some containers have no entry for their user. */
function machineUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown user";
  }
}
