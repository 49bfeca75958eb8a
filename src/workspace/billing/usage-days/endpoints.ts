/** Usage by day over HTTP: how much was used and charged of each kind, and the messages by what sent them. */
import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { dayField } from "#platform/http/request/day-parameters.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { formatMoney } from "#workspace/billing/format-money.ts";
import { settleAccount } from "#workspace/billing/meter.ts";
import { billing } from "#workspace/billing/permission.ts";
import { type MeterKind, meterKinds, type Plans } from "#workspace/billing/plans.ts";
import { type DaySpan, type DayUse, listDayUse } from "#workspace/billing/read-ledger-store.ts";

const DEFAULT_DAYS = 30;
const FIRST_YEAR = 2000;
const MOST_DAYS = 366;

const sources = ["api", "smtp", "campaign", "autoresponder"] as const;
type Source = (typeof sources)[number];

const DayOfKind = Type.Object(
  {
    used: Type.Integer({ description: "Units that were taken." }),
    returned: Type.Integer({ description: "Units that were given back." }),
    charged: Type.String({
      description:
        "Charges beyond the allowance in US dollars, less what was returned, an exact decimal; on the day on which the ledger has them, which may be minutes after the use.",
    }),
  },
  { $id: "UsageOfKind", description: "Usage of one kind on one day." },
);

const UsageDay = Type.Object(
  {
    date: Type.String({ format: "date", description: "A UTC day, as in the ledger." }),
    ...(Object.fromEntries(meterKinds.map((kind) => [kind, DayOfKind])) as Record<
      MeterKind,
      typeof DayOfKind
    >),
    messages: Type.Object(
      Object.fromEntries(
        sources.map((source) => [source, Type.Integer({ description: `Messages of the source ${source}.` })]),
      ) as Record<Source, ReturnType<typeof Type.Integer>>,
      {
        description:
          "Messages of the day by what sent them, without suppressed and cancelled ones. SMS are included, which take no email.",
      },
    ),
  },
  { $id: "UsageDay" },
);

export interface UsageDaysDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  /** Messages by UTC day and source, without suppressed and cancelled ones. */
  readonly countMessagesByDay: (
    db: Queryable,
    workspaceId: WorkspaceId,
    span: { readonly from: Date; readonly to: Date },
  ) => Promise<readonly { readonly date: string; readonly source: string; readonly messages: number }[]>;
}

export function usageDaysEndpoints({ db, clock, plans, countMessagesByDay }: UsageDaysDeps): Endpoint[] {
  return [
    endpoint({
      id: "listUsageDays",
      method: "GET",
      path: "/billing/usage/days",
      mayTakeLong: "reading",
      summary: "Usage and charges by day, and messages by source",
      description:
        "Every day from `start_date` to `end_date`, both included, by default the last 30: emails, validations and blacklist checks that were used and charged. Usage is counted since the version that has this; charges and messages are complete.",
      needs: need(billing, "read"),
      query: {
        start_date: dayField("First UTC day; by default 29 days before the last."),
        end_date: dayField("Last UTC day; by default today."),
      },
      answer: Type.Object({
        days: Type.Array(UsageDay, { description: `The days, oldest first, ${MOST_DAYS} at most.` }),
      }),
      message: "Usage by day",
      async handle({ caller: { workspaceId }, query }) {
        const now = clock.now();
        const today = Temporal.PlainDate.from(now.toISOString().slice(0, 10));
        const to = query.end_date ?? today;
        const from = query.start_date ?? to.subtract({ days: DEFAULT_DAYS - 1 });
        // Before this there is no usage, and PostgreSQL has no year 0.
        if (from.year < FIRST_YEAR)
          throw invalid({ field: "start_date", message: `start_date must be in ${FIRST_YEAR} or later` });
        const days = from.until(to).days + 1;
        if (days < 1)
          throw invalid({ field: "start_date", message: "start_date must not be after end_date" });
        if (days > MOST_DAYS) {
          throw invalid({
            field: "end_date",
            message: `end_date must be at most ${MOST_DAYS} days after start_date`,
          });
        }
        // Counts the usage that is metered but not yet in the ledger.
        await db.transaction((tx) => settleAccount(tx, plans, workspaceId, now));
        const dates = Array.from({ length: days }, (_, at) => from.add({ days: at }).toString());
        const span: DaySpan = { from: from.toString(), to: to.toString() };
        const [uses, messages] = await Promise.all([
          listDayUse(db, workspaceId, span),
          countMessagesByDay(db, workspaceId, {
            from: startOf(from),
            to: startOf(to.add({ days: 1 })),
          }),
        ]);
        return { days: daysOf(dates, uses, messages) };
      },
    }),
  ];
}

const startOf = (day: Temporal.PlainDate) => new Date(`${day.toString()}T00:00:00Z`);

function daysOf(
  dates: readonly string[],
  uses: readonly DayUse[],
  messages: Awaited<ReturnType<UsageDaysDeps["countMessagesByDay"]>>,
): Static<typeof UsageDay>[] {
  const use = new Map(uses.map((one) => [`${one.date} ${one.kind}`, one]));
  const counted = new Map(messages.map((one) => [`${one.date} ${one.source}`, one.messages]));
  return dates.map((date) => {
    const ofKind = (kind: MeterKind) => {
      const { used = 0, returned = 0, charged = "0" } = use.get(`${date} ${kind}`) ?? {};
      return [kind, { used, returned, charged: formatMoney(charged) }] as const;
    };
    const ofSource = (source: Source) => [source, counted.get(`${date} ${source}`) ?? 0] as const;
    return {
      date,
      ...(Object.fromEntries(meterKinds.map(ofKind)) as Record<MeterKind, Static<typeof DayOfKind>>),
      messages: Object.fromEntries(sources.map(ofSource)) as Record<Source, number>,
    };
  });
}
