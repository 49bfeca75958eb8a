/** The CSV files of a bulk validation: one of the results, one of the addresses without a result. */
import { ErrorsFile } from "#audience/imports/errors-file.ts";
import type { Validation } from "#hygiene/validations/validation.ts";
import { csvLine } from "#platform/csv/write.ts";
import type { LineFile } from "#platform/jobs/line-file.ts";
import type { FileAddress } from "./address-file.ts";

type Cell = string | number | boolean | null | undefined;

const columns: readonly (readonly [name: string, cell: (answer: Validation) => Cell])[] = [
  ["email", ({ email }) => email],
  ["status", ({ status }) => status],
  ["risk_score", ({ risk_score }) => risk_score],
  ["format_valid", ({ format_valid }) => format_valid],
  ["domain_valid", ({ domain_valid }) => domain_valid],
  ["mx_record_found", ({ mx_record_found }) => mx_record_found],
  ["email_exists", ({ email_exists }) => email_exists],
  ["is_catch_all", ({ is_catch_all }) => is_catch_all],
  ["is_disposable", ({ is_disposable }) => is_disposable],
  ["is_role_based", ({ is_role_based }) => is_role_based],
  ["is_complainer", ({ is_complainer }) => is_complainer],
  ["is_honeypot", ({ is_honeypot }) => is_honeypot],
  ["is_free_provider", ({ is_free_provider }) => is_free_provider],
  ["suggestion", ({ suggestion }) => suggestion],
  ["mx_host", ({ mx_host }) => mx_host],
  ["smtp_result", ({ smtp_response }) => smtp_response?.result],
  ["smtp_code", ({ smtp_response }) => smtp_response?.code],
  ["smtp_enhanced_code", ({ smtp_response }) => smtp_response?.enhanced_code],
  ["smtp_message", ({ smtp_response }) => smtp_response?.message],
  ["checked_at", ({ checked_at }) => checked_at.toISOString()],
  ["reason", ({ reason }) => reason],
  ["is_new_domain", ({ is_new_domain }) => is_new_domain],
];

/** The CSV row of a result. */
export function resultRow(answer: Validation): string {
  return csvLine(columns.map(([, cell]) => textOf(cell(answer))));
}

/** Unknown values are empty cells. */
function textOf(cell: Cell): string | number {
  return typeof cell === "boolean" ? String(cell) : (cell ?? "");
}

/** Writes the header and these rows, and closes the file. */
export async function writeResult(file: LineFile, rows: readonly string[]): Promise<void> {
  file.add(csvLine(columns.map(([column]) => column)));
  for (const row of rows) {
    file.add(row);
    if (file.isFull) await file.flush();
  }
  await file.close();
}

/** Writes the addresses that were not validated, with the reason, and closes the file. */
export async function writeRest(file: LineFile, rest: readonly FileAddress[], reason: string): Promise<void> {
  const refusals = new ErrorsFile(file);
  for (const { line, text } of rest) {
    refusals.note(line, { person: undefined, faults: [{ column: "email", value: text, reason }] });
    if (file.isFull) await file.flush();
  }
  await file.close();
}
