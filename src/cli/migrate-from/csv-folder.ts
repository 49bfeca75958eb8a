/**
 * A folder (or zip file) of CSV files of any program: each file is a list named after it, `suppressions.csv` has who gets no
 * mail. The files are read as imports read them (docs/import-export.md): any encoding and delimiter, columns named in
 * many languages, and columns that say who opted out.
 */
import { basename } from "node:path";
import { openTable, type Table } from "#audience/imports/open-import-file.ts";
import { findOptOutColumns, unclearFileName } from "#audience/imports/opt-outs/find-columns.ts";
import { RowReader } from "#audience/imports/row-reader.ts";
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";
import { unguardFormula } from "#platform/csv/formulas.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import { ApiError } from "#platform/errors.ts";
import { listNameOf, statusesOfFiles } from "./file-statuses.ts";
import { faultInFile, type GivenFile, openGivenFiles, sentenceOfFile } from "./given-files.ts";
import { openNamedRows } from "./named-rows.ts";
import type { Given, Source, SourceOptions } from "./source.ts";

/** The status is that of the file, if the caller names it, or of all. */
type ListOptions = Pick<SourceOptions, "status" | "optOutColumns">;

const IGNORE = "ignore";
const SUPPRESSIONS = /^suppressions?$/i;

/** What a reason in words means; the first that fits. */
const reasons: readonly {
  readonly words: RegExp;
  readonly list: string;
  readonly status: SubscriberStatus;
}[] = [
  { words: /complain|spam|abuse/i, list: "Suppressed before: complained", status: "complained" },
  { words: /bounce|invalid|clean|hard|unknown user/i, list: "Suppressed before: bounced", status: "bounced" },
  { words: /unsub|opt.?out/i, list: "Suppressed before: unsubscribed", status: "unsubscribed" },
];
const OTHER_REASON = { list: "Suppressed before", status: "unsubscribed" } as const;

export async function* readCsvFolder(path: string, options: SourceOptions): Source {
  const files = (await openGivenFiles(path, options.folder)).filter(({ name }) => !/\.html?$/i.test(name));
  const ofPeople = files.filter(isOfPeople);
  if ((options.status !== undefined || options.statusesOfFiles.size > 0) && ofPeople.length === 0) {
    throw new Error(`--status is for files of people, and ${path} has suppressions alone: leave it out`);
  }
  const statuses = statusesOfFiles(ofPeople, options.statusesOfFiles);
  for (const file of files) {
    const status = statuses.get(file) ?? options.status;
    yield* isOfPeople(file) ? readList(file, { ...options, status }) : readSuppressions(file);
  }
}

function isOfPeople(file: GivenFile): boolean {
  return !SUPPRESSIONS.test(listNameOf(file));
}

async function* readSuppressions(file: GivenFile): AsyncGenerator<Given> {
  const columns = ["email", "address", "entry_value", "domain"];
  const csv = await openNamedRows(file, columns);
  for await (const row of csv.rows()) {
    const reason = row.of("reason", "type", "status");
    const { list, status } = reasons.find(({ words }) => words.test(reason)) ?? OTHER_REASON;
    yield { kind: "suppression", list, value: row.of(...columns), status };
  }
}

async function* readList(file: GivenFile, options: ListOptions): AsyncGenerator<Given> {
  try {
    yield* readPeople(file, options);
  } catch (fault) {
    throw faultInFile(file, fault);
  }
}

/** @throws ApiError BAD_REQUEST for a file that is no table, or whose sender has to say who gets no mail */
async function* readPeople(file: GivenFile, options: ListOptions): AsyncGenerator<Given> {
  const { table, rows, others } = await openList(file, options);
  yield { kind: "list", key: file.name, name: listNameOf(file) };
  for (const warning of table.warnings) yield { kind: "note", text: sentenceOfFile(file, warning) };
  for await (const { line, cells } of table.file.rows()) {
    if (line <= table.header.line || cells.every((cell) => cell.trim() === "")) continue;
    const { person, faults } = rows.read(cells);
    if (faults.length > 0) {
      yield {
        kind: "omission",
        what: person === undefined ? "person" : "value",
        where: `${file.name}, line ${line}`,
        name: person?.email ?? cells[table.columns.email.place] ?? "",
        reason: faults.map(({ column, reason }) => `${column}: ${reason}`).join("; "),
      };
    }
    if (person === undefined) continue;
    yield {
      kind: "person",
      email: person.email,
      first_name: person.first_name ?? "",
      last_name: person.last_name ?? "",
      ...(table.columns.source && { source: person.source }),
      row: { file: file.name, line },
      memberships: [{ list: file.name, status: person.status ?? "active" }],
      values: others.map(({ place, header }) => [header, unguardFormula(cells[place] ?? "")] as const),
    };
  }
}

async function openList(file: GivenFile, { status, optOutColumns }: ListOptions) {
  const table: Table = await openTable(file.path, {}, []);
  // A folder has files with different columns.
  const names = new Set([IGNORE, ...table.header.cells.map((name) => name.trim().toLowerCase())]);
  const named = optOutColumns.filter((name) => names.has(name.trim().toLowerCase()));
  const choice = { status: status ?? null, opt_out_column: named };
  const optOuts = await findOptOutColumns(table.file, table.header, table.columns, choice);
  const unclear = unclearFileName(basename(file.name), optOuts, choice);
  if (unclear !== undefined) throw new ApiError("BAD_REQUEST", unclear);
  const dates = new DateReader({ timeZone: "UTC" });
  const rows = new RowReader({
    columns: table.columns,
    fields: [],
    optOuts,
    wholeStatus: choice.status,
    datesOf: () => dates,
    isBroken: (cell) => table.file.isBroken(cell),
  });
  const others = table.columns.skipped.filter(({ place }) => !optOuts.some((one) => one.place === place));
  return { table, rows, others };
}
