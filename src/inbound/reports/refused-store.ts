/** The table of refused reports: the newest of each sending domain, with the reason. */
import sql from "sql-template-tag";
import type { ReportedDomain } from "#identity/sending-domains/store.ts";
import { storable } from "#inbound/parsing/storable-text.ts";
import type { ReportKind } from "#mail/reports/report-documents.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { limits } from "#platform/limits/limits.ts";
import type { ReportRefusalReason } from "./report-refusal-sentences.ts";
import type { ReportScope } from "./store.ts";

export interface NewRefusal {
  readonly kind: ReportKind;
  /** The file name. */
  readonly name: string | null;
  /** The domain in the mail's From. */
  readonly sender: string | null;
  readonly reason: ReportRefusalReason;
  /** The value that the reason refers to, such as the name of the other domain. */
  readonly detail: string | null;
}

export async function insertRefusedReports(
  tx: Queryable,
  { workspace_id, id: sendingDomainId }: ReportedDomain,
  refusals: readonly NewRefusal[],
  now: Date,
): Promise<void> {
  if (refusals.length === 0) return;
  const newest = refusals.slice(0, limits.refusedReportsPerDomain.most);
  const column = (read: (refusal: NewRefusal) => string | null) =>
    newest.map((refusal) => {
      const text = read(refusal);
      return text === null ? null : storable(text);
    });
  await tx.run(sql`
    insert into refused_reports (workspace_id, id, sending_domain_id, kind, reason, detail, file_name, sender, received_at)
    select ${workspace_id}, id, ${sendingDomainId}, kind, reason, detail, file_name, sender, ${now}
    from unnest(${newest.map(() => newId())}::uuid[], ${column(({ kind }) => kind)}::text[],
      ${column(({ reason }) => reason)}::text[], ${column(({ detail }) => detail)}::text[],
      ${column(({ name }) => name)}::text[], ${column(({ sender }) => sender)}::text[])
      as r (id, kind, reason, detail, file_name, sender)`);
  await tx.run(sql`
    delete from refused_reports
    where workspace_id = ${workspace_id} and id = any(array(
      select id from refused_reports
      where workspace_id = ${workspace_id} and sending_domain_id = ${sendingDomainId}
      order by id desc offset ${limits.refusedReportsPerDomain.most}))`);
}

export interface RefusedReportRow {
  readonly id: string;
  readonly reason: ReportRefusalReason;
  readonly detail: string | null;
  readonly file_name: string | null;
  readonly sender: string | null;
  readonly received_at: Date;
}

/** Newest first, at most up to the limit of stored reports per domain. */
export function listRefusedReports(
  db: Queryable,
  { workspaceId, sendingDomainId, since }: ReportScope,
  kind: ReportKind,
): Promise<RefusedReportRow[]> {
  return db.rows(sql`
    select id, reason, detail, file_name, sender, received_at from refused_reports
    where workspace_id = ${workspaceId} and sending_domain_id = ${sendingDomainId} and kind = ${kind}
      and received_at >= ${since}
    order by id desc limit ${limits.refusedReportsPerDomain.most}`);
}

/** Removes up to `most` reports received before this time. @returns how many */
export function removeOldRefusedReports(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from refused_reports where ctid = any(array(
      select ctid from refused_reports where received_at < ${before} limit ${most}))`);
}
