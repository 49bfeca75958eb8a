/** The tables of sign-up forms and of those who asked to join by one. */
import sql from "sql-template-tag";
import { lockKey } from "../../platform/database/advisory-lock.ts";
import type { Queryable } from "../../platform/database/pool.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** What a public form shows and sends by. */
export interface SignupForm {
  readonly mailing_list_id: string;
  readonly list_name: string;
  readonly from_name: string | null;
  readonly from_email: string | null;
  /** Of the workspace: then nothing is sent, and nobody joins. */
  readonly is_suspended: boolean;
}

/** Undefined when the list has none, or is not there. */
export function findSignupForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<SignupForm | undefined> {
  return db.row(sql`
    select f.mailing_list_id, l.name as list_name, l.from_name, l.from_email, w.is_suspended
    from signup_forms f
    join mailing_lists l on l.workspace_id = f.workspace_id and l.id = f.mailing_list_id
    join workspaces w on w.id = f.workspace_id
    where f.workspace_id = ${workspaceId} and f.mailing_list_id = ${mailingListId}`);
}

export async function insertSignupForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into signup_forms (workspace_id, mailing_list_id, created_at)
    values (${workspaceId}, ${mailingListId}, ${now})
    on conflict do nothing`);
}

/** Links that were mailed die with it. */
export async function removeSignupForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  await db.run(sql`
    delete from signup_forms where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  await db.run(sql`
    delete from signup_requests where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
}

/** What was typed. */
export interface Applicant {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
}

export interface SignupRequest extends Applicant {
  readonly id: string;
  readonly mailing_list_id: string;
  readonly requested_at: Date;
  readonly confirmed_at: Date | null;
}

/** So that of many requests at once only as many are mailed as may be. */
export async function lockSignupRequests(tx: Queryable, workspaceId: WorkspaceId): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(${lockKey(`sign-up requests ${workspaceId}`)})`);
}

export interface RequestCounts {
  /** Of the list, since an hour. */
  readonly of_list: number;
  /** To the mailbox, since a day: of all lists, and of this one since an hour without an answer yet. */
  readonly to_mailbox: number;
  readonly to_mailbox_of_list: number;
}

/** @param mailbox as mailboxOf has it */
export async function countRequests(
  tx: Queryable,
  workspaceId: WorkspaceId,
  asked: {
    readonly mailingListId: string;
    readonly mailbox: string;
    readonly hourAgo: Date;
    readonly dayAgo: Date;
  },
): Promise<RequestCounts> {
  const isOfList = sql`mailing_list_id = ${asked.mailingListId} and requested_at > ${asked.hourAgo}`;
  const isToMailbox = sql`regexp_replace(email, '\\+[^@]*(?=@)', '') = ${asked.mailbox}`;
  const counts = await tx.row<RequestCounts>(sql`
    select count(*) filter (where ${isOfList})::int as of_list,
      count(*) filter (where ${isToMailbox})::int as to_mailbox,
      count(*) filter (where ${isOfList} and ${isToMailbox} and confirmed_at is null)::int as to_mailbox_of_list
    from signup_requests where workspace_id = ${workspaceId} and requested_at > ${asked.dayAgo}`);
  return counts ?? { of_list: 0, to_mailbox: 0, to_mailbox_of_list: 0 };
}

export async function insertSignupRequest(
  tx: Queryable,
  workspaceId: WorkspaceId,
  request: Omit<SignupRequest, "confirmed_at">,
): Promise<void> {
  await tx.run(sql`
    insert into signup_requests (workspace_id, id, mailing_list_id, email, first_name, last_name, requested_at)
    values (${workspaceId}, ${request.id}, ${request.mailing_list_id}, ${request.email}, ${request.first_name},
      ${request.last_name}, ${request.requested_at})`);
}

/** @param after links from before this have lapsed */
export function findSignupRequest(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  after: Date,
): Promise<SignupRequest | undefined> {
  return db.row(sql`
    select id, mailing_list_id, email, first_name, last_name, requested_at, confirmed_at
    from signup_requests where workspace_id = ${workspaceId} and id = ${id} and requested_at > ${after}`);
}

export async function markConfirmed(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<void> {
  await db.run(sql`
    update signup_requests set confirmed_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and confirmed_at is null`);
}

/** Of all workspaces: their links have lapsed, and no limit counts them any more. */
export async function removeLapsedRequests(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from signup_requests where requested_at <= ${before}`);
}
