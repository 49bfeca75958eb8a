/** The tables of sign-up forms and of sign-up requests. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** The form of a list, with what its pages and mails need. */
export interface SignupForm {
  readonly mailing_list_id: string;
  readonly list_name: string;
  readonly from_name: string | null;
  readonly from_email: string | null;
  /** Whether the workspace is suspended: nothing is sent then, and no one can join. */
  readonly is_suspended: boolean;
}

/** Undefined when the list has no form, or does not exist. */
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

/** Also deletes its open requests, whose links stop working. */
export async function removeSignupForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  await db.run(sql`
    delete from signup_forms where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  for (const table of [sql`signup_requests`, sql`signup_refusals`]) {
    await db.run(sql`
      delete from ${table} where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
  }
}

/** What was typed into the form. */
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

/** @param after requests from before this time have expired */
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

/** @returns false if the request was confirmed before */
export async function markConfirmed(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  const marked = await db.run(sql`
    update signup_requests set confirmed_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and confirmed_at is null`);
  return marked > 0;
}

/** Deletes expired requests of all workspaces. */
export async function removeLapsedRequests(db: Queryable, before: Date): Promise<void> {
  await db.run(sql`delete from signup_requests where requested_at <= ${before}`);
}

/** The sign-up requests with a normalised address, newest first; at most 1,000. */
export function listSignupRequestsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<SignupRequest[]> {
  return db.rows(sql`
    select id, mailing_list_id, email, first_name, last_name, requested_at, confirmed_at from signup_requests
    where workspace_id = ${workspaceId} and email = ${email} order by id desc limit 1000`);
}

/** Deletes the sign-up requests with a normalised address. @returns how many */
export function removeSignupRequestsOf(
  tx: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<number> {
  return tx.run(sql`delete from signup_requests where workspace_id = ${workspaceId} and email = ${email}`);
}
