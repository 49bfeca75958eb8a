/** Monthly statements over HTTP, as JSON and CSV. They are sums of the ledger: they know no taxes. */
import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import { csvLine } from "#platform/csv/write.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { QueryField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import { formatMoney } from "#workspace/billing/format-money.ts";
import { transactionTypes } from "#workspace/billing/ledger-store.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { calendarMonth, type Period } from "#workspace/billing/periods.ts";
import { billing } from "#workspace/billing/permission.ts";
import { meterKinds, type Plans } from "#workspace/billing/plans.ts";
import { CURRENCY } from "#workspace/billing/shapes.ts";
import { listStatementLines, type StatementLine, sumStatement } from "./store.ts";

/** Lines in the JSON; the file has all. */
const MOST_LINES = 1_000;

const money = (what: string) => Type.String({ description: `${what}, in US dollars, an exact decimal.` });

const Line = Type.Object(
  {
    transaction_type: Type.Enum([...transactionTypes], { description: "What the line is." }),
    kind: nullable(Type.Enum([...meterKinds], { description: "What was used; null for other types." })),
    description: Type.String({ description: "For people." }),
    quantity: nullable(Type.Integer({ description: "Units; null where the line has no price of a unit." })),
    unit_rate: nullable(money("Price of a unit; null where the line has none")),
    amount: money("Amount; positive if it adds to the balance"),
    receipt_number: nullable(
      Type.String({
        description: "Receipt of a single entry; null for usage, which is the sum of its days.",
      }),
    ),
    from: described(Timestamp, "When its first entry was made, in UTC."),
    to: described(Timestamp, "When its last entry was completed, in UTC."),
  },
  { $id: "StatementLine" },
);

const Statement = Type.Object(
  {
    month: Type.String({ description: "The month, YYYY-MM." }),
    period_start: described(Timestamp, "Start of the month in UTC."),
    period_end: described(Timestamp, "Start of the next month in UTC."),
    is_closed: Type.Boolean({
      description: "Whether the month has ended: then the statement stays as it is.",
    }),
    currency: Type.Literal(CURRENCY, { description: "Currency of all amounts: US dollars." }),
    opening_balance: money("Balance at the start of the month"),
    closing_balance: money("Balance at its end, or now"),
    sums: Type.Object(
      {
        topups: money("Payments"),
        usage: money("Usage beyond the allowance"),
        refunds: money("Usage that was returned"),
        subscriptions: money("Charges for subscriptions"),
        adjustments: money("Corrections by the operator"),
      },
      { description: "Sums by type, with their signs: opening balance and sums are the closing balance." },
    ),
    lines: Type.Array(Line, {
      description: `In the order of time, at most ${MOST_LINES.toLocaleString("en")}; \`GET /billing/statement/export\` has all.`,
    }),
    is_complete: Type.Boolean({ description: "Whether `lines` are all. The sums always are." }),
  },
  { $id: "BillingStatement" },
);

/** The query parameter `month`; undefined if absent. */
const monthField: QueryField<string | undefined> = {
  schema: Type.String({ maxLength: 7, description: "A month such as 2026-03; by default the present one." }),
  read(text, name) {
    if (text === undefined || text === "") return undefined;
    if (/^[12]\d{3}-(0[1-9]|1[0-2])$/.test(text)) return text;
    throw invalid({ field: name, message: `${name} must be a month such as 2026-03` });
  },
};

interface StatementDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
}

export function statementEndpoints(deps: StatementDeps): Endpoint[] {
  const { db } = deps;
  const read = need(billing, "read");
  return [
    endpoint({
      id: "getBillingStatement",
      method: "GET",
      path: "/billing/statement",
      mayTakeLong: "reading",
      summary: "The statement of a month: lines, sums, and the balance before and after",
      description:
        "A month of the ledger, in UTC, for bookkeeping and for invoices that the operator writes. Usage is one line for each kind and price. Payments count in the month in which they were completed. It has no taxes.",
      needs: read,
      query: { month: monthField },
      answer: Statement,
      message: "Statement",
      handle: ({ caller, query }) => statementOf(deps, caller.workspaceId, query.month),
    }),
    endpoint({
      id: "exportBillingStatement",
      method: "GET",
      path: "/billing/statement/export",
      mayTakeLong: "reading",
      summary: "The lines of a monthly statement as a CSV file",
      description: "A header row and one row for each line of the statement, without a limit.",
      needs: read,
      query: { month: monthField },
      answer: fileShape("text/csv", "One row a line, in the order of time."),
      async handle({ caller: { workspaceId }, query }) {
        const period = await settledPeriod(deps, workspaceId, query.month);
        const name = `statement-${period.start.toISOString().slice(0, 7)}.csv`;
        return new FileAnswer(name, Readable.from(statementLines(db, workspaceId, period)));
      },
    }),
  ];
}

async function statementOf(
  deps: StatementDeps,
  workspaceId: WorkspaceId,
  month: string | undefined,
): Promise<Static<typeof Statement>> {
  const { db, clock } = deps;
  const period = await settledPeriod(deps, workspaceId, month);
  const [sums, lines] = await Promise.all([
    sumStatement(db, workspaceId, period),
    listStatementLines(db, workspaceId, period, { limit: MOST_LINES + 1, after: 0 }),
  ]);
  return {
    month: period.start.toISOString().slice(0, 7),
    period_start: period.start,
    period_end: period.end,
    is_closed: period.end <= clock.now(),
    currency: CURRENCY,
    opening_balance: formatMoney(sums.opening_balance),
    closing_balance: formatMoney(sums.closing_balance),
    sums: {
      topups: formatMoney(sums.topups),
      usage: formatMoney(sums.usage),
      refunds: formatMoney(sums.refunds),
      subscriptions: formatMoney(sums.subscriptions),
      adjustments: formatMoney(sums.adjustments),
    },
    lines: lines.slice(0, MOST_LINES).map(shownLine),
    is_complete: lines.length <= MOST_LINES,
  };
}

/**
 * The period of a month, with the usage that is metered but was not in the ledger yet.
 * @throws ApiError VALIDATION_ERROR for a month that has not begun
 */
async function settledPeriod(
  { db, clock, plans }: StatementDeps,
  workspaceId: WorkspaceId,
  month: string | undefined,
): Promise<Period> {
  const now = clock.now();
  const period = calendarMonth(month === undefined ? now : new Date(`${month}-01T00:00:00Z`));
  if (period.start > now) throw invalid({ field: "month", message: "month must not be in the future" });
  await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
  return period;
}

function shownLine({ unit_rate, amount, ...line }: StatementLine) {
  return { ...line, unit_rate: unit_rate && formatMoney(unit_rate), amount: formatMoney(amount) };
}

const columns = [
  "from",
  "to",
  "transaction_type",
  "kind",
  "description",
  "quantity",
  "unit_rate",
  "amount",
  "receipt_number",
] as const;
const digits: readonly string[] = ["quantity", "unit_rate", "amount"];

/** Lines of the file, read as they are consumed. */
async function* statementLines(db: Queryable, workspaceId: WorkspaceId, period: Period) {
  yield csvLine(columns);
  for (let after = 0; ; after += MOST_LINES) {
    const rows = await listStatementLines(db, workspaceId, period, { limit: MOST_LINES, after });
    yield rows.map((row) => csvLine(columns.map((column) => cellOf(shownLine(row), column)))).join("");
    if (rows.length < MOST_LINES) return;
  }
}

function cellOf(row: ReturnType<typeof shownLine>, column: (typeof columns)[number]) {
  const value = row[column];
  if (value === null) return "";
  if (value instanceof Date) return value.toISOString();
  return digits.includes(column) ? { digits: String(value) } : String(value);
}
