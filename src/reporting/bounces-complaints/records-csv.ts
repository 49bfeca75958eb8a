/** Bounces and complaints as CSV files. */
import { csvLine } from "#platform/csv/write.ts";
import type { Page } from "#platform/database/page.ts";
import type { BounceRow, ComplaintRow } from "./records-store.ts";

/** Rows of a file. */
export const MOST_RECORDS_EXPORTED = 100_000;
const ROWS_AT_ONCE = 1_000;

const ofMessage = ["source", "campaign_id", "origin_name", "message_id", "id"] as const;
export const bounceColumns = [
  "created_at",
  "email",
  "domain",
  "bounce_type",
  "category",
  "smtp_code",
  "enhanced_code",
  "error_message",
  ...ofMessage,
] as const satisfies (keyof BounceRow)[];
export const complaintColumns = [
  "created_at",
  "email",
  "domain",
  "feedback_type",
  "provider",
  ...ofMessage,
] as const satisfies (keyof ComplaintRow)[];

type Cell = string | number | Date | null;

/**
 * Lines of the file, read from the database as they are consumed.
 * @param read a page of the rows, newest first
 */
export async function* recordLines<Column extends string>(
  columns: readonly Column[],
  read: (
    page: Page,
  ) => Promise<readonly (Readonly<Record<Column, Cell>> & { id: string; created_at: Date })[]>,
) {
  yield csvLine(columns);
  let behind: Pick<Page, "after" | "afterKey"> = {};
  for (let written = 0; written < MOST_RECORDS_EXPORTED; written += ROWS_AT_ONCE) {
    const rows = await read({ limit: ROWS_AT_ONCE, offset: 0, ...behind });
    yield rows.map((row) => csvLine(columns.map((column) => cellOf(row[column])))).join("");
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return;
    behind = { after: last.id, afterKey: last.created_at.toISOString() };
  }
}

function cellOf(value: Cell): string | number {
  return value instanceof Date ? value.toISOString() : (value ?? "");
}
