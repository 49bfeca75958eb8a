/** `posthaste import inspect`: shows what importing a file would do. */

import { stat } from "node:fs/promises";
import { type Command, InvalidArgumentError } from "commander";
import { inspectFile } from "#audience/imports/dry-run-file.ts";
import type { ImportReport } from "#audience/imports/dry-run-report.ts";
import type { ImportMapping } from "#audience/imports/mapping/mapping.ts";
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { systemClock } from "#platform/clock.ts";
import { type Encoding, readEncodingName } from "#platform/csv/encodings.ts";
import { type DateFormat, readDateFormat } from "#platform/dates/input-date-format.ts";
import { ApiError } from "#platform/errors.ts";
import { isUuid } from "#platform/ids.ts";
import type { CliOptions } from "./command/command-dependencies.ts";
import { withDatabaseAsItIs } from "./command/database.ts";
import { type FieldHints, withFieldHints } from "./command/field-hints.ts";
import { fileFault } from "./command/file-fault.ts";
import { argument } from "./command/option-parsers.ts";
import { json, table } from "./command/output.ts";

const hints: FieldHints = {
  encoding: "encoding is --encoding",
  date_format: "date_format is --date-format",
  status: "status is --status",
  opt_out_column: "opt_out_column is --opt-out-column",
  mapping: "mapping is --map",
  has_header: "has_header=false is --no-header",
};

interface InspectOptions {
  readonly list?: string;
  readonly encoding?: Encoding;
  readonly dateFormat?: DateFormat;
  readonly status?: SubscriberStatus;
  readonly optOutColumn?: readonly string[];
  readonly map?: ImportMapping;
  readonly header: boolean;
  readonly resubscribe?: true;
  readonly keepExisting?: true;
  readonly json?: true;
}

export function addImportCommands(program: Command, { stdout, environment }: CliOptions): void {
  program
    .command("import")
    .description("files of people")
    .command("inspect")
    .description("show what importing a CSV file would do; changes nothing")
    .argument("<file>", "the CSV file")
    .option("--list <id>", "compare it with this mailing list: custom fields and members", readListId)
    .option("--encoding <name>", "encoding of the file", argument(readEncodingName))
    .option("--date-format <format>", "date format in the file, such as DMY", argument(readDateFormat))
    .option("--status <status>", "status of all people in the file", readStatus)
    .option(
      "--opt-out-column <name>",
      "a column that marks people who get no mail, or ignore; may be repeated",
      (name: string, others: readonly string[]) => [...others, name],
      [],
    )
    .option(
      "--map <column=field>",
      "the field that a column is for: its header or #position, then a field such as email or custom_fields.city, or nothing to leave it out; may be repeated",
      readMapped,
    )
    .option("--no-header", "the first row is already a person")
    .option("--resubscribe", "members who unsubscribed become active again")
    .option("--keep-existing", "keep names and custom fields of members")
    .option("--json", "print JSON")
    .action(async (path: string, options: InspectOptions) => {
      const { list, encoding, dateFormat, status, optOutColumn, resubscribe, keepExisting, map, header } =
        options;
      const inspection = {
        path,
        encoding: encoding ?? null,
        date_format: dateFormat ?? null,
        status: status ?? null,
        opt_out_column: optOutColumn ?? null,
        mapping: map ?? null,
        has_header: header ? null : false,
        resubscribe: resubscribe ?? false,
        updateExisting: !keepExisting,
        clock: systemClock,
      };
      await requireFile(path);
      const report = await inspectFileOrSay(() =>
        list === undefined
          ? inspectFile({ ...inspection, list })
          : withDatabaseAsItIs(environment, (db) => inspectFile({ ...inspection, list: { db, id: list } })),
      );
      stdout.write(options.json ? json(report) : told(report));
    });
}

async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((fault: NodeJS.ErrnoException) => fault);
  if (!(found instanceof Error)) {
    if (found.isFile()) return;
    throw new Error(`${path} is not a file`);
  }
  throw fileFault(`The file ${path}`, found);
}

/** @throws Error with the message of the import's refusal */
async function inspectFileOrSay(inspect: () => Promise<ImportReport>): Promise<ImportReport> {
  try {
    return await inspect();
  } catch (fault) {
    if (!(fault instanceof ApiError) || !refusals.has(fault.code)) throw fault;
    throw new Error(`An import of this file would be refused: ${withFieldHints(fault.message, hints)}`, {
      cause: fault,
    });
  }
}

const refusals = new Set(["BAD_REQUEST", "VALIDATION_ERROR"]);

/** One option, such as `E-Mail=email` or `#3=custom_fields.city`. */
function readMapped(text: string, others: ImportMapping = []): ImportMapping {
  const at = text.lastIndexOf("=");
  if (at <= 0) throw new InvalidArgumentError("Write column=field, such as E-Mail=email.");
  const [name, field] = [text.slice(0, at), text.slice(at + 1).trim()];
  const position = /^#(\d{1,4})$/.exec(name)?.[1];
  const column = position === undefined ? name : Number(position);
  if (column === 0) throw new InvalidArgumentError("Positions are counted from 1.");
  return [...others, { column, field: field === "" ? null : field }];
}

function readListId(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError("An id is a UUID, as the API shows it.");
  return text.toLowerCase();
}

function readStatus(text: string): SubscriberStatus {
  const status = subscriberStatuses.find((one) => one === text);
  if (status === undefined) throw new InvalidArgumentError(`One of ${subscriberStatuses.join(", ")}.`);
  return status;
}

/** The report for people. */
function told(report: ImportReport): string {
  const { examples } = report;
  const counts = [
    ["rows", report.rows],
    ["new on the list", report.created],
    ["of these new to the workspace", report.new_to_workspace],
    ["known, changed", report.updated],
    ["known, unchanged", report.unchanged],
    ["twice in the file", report.duplicates],
    ["refused", report.invalid],
    ["get no mail", report.opted_out],
    ["written in spite of faults", report.written_in_part],
  ] as const;
  const delimiter = report.delimiter === "\t" ? "tab" : report.delimiter;
  const columns = report.columns.map(({ column, meaning }) => ({ column, taken_as: meaning ?? "(skipped)" }));
  const parts = [
    `Encoding ${report.encoding}, delimiter ${delimiter}${report.date_order === null ? "" : `, dates ${report.date_order}`}\n`,
    table(["column", "taken_as"], columns),
    table(
      ["people", "count"],
      counts.flatMap(([people, count]) => (count === undefined ? [] : [{ people, count }])),
    ),
    examplesOf("New", ["line", "email"], examples.new),
    examplesOf("Known", ["line", "email"], examples.known),
    examplesOf("Get no mail", ["line", "email", "status", "column"], examples.opted_out),
    examplesOf("With faults", ["line", "column", "value", "reason"], examples.refused),
    (report.warnings ?? []).map((warning) => `Warning: ${withFieldHints(warning, hints)}\n`).join(""),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function examplesOf<const Column extends string>(
  title: string,
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number | null>>[],
): string {
  return rows.length === 0 ? "" : `${title}, the first of them:\n${table(columns, rows)}`;
}
