/** The ledger as a CSV file. */
import { csvLine } from "#platform/csv/write.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { readTransactions, type TransactionFilter } from "./read-ledger-store.ts";
import { shownTransaction } from "./shapes.ts";

const exportedColumns = [
  "id",
  "created_at",
  "transaction_type",
  "gateway",
  "description",
  "amount",
  "currency",
  "status",
  "receipt_number",
] as const;

/** Lines of the file, read from the database as they are consumed. */
export async function* transactionLines(db: Queryable, workspaceId: WorkspaceId, filter: TransactionFilter) {
  yield csvLine(exportedColumns);
  for await (const rows of readTransactions(db, workspaceId, filter)) {
    yield rows
      .map(shownTransaction)
      .map((row) =>
        csvLine(
          exportedColumns.map((column) => {
            const value = row[column];
            if (value instanceof Date) return value.toISOString();
            return column === "amount" ? { digits: row.amount } : (value ?? "");
          }),
        ),
      )
      .join("");
  }
}
