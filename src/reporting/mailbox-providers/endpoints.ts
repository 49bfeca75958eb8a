/** Results by mailbox provider over HTTP, with a series by day. */
import { Temporal } from "temporal-polyfill";
import { type Static, Type } from "typebox";
import type { Counts } from "#messages/counters/counters.ts";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { windowField } from "#platform/http/request/query.ts";
import { nullable } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { deliveredOf } from "#reporting/counters/rates.ts";
import { countsByProvider, type ProviderDay } from "./store.ts";

const MOST_DAYS = 90;

const count = (description: string) => Type.Integer({ description });
const figures = {
  total_messages: count("Without those that were suppressed or cancelled."),
  success: count("Delivered, including messages that were complained about later."),
  bounced: count("Messages that bounced."),
  failure: count("Messages that failed for another reason."),
  still_trying: count("Queued, being sent or deferred."),
  complained: count("Messages that were reported as spam."),
  opened: count("Messages that a person opened or clicked in."),
  clicked: count("Messages in which a person clicked."),
};

const MailboxProvider = Type.Object(
  {
    provider: nullable(
      Type.String({
        description:
          "The lane of the provider's mail servers, such as `google`; `default`: all other providers. Null: domains that are not looked up yet, which takes some minutes after the first mail.",
      }),
    ),
    domain_count: count("Recipient domains with mail in the window."),
    percent_total: Type.Number({ description: "Share of all messages, 0 to 100." }),
    ...figures,
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: "date", description: "A UTC day; messages count on the day they came." }),
        ...figures,
      }),
      { description: "The days of the window, oldest first, also those without mail." },
    ),
  },
  { $id: "MailboxProvider" },
);

interface ProviderReportDeps {
  readonly db: Queryable;
  readonly clock: Clock;
}

export function mailboxProviderEndpoints({ db, clock }: ProviderReportDeps): Endpoint[] {
  return [
    endpoint({
      id: "listMailboxProviders",
      method: "GET",
      path: "/deliverability/providers",
      mayTakeLong: "reading",
      summary: "Results by mailbox provider with a series by day, most messages first",
      description:
        "The results of the messages of the window at each mailbox provider. Domains are grouped by their MX, so that the business customers of a provider count as its own. `listRecipientDomains` with `provider` has the domains of one.",
      needs: need(reports, "read"),
      query: { window_days: windowField(MOST_DAYS) },
      answer: Type.Object({
        providers: Type.Array(MailboxProvider, {
          description: "One row a provider with mail, as many as there are lanes at most.",
        }),
        window_days: Type.Integer({ description: "As applied." }),
      }),
      message: "Mailbox providers",
      async handle({ caller: { workspaceId }, query: { window_days } }) {
        const now = clock.now();
        const since = new Date(now.getTime() - window_days * DAY_MS);
        const rows = await countsByProvider(db, workspaceId, since);
        return { providers: providersOf(rows, daysBetween(since, now)), window_days };
      },
    }),
  ];
}

function providersOf(
  rows: readonly ProviderDay[],
  dates: readonly string[],
): Static<typeof MailboxProvider>[] {
  const all = rows.reduce((sum, row) => sum + figuresOf(row).total_messages, 0);
  const providers = [...Map.groupBy(rows, ({ provider }) => provider)].map(([provider, ofProvider]) => {
    const byDate = new Map(ofProvider.map((row) => [row.date, figuresOf(row)]));
    const whole = [...byDate.values()].reduce(added, nothing);
    return {
      provider,
      domain_count: ofProvider[0]?.domain_count ?? 0,
      percent_total: all === 0 ? 0 : Math.round((whole.total_messages / all) * 10_000) / 100,
      ...whole,
      days: dates.map((date) => ({ date, ...(byDate.get(date) ?? nothing) })),
    };
  });
  return providers
    .filter(({ total_messages }) => total_messages > 0)
    .sort((a, b) => b.total_messages - a.total_messages || nameOf(a).localeCompare(nameOf(b)));
}

const nameOf = ({ provider }: { readonly provider: string | null }) => provider ?? "";

type Figures = { readonly [Name in keyof typeof figures]: number };
const names = Object.keys(figures) as (keyof typeof figures)[];
const nothing = Object.fromEntries(names.map((name) => [name, 0])) as Figures;
const added = (sum: Figures, one: Figures) =>
  Object.fromEntries(names.map((name) => [name, sum[name] + one[name]])) as Figures;

function figuresOf(counts: Counts): Figures {
  const success = deliveredOf(counts);
  const still_trying = counts.queued + counts.deferred;
  const { bounced, failed: failure, complained, unique_opens: opened, unique_clicks: clicked } = counts;
  const total_messages = success + bounced + failure + still_trying;
  return { total_messages, success, bounced, failure, still_trying, complained, opened, clicked };
}

/** The UTC days from one time to another. */
function daysBetween(from: Date, to: Date): string[] {
  const day = (time: Date) => Temporal.PlainDate.from(time.toISOString().slice(0, 10));
  const first = day(from);
  return Array.from({ length: first.until(day(to)).days + 1 }, (_, at) => first.add({ days: at }).toString());
}
