/** Deliverability over HTTP: a report of rates, reputation and bounce causes, and the results by recipient domain. */

import sql from "sql-template-tag";
import { Type } from "typebox";
import type { Lane } from "#delivery/lanes/default-lanes.ts";
import type { MessageStatusCounts } from "#messages/counters/counters.ts";
import { type DomainRow, DomainStats, withShare } from "#messages/domain-stats-shape.ts";
import { reports } from "#messages/permission.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { lenientWindowField, pageFields, textField } from "#platform/http/request/query.ts";
import { offsetOf, Pagination, pagination } from "#platform/http/response/pagination.ts";
import { described } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { countsByDomain, totalsOfDays } from "#reporting/counters/breakdowns-store.ts";
import { deliveredOf } from "#reporting/counters/rates.ts";
import { isOfProvider } from "#reporting/mailbox-providers/store.ts";
import { type DeliverabilityDeps, deliverabilityOf } from "./report.ts";
import { Deliverability } from "./shapes.ts";

const MOST_DAYS = 90;
/** Domains whose provider is null. No lane can have this name. */
const NOT_LOOKED_UP = "not_looked_up";

interface Dependencies extends DeliverabilityDeps {
  readonly lanes: readonly Lane[];
}

export function deliverabilityEndpoints(deps: Dependencies): Endpoint[] {
  const { db, clock, lanes } = deps;
  /** @throws ApiError VALIDATION_ERROR, because no row would mean that no mail went there */
  function readProvider(name: string): string | null {
    if (name === NOT_LOOKED_UP) return null;
    if (lanes.some((lane) => lane.name === name)) return name;
    const message = `provider must be one that listMailboxProviders names, such as google, or ${NOT_LOOKED_UP}`;
    throw invalid({ field: "provider", message });
  }

  const needs = need(reports, "read");
  return [
    endpoint({
      id: "getDeliverability",
      method: "GET",
      path: "/deliverability",
      mayTakeLong: "reading",
      summary: "Rates, reputation of sending addresses and domains, and bounces by cause",
      description:
        "How well mail arrives: rates of the window, a score for each address and domain that mail is sent from, bounces by cause, and Google's view if Postmaster Tools are connected.",
      needs,
      isEveryday: true,
      query: { window_days: lenientWindowField(MOST_DAYS) },
      answer: Deliverability,
      message: "Deliverability",
      handle: ({ caller, query }) => deliverabilityOf(deps, caller.workspaceId, query.window_days),
    }),
    endpoint({
      id: "listRecipientDomains",
      method: "GET",
      path: "/deliverability/recipient-domains",
      mayTakeLong: "reading",
      summary: "Results by recipient domain, most messages first",
      description:
        "How the messages of the window fared at each recipient domain, with the sums in `total_row`.",
      needs,
      query: {
        window_days: lenientWindowField(MOST_DAYS),
        provider: textField(
          63,
          `Only domains of this mailbox provider, as \`listMailboxProviders\` names it; \`${NOT_LOOKED_UP}\`: those without one. \`percent_total\` remains a share of all messages.`,
        ),
        ...pageFields(),
      },
      answer: Type.Object({
        stats: Type.Array(DomainStats, { description: "Results by domain, most messages first." }),
        total_row: described(DomainStats, "The sums of all domains."),
        window_days: Type.Integer({ description: "As applied." }),
        pagination: described(Pagination, "The page of domains."),
      }),
      message: "Recipient domains",
      async handle({ caller: { workspaceId }, query }) {
        const since = new Date(clock.now().getTime() - query.window_days * DAY_MS);
        const { provider } = query;
        const isShown =
          provider === undefined ? null : isOfProvider(sql`counted.domain`, readProvider(provider));
        const page = { limit: query.limit, offset: offsetOf(query) };
        const [{ rows, total }, all] = await Promise.all([
          countsByDomain(db, workspaceId, since, page, isShown),
          totalsOfDays(db, workspaceId, since),
        ]);
        const whole = domainRow("total", all);
        return {
          stats: rows.map((row) => withShare(domainRow(row.domain, row), whole.total_messages)),
          total_row: withShare(whole, whole.total_messages),
          window_days: query.window_days,
          pagination: pagination(query, total),
        };
      },
    }),
  ];
}

function domainRow(domain: string, counts: MessageStatusCounts): DomainRow {
  const success = deliveredOf(counts);
  const still_trying = counts.queued + counts.deferred;
  const { bounced, failed: failure } = counts;
  const total_messages = success + bounced + failure + still_trying;
  return { domain, total_messages, success, bounced, failure, still_trying };
}
