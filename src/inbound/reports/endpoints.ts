/** Endpoints of the DMARC and TLS reports about a sending domain. */
import { Type } from "typebox";
import { sendingDomains } from "#identity/sending-domains/permission.ts";
import { findSendingDomain } from "#identity/sending-domains/store.ts";
import type { UnreadRecords } from "#mail/reports/dmarc-report.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { pageFields, windowField } from "#platform/http/request/query.ts";
import { offsetOf, Pagination, pagination } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
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
  sumTls,
} from "./store.ts";

const MOST_DAYS = 365;
/** Sources and refused reports shown, and records read for the sources, which take up to half a second. */
const MOST = { sources: 100, records: 150_000, refused: 50 };

const sums = {
  messages: Type.Integer({ description: "Messages that receivers saw." }),
  passed: Type.Integer({ description: "Messages that passed DMARC, by DKIM or by SPF." }),
  dkim_aligned: Type.Integer(),
  spf_aligned: Type.Integer(),
  quarantined: Type.Integer({ description: "Filed as spam because of the policy." }),
  rejected: Type.Integer({ description: "Refused because of the policy." }),
};

const codes = `Codes: ${Object.keys(refusalSentences).join(", ")}.`;

const unread = Type.Array(
  Type.Object({
    reason: Type.String({ description: codes }),
    message: Type.String(),
    records: Type.Integer(),
  }),
  { description: "Records that could not be read and are not counted, by reason." },
);

const put_aside = Type.Object(
  {
    total: Type.Integer({ description: `Of the newest ${limits.refusedReportsPerDomain.most}.` }),
    reports: Type.Array(
      Type.Object(
        {
          id: Id,
          reason: Type.String({ description: codes }),
          message: Type.String({ description: "The reason as a sentence." }),
          detail: nullable(
            Type.String({ description: "What the reason is about, such as the other domain." }),
          ),
          file_name: nullable(Type.String()),
          sender: nullable(Type.String({ description: "The domain in the mail's From." })),
          received_at: Timestamp,
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
    window_days: Type.Integer(),
    totals: Type.Object(sums),
    sources: Type.Array(Type.Object({ source_ip: Type.String(), ...sums }, { $id: "DmarcSource" }), {
      description: `Sending IP addresses with the most messages, at most ${MOST.sources}; from the newest reports with together at most ${MOST.records} records.`,
    }),
    reports: Type.Array(
      Type.Object(
        {
          id: Id,
          org_name: Type.String({ description: "The reporting organisation." }),
          report_id: Type.String({ description: "The reporter's id of the report." }),
          policy_domain: Type.String({ description: "The domain whose DMARC record was found." }),
          policy: nullable(Type.String({ description: "`p` of that record." })),
          begins_at: Timestamp,
          ends_at: Timestamp,
          messages: Type.Integer(),
          records: Type.Integer({ description: "Groups of messages with the same source and results." }),
          unread,
          received_at: Timestamp,
        },
        { $id: "DmarcReport" },
      ),
    ),
    put_aside,
    pagination: Pagination,
  },
  { $id: "DmarcReports" },
);

const TlsReports = Type.Object(
  {
    window_days: Type.Integer(),
    totals: Type.Object({
      successful: Type.Integer({ description: "Sessions with TLS." }),
      failed: Type.Integer({ description: "Sessions that failed because of TLS." }),
    }),
    reports: Type.Array(
      Type.Object(
        {
          id: Id,
          organization_name: Type.String({ description: "The reporting organisation." }),
          report_id: Type.String({ description: "The reporter's id of the report." }),
          begins_at: Timestamp,
          ends_at: Timestamp,
          successful: Type.Integer(),
          failed: Type.Integer(),
          failures: Type.Array(
            Type.Object({
              result_type: Type.String({ description: "RFC 8460 section 4.3." }),
              policy_type: Type.String(),
              failed: Type.Integer(),
              sending_mta_ip: nullable(Type.String()),
              receiving_mx_hostname: nullable(Type.String()),
              failure_reason_code: nullable(Type.String()),
            }),
          ),
          unread,
          received_at: Timestamp,
        },
        { $id: "TlsReport" },
      ),
    ),
    put_aside,
    pagination: Pagination,
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
      needs: need(sendingDomains, "read"),
      query,
      answer: DmarcReports,
      message: "DMARC reports",
      async handle({ caller, params, query }) {
        const scope = await scopeOf(deps, caller.workspaceId, params.id, query.window_days);
        const [totals, sources, total, reports, refused] = await Promise.all([
          sumDmarc(db, scope),
          listDmarcSources(db, scope, MOST),
          countDmarcReports(db, scope),
          listDmarcReports(db, scope, { limit: query.limit, offset: offsetOf(query) }),
          listRefusedReports(db, scope, "dmarc"),
        ]);
        const { window_days } = query;
        return {
          window_days,
          totals,
          sources,
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
