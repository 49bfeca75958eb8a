/** One DMARC report, with its records and its document. */
import sql from "sql-template-tag";
import type { ReportRefusalReason } from "#inbound/reports/report-refusal-sentences.ts";
import type { DmarcReportRow } from "#inbound/reports/store.ts";
import type { UnreadRecords } from "#mail/reports/dmarc-report.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A report of a sending domain of the workspace. */
export interface ReportPlace {
  readonly workspaceId: WorkspaceId;
  readonly sendingDomainId: string;
  readonly reportId: string;
}

export interface WholeDmarcReport extends Omit<DmarcReportRow, "policy"> {
  readonly email: string | null;
  /** The published record as the receiver found it, by tag. */
  readonly policy: Readonly<Record<string, string | number | null>>;
  readonly unread: readonly UnreadRecords<ReportRefusalReason>[];
  readonly has_xml: boolean;
}

const place = ({ workspaceId, sendingDomainId, reportId }: ReportPlace) => sql`
  workspace_id = ${workspaceId} and sending_domain_id = ${sendingDomainId} and id = ${reportId}`;

export function findDmarcReport(db: Queryable, report: ReportPlace): Promise<WholeDmarcReport | undefined> {
  return db.row(sql`
    select id, org_name, email, report_id, policy_domain, policy, begins_at, ends_at, messages, records, unread,
      received_at, xml is not null as has_xml
    from dmarc_reports where ${place(report)}`);
}

export interface DmarcRecordRow {
  readonly source_ip: string;
  readonly host: string | null;
  readonly messages: number;
  readonly disposition: string | null;
  readonly dkim: string | null;
  readonly spf: string | null;
  readonly header_from: string;
  readonly envelope_from: string | null;
}

/** In the order of the report. */
export function listDmarcRecords(
  db: Queryable,
  workspaceId: WorkspaceId,
  reportId: string,
  { limit, offset }: Page,
): Promise<DmarcRecordRow[]> {
  return db.rows(sql`
    select host(d.source_ip) as source_ip, h.host, d.count as messages, d.disposition, d.dkim, d.spf, d.header_from,
      d.envelope_from
    from dmarc_records d left join source_hosts h on h.ip = d.source_ip
    where d.workspace_id = ${workspaceId} and d.dmarc_report_id = ${reportId}
    order by d.position limit ${limit} offset ${offset}`);
}

/** The document as gzip; undefined if there is no such report, null if its document was not kept. */
export async function findDmarcXml(db: Queryable, report: ReportPlace): Promise<Buffer | null | undefined> {
  const row = await db.row<{ xml: Buffer | null }>(sql`select xml from dmarc_reports where ${place(report)}`);
  return row?.xml;
}
