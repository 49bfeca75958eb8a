/** SQL that reads received mail. */
import sql, { empty, type Sql } from "sql-template-tag";
import type { Automatic } from "#inbound/parsing/automatic-kind.ts";
import type { ReceivedMail } from "#inbound/parsing/read-received-mail.ts";
import { containsSql } from "#platform/database/folded-sql.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Authentication } from "./authenticate.ts";
import type { KeptAttachment } from "./process-store.ts";

export const receivedStatuses = ["received", "parsed", "unreadable"] as const;
type ReceivedStatus = (typeof receivedStatuses)[number];

/** What the column `details` has of a parsed mail. */
export interface ReceivedDetails
  extends Pick<ReceivedMail, "from" | "to" | "cc" | "reply_to" | "date" | "headers" | "cut"> {
  readonly attachments: readonly KeptAttachment[];
}

export interface ReceivedRow {
  readonly id: string;
  readonly received_at: Date;
  readonly route_id: string;
  readonly recipient: string;
  readonly from: ReceivedMail["from"];
  readonly subject: string | null;
  readonly status: ReceivedStatus;
  readonly size: number;
  readonly attachment_count: number;
  readonly automatic: Automatic | null;
  readonly spam_score: number | null;
  readonly is_spam: boolean;
  readonly in_reply_to_message_id: string | null;
}

export interface ReceivedEmailRow extends ReceivedRow {
  readonly mail_from: string;
  readonly remote_ip: string;
  readonly helo: string;
  readonly message_id: string | null;
  readonly text: string | null;
  readonly html: string | null;
  readonly details: ReceivedDetails | null;
  readonly own_message_id: string | null;
  readonly authentication: Authentication | null;
}

export interface ReceivedFilter {
  readonly routeId: string | undefined;
  /** Whole addresses, in any case. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** A part of the subject, in any case. */
  readonly subject: string | undefined;
  readonly isSpam: boolean | undefined;
  readonly inReplyTo: string | undefined;
  readonly since: Date | undefined;
  readonly before: Date | undefined;
}

/** A search by subject reads this many of the newest mails that the other filters leave; totals end here. */
export const MOST_RECEIVED_SEARCHED = 10_000;

const columns = sql`r.id, r.received_at, r.route_id, r.rcpt_to as recipient, nullif(r.details -> 'from', 'null') as "from",
  r.subject, r.status, r.bytes as size, coalesce(jsonb_array_length(r.details -> 'attachments'), 0) as attachment_count,
  r.automatic, r.spam_score, r.is_spam, r.in_reply_to_message_id`;

/** Mails of a route whose mail is not kept are about to be deleted. */
function matching(workspaceId: WorkspaceId, filter: ReceivedFilter): Sql {
  const { routeId, from, to, isSpam, inReplyTo, since, before } = filter;
  return sql`r.workspace_id = ${workspaceId} and r.keep
    ${routeId === undefined ? empty : sql`and r.route_id = ${routeId}`}
    ${from === undefined ? empty : sql`and r.from_email = lower(${from})`}
    ${to === undefined ? empty : sql`and lower(r.rcpt_to) = lower(${to})`}
    ${isSpam === undefined ? empty : isSpam ? sql`and r.is_spam` : sql`and not r.is_spam`}
    ${inReplyTo === undefined ? empty : sql`and r.in_reply_to_message_id = ${inReplyTo}`}
    ${since === undefined ? empty : sql`and r.received_at >= ${since}`}
    ${before === undefined ? empty : sql`and r.received_at < ${before}`}`;
}

const withSubject = (subject: string | undefined) =>
  subject === undefined ? sql`true` : containsSql(sql`s.subject`, subject);

/** Newest first. */
export function listReceivedEmails(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ReceivedFilter,
  { limit, offset, after }: Page,
): Promise<ReceivedRow[]> {
  const rest = after === undefined ? empty : sql`and r.id < ${after}`;
  const ids =
    filter.subject === undefined
      ? sql`
        select r.id from received_emails r where ${matching(workspaceId, filter)} ${rest}
        order by r.id desc limit ${limit} offset ${offset}`
      : sql`
        select s.id from (
          select r.id, r.subject from received_emails r where ${matching(workspaceId, filter)} ${rest}
          order by r.id desc limit ${MOST_RECEIVED_SEARCHED}) s
        where ${withSubject(filter.subject)} order by s.id desc limit ${limit} offset ${offset}`;
  return db.rows(sql`
    select ${columns} from received_emails r
    where r.workspace_id = ${workspaceId} and r.id = any (array(${ids})) order by r.id desc`);
}

/** Counted up to MOST_RECEIVED_SEARCHED. */
export async function countReceivedEmails(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: ReceivedFilter,
): Promise<{ readonly total: number; readonly isExact: boolean }> {
  const row = await db.row<{ looked: number; found: number }>(sql`
    select count(*) as looked, count(*) filter (where ${withSubject(filter.subject)}) as found from (
      select r.subject from received_emails r where ${matching(workspaceId, filter)}
      order by r.id desc limit ${MOST_RECEIVED_SEARCHED}) s`);
  const { looked = 0, found = 0 } = row ?? {};
  return { total: found, isExact: looked < MOST_RECEIVED_SEARCHED };
}

/** The newest mail that a person has sent, by its From field or envelope. */
export function listReceivedFrom(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<ReceivedRow[]> {
  return db.rows(sql`
    select ${columns} from received_emails r
    where r.workspace_id = ${workspaceId} and r.keep
      and (r.from_email = lower(${email}) or lower(r.mail_from) = lower(${email}))
    order by r.id desc limit ${MOST_RECEIVED_SEARCHED}`);
}

export function findReceivedEmail(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<ReceivedEmailRow | undefined> {
  return db.row(sql`
    select ${columns}, r.mail_from, r.remote_ip, r.helo, r.message_id, r.text, r.html, r.details, r.own_message_id,
      r.authentication
    from received_emails r where r.workspace_id = ${workspaceId} and r.id = ${id} and r.keep`);
}

/** Undefined: there is no such mail. */
export async function findReceivedAttachments(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<readonly KeptAttachment[] | undefined> {
  const row = await db.row<{ attachments: readonly KeptAttachment[] }>(sql`
    select coalesce(r.details -> 'attachments', '[]') as attachments
    from received_emails r where r.workspace_id = ${workspaceId} and r.id = ${id} and r.keep`);
  return row?.attachments;
}

/** Octets of the source of a mail from an offset on: all, or at most this many. Undefined: there is no such mail. */
export async function readReceivedSource(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  { offset = 0, most }: { readonly offset?: number; readonly most?: number } = {},
): Promise<Buffer | undefined> {
  const octets =
    most === undefined ? sql`r.raw` : sql`substring(r.raw from ${offset + 1}::integer for ${most}::integer)`;
  const row = await db.row<{ octets: Buffer }>(sql`
    select ${octets} as octets
    from received_emails r where r.workspace_id = ${workspaceId} and r.id = ${id} and r.keep`);
  return row?.octets;
}
