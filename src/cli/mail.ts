/** `posthaste mail …`: mail to the operator's mailboxes, and what came back and could not be read. */

import { type Command, InvalidArgumentError, Option } from "commander";
import { findRawMail, listInboundMails, type ListedMail } from "#inbound/returns/store.ts";
import { isUuid } from "#platform/ids.ts";
import { withDatabase } from "./command/database.ts";
import type { CliOptions } from "./command/options.ts";
import { json, table } from "./command/output.ts";

const columns = ["id", "received_at", "kind", "mail_from", "rcpt_to", "bytes", "result"] as const;
const statuses = ["kept", "quarantined", "processed", "received"] as const satisfies ListedMail["status"][];
const MOST = 100;

interface ListOptions {
  readonly status: ListedMail["status"];
  readonly json?: true;
}

export function addMailCommands(program: Command, { stdout, environment }: CliOptions): void {
  const mail = program.command("mail").description("mail that came in");
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
      const mails = await withDatabase(environment, (db) => listInboundMails(db, options.status, MOST));
      stdout.write(options.json ? json(mails) : table(columns, mails));
    });
  mail
    .command("show")
    .description("print one as it came; of a large one the beginning")
    .requiredOption("--id <id>", "as `mail list` shows it", readMailId)
    .action(async ({ id }: { readonly id: string }) => {
      const raw = await withDatabase(environment, (db) => findRawMail(db, id));
      if (raw === undefined) throw new Error(`There is no mail ${id}`);
      stdout.write(stdout.isTTY ? printable(raw) : raw);
    });
}

function readMailId(text: string): string {
  if (!isUuid(text))
    throw new InvalidArgumentError("An id is a UUID, as `npm run -s posthaste -- mail list` shows it.");
  return text;
}

/** No control character of a stranger's reaches the terminal. */
function printable(raw: Buffer): string {
  return raw.toString().replace(/[^\P{Cc}\t\n]/gu, "");
}
