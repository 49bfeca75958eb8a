/** DMARC and TLS reports of sending domains. */
import sql from "sql-template-tag";
import type { ReportedDomain } from "#identity/sending-domains/store.ts";
import type { StorableDmarcReport, StorableTlsReport } from "#inbound/parsing/parse-mail-in-threads.ts";
import { storable, storableJson } from "#inbound/parsing/storable-text.ts";
import { noteSourcesSql } from "#inbound/sources/store.ts";
import type { UnreadRecords } from "#mail/reports/dmarc-report.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { ReportRefusalReason } from "./report-refusal-sentences.ts";

const storableOrNull = (text: string | null): string | null => (text === null ? null : storable(text));

/** The fields of DmarcSums except `messages`, over records. */
const results = sql`
  coalesce(sum(count) filter (where dkim = 'pass' or spf = 'pass'), 0)::bigint as passed,
  coalesce(sum(count) filter (where dkim = 'pass'), 0)::bigint as dkim_aligned,
  coalesce(sum(count) filter (where spf = 'pass'), 0)::bigint as spf_aligned,
  coalesce(sum(count) filter (where disposition = 'quarantine'), 0)::bigint as quarantined,
  coalesce(sum(count) filter (where disposition = 'reject'), 0)::bigint as rejected`;
const sums = sql`coalesce(sum(count), 0)::bigint as messages, ${results}`;

/** Counts the reports received after `since`, their records, and the octets of their documents. */
export async function countNewRecords(
  tx: Queryable,
  { workspace_id, id }: ReportedDomain,
  since: Date,
): Promise<{ readonly reports: number; readonly records: number; readonly xml_octets: number }> {
  const counted = await tx.row<{ reports: number; records: number; xml_octets: number }>(sql`
    select count(*) as reports, coalesce(sum(records), 0) as records, coalesce(sum(xml_octets), 0) as xml_octets
    from (
      select records, coalesce(octet_length(xml), 0) as xml_octets from dmarc_reports
      where workspace_id = ${workspace_id} and sending_domain_id = ${id} and received_at > ${since}
      union all
      select 1, 0 from tls_reports
      where workspace_id = ${workspace_id} and sending_domain_id = ${id} and received_at > ${since}) taken`);
  return counted ?? { reports: 0, records: 0, xml_octets: 0 };
}

/**
 * Stores a report with its records. False when it is known already, or has no record about the domain.
 * @param isParents the policy is the organisational domain's: only records about this domain are stored
 * @param keepsXml whether the document is stored, too
 * @param notedSources how many sources, those with the most messages, are noted for the look-up of their host names
 */
export async function insertDmarcReport(
  tx: Queryable,
  domain: ReportedDomain,
  {
    report,
    isParents,
    keepsXml,
    notedSources,
  }: {
    readonly report: StorableDmarcReport;
    readonly isParents: boolean;
    readonly keepsXml: boolean;
    readonly notedSources: number;
  },
  now: Date,
): Promise<boolean> {
  const { domain: policyDomain, ...policy } = report.policy;
  const isOwn = sql`right('.' || lower(r.header_from), length(${domain.domain}) + 1) = '.' || ${domain.domain}`;
  const inserted = await tx.run(sql`
    with record as materialized (
      select * from json_to_recordset(${report.recordsJson}::json) as r (
        position integer, source_ip inet, count bigint, disposition text, dkim text, spf text,
        header_from text, envelope_from text)
      where not ${isParents} or ${isOwn}
    ), report as (
      insert into dmarc_reports (workspace_id, id, sending_domain_id, org_name, email, report_id, policy_domain, policy,
        unread, begins_at, ends_at, xml, records, received_at, messages, passed, dkim_aligned, spf_aligned, quarantined, rejected)
      select ${domain.workspace_id}, ${newId()}, ${domain.id}, ${storableOrNull(report.orgName)}, ${storableOrNull(report.email)},
        ${storableOrNull(report.reportId)}, ${storableOrNull(policyDomain)}, ${storableJson(policy)}::jsonb,
        ${JSON.stringify(report.unread)}::jsonb, ${report.begin}, ${report.end},
        ${keepsXml && report.xml ? Buffer.from(report.xml) : null}::bytea, count(*), ${now}, ${sums} from record
      having count(*) > 0 or not ${isParents}
      on conflict (workspace_id, sending_domain_id, org_name, report_id, policy_domain) do nothing
      returning workspace_id, id
    ), records as (
      insert into dmarc_records (workspace_id, dmarc_report_id, position, source_ip, count, disposition, dkim, spf,
        header_from, envelope_from)
      select report.workspace_id, report.id, record.* from report cross join record
    ), sources as (
      ${noteSourcesSql(
        sql`select source_ip as ip from record where exists (select from report)
          group by source_ip order by sum(count) desc, source_ip limit ${notedSources}`,
        now,
      )}
    )
    select from report`);
  return inserted > 0;
}

/** Stores a report; false when it is known already. */
export async function insertTlsReport(
  tx: Queryable,
  domain: ReportedDomain,
  report: StorableTlsReport,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into tls_reports (workspace_id, id, sending_domain_id, organization_name, contact_info, report_id, begins_at,
      ends_at, successful, failed, failures, unread, received_at)
    values (${domain.workspace_id}, ${newId()}, ${domain.id}, ${storableOrNull(report.organizationName)},
      ${storableOrNull(report.contactInfo)}, ${storableOrNull(report.reportId)}, ${report.begin}, ${report.end}, ${report.successful},
      ${report.failed}, ${report.failuresJson}::jsonb, ${JSON.stringify(report.unread)}::jsonb, ${now})
    on conflict (workspace_id, sending_domain_id, organization_name, report_id) do nothing`);
  return inserted > 0;
}

/** Removes up to `most` records of reports whose time range ended before this time. @returns how many */
export function removeOldDmarcRecords(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from dmarc_records where ctid = any(array(
      select d.ctid
      from dmarc_reports r join dmarc_records d on d.workspace_id = r.workspace_id and d.dmarc_report_id = r.id
      where r.ends_at < ${before} limit ${most}))`);
}

/** Removes up to `most` reports without records whose time range ended before this time. @returns how many */
export function removeOldDmarcReports(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from dmarc_reports where ctid = any(array(
      select ctid from dmarc_reports r
      where ends_at < ${before} and not exists (
        select from dmarc_records where workspace_id = r.workspace_id and dmarc_report_id = r.id)
      limit ${most}))`);
}

export function removeOldTlsReports(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from tls_reports where ctid = any(array(
      select ctid from tls_reports where ends_at < ${before} limit ${most}))`);
}

interface ReportOwner {
  readonly workspaceId: WorkspaceId;
  readonly sendingDomainId: string;
}

/** Removes the oldest DMARC reports of a domain with their records (by foreign key). @returns how many reports */
export function removeSomeDmarcReports(
  db: Queryable,
  { workspaceId, sendingDomainId }: ReportOwner,
  most: { readonly reports: number; readonly records: number },
): Promise<number> {
  return db.run(sql`
    with oldest as materialized (
      select id, sum(records) over (order by ends_at, id) - records as before
      from (
        select id, ends_at, records from dmarc_reports
        where workspace_id = ${workspaceId} and sending_domain_id = ${sendingDomainId}
        order by ends_at, id limit ${most.reports}) found
    )
    delete from dmarc_reports
    where workspace_id = ${workspaceId} and id in (select id from oldest where before < ${most.records})`);
}

/** Removes TLS reports of a domain. @returns how many */
export function removeSomeTlsReports(
  db: Queryable,
  { workspaceId, sendingDomainId }: ReportOwner,
  most: { readonly reports: number },
): Promise<number> {
  return db.run(sql`
    delete from tls_reports
    where workspace_id = ${workspaceId} and id = any(array(
      select id from tls_reports
      where workspace_id = ${workspaceId} and sending_domain_id = ${sendingDomainId}
      limit ${most.reports}))`);
}

/** The reports of a domain whose time range ended after `since`. */
export interface ReportScope extends ReportOwner {
  readonly since: Date;
}

const inScope = ({ workspaceId, sendingDomainId, since }: ReportScope) => sql`
  r.workspace_id = ${workspaceId} and r.sending_domain_id = ${sendingDomainId} and r.ends_at >= ${since}`;

/** Messages seen by receivers: how many, how many passed DMARC, and what the policy did to them. */
export interface DmarcSums {
  readonly messages: number;
  readonly passed: number;
  readonly dkim_aligned: number;
  readonly spf_aligned: number;
  readonly quarantined: number;
  readonly rejected: number;
}

const sumsOfReports = sql`
  coalesce(sum(messages), 0)::bigint as messages, coalesce(sum(passed), 0)::bigint as passed,
  coalesce(sum(dkim_aligned), 0)::bigint as dkim_aligned, coalesce(sum(spf_aligned), 0)::bigint as spf_aligned,
  coalesce(sum(quarantined), 0)::bigint as quarantined, coalesce(sum(rejected), 0)::bigint as rejected`;

export async function sumDmarc(db: Queryable, scope: ReportScope): Promise<DmarcSums> {
  const none = { messages: 0, passed: 0, dkim_aligned: 0, spf_aligned: 0, quarantined: 0, rejected: 0 };
  const summed = await db.row<DmarcSums>(sql`
    select ${sumsOfReports} from dmarc_reports r where ${inScope(scope)}`);
  return summed ?? none;
}

/** By the UTC day in which the middle of a report's time range is; days without reports are left out. */
export function sumDmarcByDay(
  db: Queryable,
  scope: ReportScope,
): Promise<(DmarcSums & { readonly date: string })[]> {
  return db.rows(sql`
    select ((begins_at + (ends_at - begins_at) / 2) at time zone 'UTC')::date::text as date, ${sumsOfReports}
    from dmarc_reports r where ${inScope(scope)} group by 1 order by 1`);
}

/** The sources with the most messages, from the newest reports with together at most `records` records. */
export function listDmarcSources(
  db: Queryable,
  scope: ReportScope,
  most: { readonly sources: number; readonly records: number },
): Promise<(DmarcSums & { readonly source_ip: string; readonly host: string | null })[]> {
  return db.rows(sql`
    with newest as materialized (
      select workspace_id, id from (
        select workspace_id, id, sum(records) over (order by ends_at desc, id desc) as so_far
        from dmarc_reports r where ${inScope(scope)}) counted
      where so_far <= ${most.records}
    )
    select host(source_ip) as source_ip, h.host, s.messages, s.passed, s.dkim_aligned, s.spf_aligned, s.quarantined, s.rejected
    from (
      select source_ip, ${sums}
      from newest join dmarc_records d on d.workspace_id = newest.workspace_id and d.dmarc_report_id = newest.id
      group by source_ip order by messages desc, source_ip limit ${most.sources}) s
    left join source_hosts h on h.ip = s.source_ip
    order by s.messages desc, s.source_ip`);
}

export interface DmarcReportRow {
  readonly id: string;
  readonly org_name: string;
  readonly report_id: string;
  readonly policy_domain: string;
  readonly policy: string | null;
  readonly begins_at: Date;
  readonly ends_at: Date;
  readonly messages: number;
  readonly records: number;
  readonly unread: readonly UnreadRecords<ReportRefusalReason>[];
  readonly received_at: Date;
}

/** Newest first. */
export function listDmarcReports(db: Queryable, scope: ReportScope, page: Page): Promise<DmarcReportRow[]> {
  return db.rows(sql`
    select id, org_name, report_id, policy_domain, policy ->> 'p' as policy, begins_at, ends_at, messages, records,
      unread, received_at
    from dmarc_reports r where ${inScope(scope)}
    order by ends_at desc, id desc limit ${page.limit} offset ${page.offset}`);
}

export async function countDmarcReports(db: Queryable, scope: ReportScope): Promise<number> {
  const counted = await db.row<{ total: number }>(sql`
    select count(*) as total from dmarc_reports r where ${inScope(scope)}`);
  return counted?.total ?? 0;
}

export interface TlsReportRow {
  readonly id: string;
  readonly organization_name: string;
  readonly report_id: string;
  readonly begins_at: Date;
  readonly ends_at: Date;
  readonly successful: number;
  readonly failed: number;
  readonly failures: TlsFailureRow[];
  readonly unread: readonly UnreadRecords<ReportRefusalReason>[];
  readonly received_at: Date;
}

export interface TlsFailureRow {
  readonly result_type: string;
  readonly policy_type: string;
  readonly failed: number;
  readonly sending_mta_ip: string | null;
  readonly receiving_mx_hostname: string | null;
  readonly failure_reason_code: string | null;
}

/** Newest first. */
export function listTlsReports(db: Queryable, scope: ReportScope, page: Page): Promise<TlsReportRow[]> {
  return db.rows(sql`
    select id, organization_name, report_id, begins_at, ends_at, successful, failed, failures, unread, received_at
    from tls_reports r where ${inScope(scope)}
    order by ends_at desc, id desc limit ${page.limit} offset ${page.offset}`);
}

export async function sumTls(
  db: Queryable,
  scope: ReportScope,
): Promise<{ readonly total: number; readonly successful: number; readonly failed: number }> {
  const summed = await db.row<{ total: number; successful: number; failed: number }>(sql`
    select count(*) as total, coalesce(sum(successful), 0)::bigint as successful, coalesce(sum(failed), 0)::bigint as failed
    from tls_reports r where ${inScope(scope)}`);
  return summed ?? { total: 0, successful: 0, failed: 0 };
}
