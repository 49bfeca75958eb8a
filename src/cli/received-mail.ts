/** `posthaste mail …`: mail to postmaster and abuse, and returned mail that could not be read. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { findRawMail, type ListedMail, listInboundMails } from "#inbound/returns/store.ts";
import { isUuid } from "#platform/ids.ts";
import { typedCommand } from "#platform/typed-command.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withInstallation } from "./command/database.ts";
import { json, table } from "./command/output.ts";

const columns = ["id", "received_at", "kind", "mail_from", "rcpt_to", "bytes", "result"] as const;
const statuses = ["kept", "quarantined", "processed", "received"] as const satisfies ListedMail["status"][];
const MOST = 100;

interface ListOptions {
  readonly status: ListedMail["status"];
  readonly json?: true;
}

export function addMailCommands(program: Command, { stdout, environment }: CliOptions): void {
  const mail = program.command("mail").description("received mail");
  mail
    .command("list")
    .description(`list the newest ${MOST}`)
    .addOption(
      new Option("--status <status>", "kept: for postmaster and abuse; quarantined: could not be read")
        .choices(statuses)
        .default("kept"),
    )
    .option("--json", "print JSON")
    .action(async (options: ListOptions) => {
      const mails = await withInstallation(environment, (db) => listInboundMails(db, options.status, MOST));
      stdout.write(options.json ? json(mails) : table(columns, mails));
    });
  mail
    .command("show")
    .description("print a mail as received; large mails are cut off")
    .requiredOption("--id <id>", "as `mail list` shows it", readMailId)
    .action(async ({ id }: { readonly id: string }) => {
      const raw = await withInstallation(environment, (db) => findRawMail(db, id));
      if (raw === undefined) throw new Error(`Mail ${id} does not exist`);
      stdout.write(stdout.isTTY ? printable(raw) : raw);
    });
}

function readMailId(text: string): string {
  if (!isUuid(text))
    throw new InvalidArgumentError(`An id is a UUID, as \`${typedCommand("mail list")}\` shows it.`);
  return text;
}

/** Removes control characters, which the mail's sender chose, before the mail reaches the terminal. */
function printable(raw: Buffer): string {
  return raw.toString().replace(/[^\P{Cc}\t\n]/gu, "");
}
