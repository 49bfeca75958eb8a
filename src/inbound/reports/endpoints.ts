/** Endpoints of the DMARC and TLS reports about a sending domain. */
import { Type } from "typebox";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { findSendingDomain } from "#identity/sending-domains/store.ts";
import { withOrganisation } from "#inbound/sources/organisation.ts";
import type { UnreadRecords } from "#mail/reports/dmarc-report.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields, windowField } from "#platform/http/request/query.ts";
import { offsetOf, Pagination, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { listRefusedReports, type RefusedReportRow } from "./refused-store.ts";
import { type ReportRefusalReason, refusalSentences } from "./report-refusal-sentences.ts";
import {
  countDmarcReports,
  listDmarcReports,
  listDmarcSources,
  listTlsReports,
  type ReportScope,
  sumDmarc,
  sumDmarcByDay,
  sumTls,
} from "./store.ts";

const MOST_DAYS = 365;
/** Sources and refused reports shown, and records read for the sources, which take up to half a second. */
const MOST = { sources: 100, records: 150_000, refused: 50 };

const sums = {
  messages: Type.Integer({ description: "Messages that receivers saw." }),
  passed: Type.Integer({ description: "Messages that passed DMARC, by DKIM or by SPF." }),
  dkim_aligned: Type.Integer({ description: "Messages with an aligned DKIM signature." }),
  spf_aligned: Type.Integer({ description: "Messages with an aligned SPF result." }),
  quarantined: Type.Integer({ description: "Filed as spam because of the policy." }),
  rejected: Type.Integer({ description: "Refused because of the policy." }),
};

const codes = `Codes: ${Object.keys(refusalSentences).join(", ")}.`;

const unread = Type.Array(
  Type.Object({
    reason: Type.String({ description: codes }),
    message: Type.String({ description: "Why they could not be read, for people." }),
    records: Type.Integer({ description: "Number of records that it concerns." }),
  }),
  { description: "Records that could not be read and are not counted, by reason." },
);

const put_aside = Type.Object(
  {
    total: Type.Integer({ description: `Of the newest ${limits.refusedReportsPerDomain.most}.` }),
    reports: Type.Array(
      Type.Object(
        {
          id: described(Id, "Id of the file."),
          reason: Type.String({ description: codes }),
          message: Type.String({ description: "The reason as a sentence." }),
          detail: nullable(
            Type.String({ description: "What the reason is about, such as the other domain." }),
          ),
          file_name: nullable(Type.String({ description: "Name of the attachment; null if it had none." })),
          sender: nullable(Type.String({ description: "The domain in the mail's From." })),
          received_at: described(Timestamp, "When it arrived, in UTC."),
        },
        { $id: "RefusedReport" },
      ),
      { description: `Newest first, at most ${MOST.refused}.` },
    ),
  },
  {
    $id: "RefusedReports",
    description: "Reports to the domain's address that were refused as a whole, by time of arrival.",
  },
);

const DmarcReports = Type.Object(
  {
    window_days: Type.Integer({ description: "Days up to now that the totals count." }),
    totals: Type.Object(sums, { description: "Sums over all reports of the window." }),
    days: Type.Array(
      Type.Object({
        date: Type.String({
          format: "date",
          description: "The UTC day in which the middle of a report's time is: reports cover a day each.",
        }),
        ...sums,
      }),
      { description: "Sums by day, oldest first; days without reports are left out." },
    ),
    sources: Type.Array(
      Type.Object(
        {
          source_ip: Type.String({ description: "Address that sent the messages." }),
          host: nullable(
            Type.String({
              description:
                "Host name of the address, which leads back to it; null if it has none, or is not looked up yet.",
            }),
          ),
          organisation: nullable(
            Type.String({
              description:
                "Who sends from there: a well-known sender such as `Google`, or the registered domain of the host. Null without a host.",
            }),
          ),
          ...sums,
        },
        { $id: "DmarcSource" },
      ),
      {
        description: `Sending IP addresses with the most messages, at most ${MOST.sources}; from the newest reports with together at most ${MOST.records} records.`,
      },
    ),
    reports: Type.Array(
      Type.Object(
        {
          id: described(Id, "Id of the report."),
          org_name: Type.String({ description: "The reporting organisation." }),
          report_id: Type.String({ description: "The reporter's id of the report." }),
          policy_domain: Type.String({ description: "The domain whose DMARC record was found." }),
          policy: nullable(Type.String({ description: "`p` of that record." })),
          begins_at: described(Timestamp, "Start of the time that it covers, in UTC."),
          ends_at: described(Timestamp, "End of the time that it covers, in UTC."),
          messages: Type.Integer({ description: "Messages in the report." }),
          records: Type.Integer({ description: "Groups of messages with the same source and results." }),
          unread,
          received_at: described(Timestamp, "When the report arrived, in UTC."),
        },
        { $id: "DmarcReport" },
      ),
      { description: "The reports, newest first." },
    ),
    put_aside,
    pagination: described(Pagination, "The page of reports."),
  },
  { $id: "DmarcReports" },
);

const TlsReports = Type.Object(
  {
    window_days: Type.Integer({ description: "Days up to now that the totals count." }),
    totals: Type.Object(
      {
        successful: Type.Integer({ description: "Sessions with TLS." }),
        failed: Type.Integer({ description: "Sessions that failed because of TLS." }),
      },
      { description: "Sums over all reports of the window." },
    ),
    reports: Type.Array(
      Type.Object(
        {
          id: described(Id, "Id of the report."),
          organization_name: Type.String({ description: "The reporting organisation." }),
          report_id: Type.String({ description: "The reporter's id of the report." }),
          begins_at: described(Timestamp, "Start of the time that it covers, in UTC."),
          ends_at: described(Timestamp, "End of the time that it covers, in UTC."),
          successful: Type.Integer({ description: "Sessions with TLS." }),
          failed: Type.Integer({ description: "Sessions without TLS although it was required." }),
          failures: Type.Array(
            Type.Object({
              result_type: Type.String({ description: "RFC 8460 section 4.3." }),
              policy_type: Type.String({
                description: "The policy that was applied: `sts`, `tlsa` or `no-policy-found`.",
              }),
              failed: Type.Integer({ description: "Sessions that failed this way." }),
              sending_mta_ip: nullable(
                Type.String({ description: "Address of the sending server; null if the report has none." }),
              ),
              receiving_mx_hostname: nullable(
                Type.String({ description: "Host of the receiving server; null if the report has none." }),
              ),
              failure_reason_code: nullable(
                Type.String({ description: "The reporter's own code; null if the report has none." }),
              ),
            }),
            { description: "The failures by kind." },
          ),
          unread,
          received_at: described(Timestamp, "When the report arrived, in UTC."),
        },
        { $id: "TlsReport" },
      ),
      { description: "The reports, newest first." },
    ),
    put_aside,
    pagination: described(Pagination, "The page of reports."),
  },
  { $id: "TlsReports" },
);

interface ReportDeps {
  readonly db: Database;
  readonly clock: Clock;
}

export function domainReportEndpoints(deps: ReportDeps): Endpoint[] {
  const { db } = deps;
  const query = { window_days: windowField(MOST_DAYS), ...pageFields() };
  return [
    endpoint({
      id: "listDmarcReports",
      method: "GET",
      path: "/sending-domains/{id}/dmarc-reports",
      mayTakeLong: "reading",
      summary: "List DMARC reports about the domain, with totals by source",
      description:
        "The sources that send mail in the name of the domain, and whether it passes DMARC, as the receivers report it. Use it to find senders that are not set up yet before `p=reject` is published. Reports come once a day.",
      needs: need(sendingDomains, "read"),
      query,
      answer: DmarcReports,
      message: "DMARC reports",
      async handle({ caller, params, query }) {
        const scope = await scopeOf(deps, caller.workspaceId, params.id, query.window_days);
        const [totals, days, sources, total, reports, refused] = await Promise.all([
          sumDmarc(db, scope),
          sumDmarcByDay(db, scope),
          listDmarcSources(db, scope, MOST),
          countDmarcReports(db, scope),
          listDmarcReports(db, scope, { limit: query.limit, offset: offsetOf(query) }),
          listRefusedReports(db, scope, "dmarc"),
        ]);
        const { window_days } = query;
        return {
          window_days,
          totals,
          days,
          sources: sources.map(withOrganisation),
          reports: reports.map(withSentences),
          put_aside: putAside(refused),
          pagination: pagination(query, total),
        };
      },
    }),
    endpoint({
      id: "listTlsReports",
      method: "GET",
      path: "/sending-domains/{id}/tls-reports",
      mayTakeLong: "reading",
      summary: "List TLS reports (TLS-RPT): how often others could deliver to the domain over TLS",
      description:
        "Other servers report how often they could deliver to the domain over TLS. Use it before and after a policy of MTA-STS or DANE is published.",
      needs: need(sendingDomains, "read"),
      query,
      answer: TlsReports,
      message: "TLS reports",
      async handle({ caller, params, query }) {
        const scope = await scopeOf(deps, caller.workspaceId, params.id, query.window_days);
        const [{ total, ...totals }, reports, refused] = await Promise.all([
          sumTls(db, scope),
          listTlsReports(db, scope, { limit: query.limit, offset: offsetOf(query) }),
          listRefusedReports(db, scope, "tls"),
        ]);
        return {
          window_days: query.window_days,
          totals,
          reports: reports.map(withSentences),
          put_aside: putAside(refused),
          pagination: pagination(query, total),
        };
      },
    }),
  ];
}

function withSentences<Report extends { readonly unread: readonly UnreadRecords<ReportRefusalReason>[] }>(
  report: Report,
) {
  const unread = report.unread.map((one) => ({ ...one, message: refusalSentences[one.reason] }));
  return { ...report, unread };
}

function putAside(refused: readonly RefusedReportRow[]) {
  const reports = refused
    .slice(0, MOST.refused)
    .map((report) => ({ ...report, message: refusalSentences[report.reason] }));
  return { total: refused.length, reports };
}

/** @throws ApiError NOT_FOUND */
async function scopeOf(
  { db, clock }: ReportDeps,
  workspaceId: WorkspaceId,
  id: string,
  days: number,
): Promise<ReportScope> {
  required(await findSendingDomain(db, workspaceId, id), "Sending domain");
  return { workspaceId, sendingDomainId: id, since: new Date(clock.now().getTime() - days * DAY_MS) };
}
