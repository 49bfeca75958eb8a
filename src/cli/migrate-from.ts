/**
 * `posthaste migrate-from`: takes people, suppressions and templates over from another product. It is a client of the public
 * API of a running service, so it runs anywhere, writes as any caller does, and sends no mail.
 */
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { fileFault } from "./command/file-fault.ts";
import { json } from "./command/output.ts";
import { LOCAL_SERVICE, readServiceUrl } from "./command/service-address.ts";
import { readCsvFolder } from "./migrate-from/csv-folder.ts";
import { readStatusChoice, type StatusChoice } from "./migrate-from/file-statuses.ts";
import { Intake } from "./migrate-from/intake.ts";
import { readListmonkApi } from "./migrate-from/listmonk/read-api.ts";
import { readListmonkExport } from "./migrate-from/listmonk/read-export.ts";
import { readMailchimpApi } from "./migrate-from/mailchimp/read-api.ts";
import { readMailchimpExport } from "./migrate-from/mailchimp/read-export.ts";
import { readPostalFiles } from "./migrate-from/postal.ts";
import { PosthasteApi } from "./migrate-from/posthaste-api.ts";
import { MigrationReport } from "./migrate-from/report.ts";
import { readSendGridApi } from "./migrate-from/sendgrid/read-api.ts";
import { readSendGridFiles } from "./migrate-from/sendgrid/read-files.ts";
import type { ReadApi, ReadFiles, Source, SourceOptions } from "./migrate-from/source.ts";
import { MigrationWriter } from "./migrate-from/write-migration.ts";

interface Product {
  readonly name: string;
  readonly description: string;
  readonly readFiles: ReadFiles;
  /** Options that only some sources have a use for. */
  readonly takes: readonly ("list" | "status" | "statusesOfFiles" | "optOutColumn" | "keepExisting")[];
  /** Undefined for a product that is read from files alone. */
  readonly api?: {
    readonly read: ReadApi;
    /** The environment variable of its secret. */
    readonly secretName: string;
  };
}

const products: Readonly<Record<string, Product>> = {
  listmonk: {
    name: "listmonk",
    description: "from listmonk: its API (with LISTMONK_TOKEN=user:token) or its CSV export",
    readFiles: readListmonkExport,
    takes: ["list", "status", "keepExisting"],
    api: { read: readListmonkApi, secretName: "LISTMONK_TOKEN" },
  },
  mailchimp: {
    name: "Mailchimp",
    description: "from Mailchimp: its API (with MAILCHIMP_API_KEY) or its exported files",
    readFiles: readMailchimpExport,
    takes: ["list", "status", "keepExisting"],
    api: { read: readMailchimpApi, secretName: "MAILCHIMP_API_KEY" },
  },
  sendgrid: {
    name: "SendGrid",
    description: "from SendGrid: its API (with SENDGRID_API_KEY) or its exported files",
    readFiles: readSendGridFiles,
    takes: ["list", "status", "keepExisting"],
    api: { read: readSendGridApi, secretName: "SENDGRID_API_KEY" },
  },
  postal: {
    name: "Postal",
    description: "from Postal: a file of its suppressions",
    readFiles: readPostalFiles,
    takes: [],
  },
  "csv-folder": {
    name: "CSV files",
    description: "from a folder of CSV files: each is a list, suppressions.csv has who gets no mail",
    readFiles: readCsvFolder,
    takes: ["statusesOfFiles", "optOutColumn", "keepExisting"],
  },
};

interface MigrateOptions {
  readonly from?: string;
  readonly to?: URL;
  readonly list?: string;
  readonly status?: SubscriberStatus | StatusChoice;
  readonly optOutColumn?: readonly string[];
  readonly keyFile?: string;
  readonly report?: string;
  readonly keepExisting?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export function addMigrateFromCommands(program: Command, options: CliOptions): void {
  const group = program
    .command("migrate-from")
    .description("take people, suppressions and templates over from another product; sends no mail");
  for (const [word, product] of Object.entries(products)) {
    const { description, api, takes } = product;
    const command = group
      .command(word)
      .description(description)
      .option("--from <url or path>", "address of its API, or an export: a file, a folder or a zip file")
      .option(
        "--to <url>",
        `address of Posthaste; default: POSTHASTE_URL, or ${LOCAL_SERVICE}`,
        readServiceUrl,
      )
      .option("--report <file>", "CSV file of what is left out; default: left-out-by-PRODUCT.csv")
      .option("--dry-run", "read everything, write nothing")
      .option("--json", "print the report as JSON")
      // The action says how a path is given.
      .allowExcessArguments();
    if (takes.includes("list")) {
      command.option("--list <name>", "list of people whom the source puts on none", readListName);
    }
    if (takes.includes("status")) {
      const says = "status of people in a file that does not say it";
      command.addOption(new Option("--status <status>", says).choices(subscriberStatuses));
    }
    if (takes.includes("statusesOfFiles")) {
      const says =
        "status of people in files that do not say it, or with FILE= in one of them; may be repeated";
      command.addOption(
        new Option("--status <[file=]status>", says).choices(subscriberStatuses).argParser(readStatusChoice),
      );
    }
    if (takes.includes("optOutColumn")) {
      command.option(
        "--opt-out-column <name>",
        "a column that marks people who get no mail, or ignore; may be repeated",
        (name: string, others: readonly string[]) => [...others, name],
        [],
      );
    }
    if (takes.includes("keepExisting")) {
      command.option(
        "--keep-existing",
        "people who are on a list already keep their names and custom fields",
      );
    }
    if (api !== undefined) command.option("--key-file <file>", `a file with the value of ${api.secretName}`);
    command.action((given: MigrateOptions) => {
      const [path] = command.args;
      if (path !== undefined) command.error(`error: name what to read with --from: --from ${path}`);
      return migrate(word, product, given, options);
    });
  }
}

const signals = ["SIGINT", "SIGTERM"] as const;

async function migrate(
  word: string,
  product: Product,
  given: MigrateOptions,
  { stdout, stderr, environment }: CliOptions,
): Promise<void> {
  const key = environment.POSTHASTE_KEY;
  if (!key) throw new Error("Set POSTHASTE_KEY to an API key of the workspace that receives the data");
  const url = given.to ?? readServiceUrl(environment.POSTHASTE_URL || LOCAL_SERVICE);
  const folder = await mkdtemp(join(tmpdir(), "posthaste-migration-"));
  // The folder holds people: an interrupted run leaves none behind.
  const stop = (signal: NodeJS.Signals) => {
    rmSync(folder, { recursive: true, force: true });
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, stop);
  try {
    const { list, optOutColumn: optOutColumns = [] } = given;
    const { others: status, ofFiles: statusesOfFiles } =
      typeof given.status === "object" ? given.status : { others: given.status, ofFiles: new Map() };
    const options = { list, status, statusesOfFiles, optOutColumns, folder };
    const source = await sourceOf(product, given, environment, options);
    const destination = new PosthasteApi(url, key);
    // A wrong key or address is noticed before a million people are read.
    await destination.mailingLists();
    const say = (sentence: string) => void stderr.write(`${sentence}\n`);
    const report = new MigrationReport(given.report ?? `left-out-by-${word}.csv`);
    const intake = new Intake(folder, product.name, report, say);
    const [isDryRun, keepsExisting] = [given.dryRun ?? false, given.keepExisting ?? false];
    const writing = { isDryRun, keepsExisting, product: product.name, folder, say };
    try {
      await intake.read(source);
      say(`${report.peopleRead.toLocaleString("en")} people read from ${product.name}`);
      await new MigrationWriter(destination, intake, report, writing).write();
      report.isComplete = true;
    } finally {
      await report.close();
      // What a run wrote before it failed is there, and its caller has to know of it.
      if (report.isComplete || !report.isEmpty)
        stdout.write(given.json ? json(report.asJson(word, isDryRun)) : report.asText(isDryRun));
    }
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws Error with a sentence for a missing address, path or secret */
async function sourceOf(
  { name, api, readFiles }: Product,
  { from, keyFile }: MigrateOptions,
  environment: CliOptions["environment"],
  options: SourceOptions,
): Promise<Source> {
  const isUrl = from !== undefined && /^https?:/i.test(from);
  if (from !== undefined && !isUrl) return readFiles(from, options);
  if (api === undefined) throw new Error(`Name the files with --from: ${name} is read from files alone`);
  if (options.status !== undefined)
    throw new Error(
      `--status is for files that do not say it: the API of ${name} says the status of each person`,
    );
  const secret = keyFile === undefined ? environment[api.secretName] : await readSecret(keyFile);
  if (!secret) throw new Error(`Set ${api.secretName}, or name an export of ${name} with --from`);
  return api.read(isUrl ? readServiceUrl(from) : undefined, secret, options);
}

async function readSecret(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (fault) {
    throw fileFault(`The key file ${path}`, fault, "name one with --key-file");
  }
}

function readListName(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("A list has a name.");
  return text.trim();
}
