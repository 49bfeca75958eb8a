/** The tables of sign-up forms and of sign-up requests. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Language } from "#platform/languages/language.ts";
import type { TypedValues } from "./form-fields.ts";
import { type FormSettings, standardForm } from "./form-settings.ts";

/** The open form of a list, with what its pages and mails need. */
export interface SignupForm extends FormSettings {
  readonly mailing_list_id: string;
  readonly list_name: string;
  readonly from_name: string | null;
  readonly from_email: string | null;
  /** Of the list, or of the workspace. */
  readonly list_language: Language;
  /** Whether the workspace is suspended: nothing is sent then, and no one can join. */
  readonly is_suspended: boolean;
}

const settingColumns = sql`
  f.title, f.description, f.button_text, f.consent_text, f.language, f.thank_you_url,
  coalesce(f.fields, ${JSON.stringify(standardForm.fields)}::jsonb) as fields`;

/** Undefined when the list has no open form, or does not exist. */
export function findSignupForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<SignupForm | undefined> {
  return db.row(sql`
    select f.mailing_list_id, l.name as list_name, l.from_name, l.from_email, w.is_suspended,
      coalesce(l.language, w.language) as list_language, ${settingColumns}
    from signup_forms f
    join mailing_lists l on l.workspace_id = f.workspace_id and l.id = f.mailing_list_id
    join workspaces w on w.id = f.workspace_id
    where f.workspace_id = ${workspaceId} and f.mailing_list_id = ${mailingListId} and f.is_open`);
}

export interface StoredForm extends FormSettings {
  readonly is_open: boolean;
}

/** The form of a list, open or closed; undefined before it was first opened or changed. */
export function findStoredForm(
  db: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<StoredForm | undefined> {
  return db.row(sql`
    select f.is_open, ${settingColumns} from signup_forms f
    where f.workspace_id = ${workspaceId} and f.mailing_list_id = ${mailingListId}`);
}

/** The form, locked until the transaction ends; a new one is closed and has the standard settings. */
export async function lockStoredForm(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  now: Date,
): Promise<StoredForm> {
  await tx.run(sql`
    insert into signup_forms (workspace_id, mailing_list_id, is_open, created_at)
    values (${workspaceId}, ${mailingListId}, false, ${now})
    on conflict do nothing`);
  const form = await tx.row<StoredForm>(sql`
    select f.is_open, ${settingColumns} from signup_forms f
    where f.workspace_id = ${workspaceId} and f.mailing_list_id = ${mailingListId} for no key update`);
  return form ?? { ...standardForm, is_open: false };
}

/** Requires lockStoredForm. */
export async function updateForm(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  form: StoredForm,
): Promise<void> {
  await tx.run(sql`
    update signup_forms
    set is_open = ${form.is_open}, title = ${form.title}, description = ${form.description},
      button_text = ${form.button_text}, consent_text = ${form.consent_text}, language = ${form.language},
      thank_you_url = ${form.thank_you_url}, fields = ${JSON.stringify(form.fields)}::jsonb
    where workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`);
}

/** Forgets what belongs to a form that is closed: its abuse, and its open requests, whose links stop working. */
export async function removeOpenRequests(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
): Promise<void> {
  const ofForm = sql`workspace_id = ${workspaceId} and mailing_list_id = ${mailingListId}`;
  await tx.run(sql`
    update signup_forms set abused_since = null, abused_at = null, abuse_reason = null where ${ofForm}`);
  await tx.run(sql`delete from signup_requests where ${ofForm} and not ${isProof}`);
  await tx.run(sql`delete from signup_refusals where ${ofForm}`);
}

/** Whether a request proves a consent: such requests are kept as long as the list. */
const isProof = sql`(confirmed_at is not null and consent_hash is not null)`;

/** What was typed into the form. */
export interface Applicant extends TypedValues {
  readonly email: string;
}

export interface SignupRequest extends Applicant {
  readonly id: string;
  readonly mailing_list_id: string;
  /** Of the page on which the person signed up. */
  readonly language: Language | null;
  /** The wording that the person agreed to by ticking its box; null when the form had none. */
  readonly consent_text: string | null;
  readonly requested_at: Date;
  readonly confirmed_at: Date | null;
}

const requestColumns = sql`
  id, mailing_list_id, email, first_name, last_name, custom_fields, language,
  (select c.text from consent_wordings c where c.workspace_id = signup_requests.workspace_id
    and c.hash = signup_requests.consent_hash) as consent_text, requested_at, confirmed_at`;

/** Stores a request, and its wording if the workspace has no request with it yet. */
export async function insertSignupRequest(
  tx: Queryable,
  workspaceId: WorkspaceId,
  request: Omit<SignupRequest, "confirmed_at">,
): Promise<void> {
  const { consent_text: wording, requested_at: now } = request;
  const hash = sql`sha256(convert_to(${wording}::text, 'UTF8'))`;
  await tx.run(sql`
    with wording as (
      -- A wording in use is not written, because requests would wait for each other.
      insert into consent_wordings as c (workspace_id, hash, text, used_at)
      select ${workspaceId}, ${hash}, ${wording}::text, ${now}
      where ${wording}::text is not null and not exists (
        select from consent_wordings where workspace_id = ${workspaceId} and hash = ${hash}
          and used_at > ${now}::timestamptz - interval '1 day')
      on conflict (workspace_id, hash) do update set used_at = greatest(c.used_at, excluded.used_at)
    )
    insert into signup_requests (workspace_id, id, mailing_list_id, email, first_name, last_name, custom_fields,
      language, consent_hash, requested_at)
    values (${workspaceId}, ${request.id}, ${request.mailing_list_id}, ${request.email}, ${request.first_name},
      ${request.last_name}, ${JSON.stringify(request.custom_fields)}::jsonb, ${request.language}, ${hash}, ${now})`);
}

/** @param after requests from before this time have expired */
export function findSignupRequest(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  after: Date,
): Promise<SignupRequest | undefined> {
  return db.row(sql`
    select ${requestColumns}
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

/** Deletes at most `most` expired requests of all workspaces, not those that prove a consent. @returns how many */
export function removeLapsedRequests(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from signup_requests where ctid = any (array(
      select ctid from signup_requests where requested_at <= ${before} and not ${isProof} limit ${most}))`);
}

/**
 * Removes at most `most` wordings of all workspaces that were last used before a time and that no request refers to any
 * more.
 * @param before at least two days ago: a request that is being stored may refer to a newer one
 * @returns how many
 */
export function removeUnusedWordings(db: Queryable, before: Date, most: number): Promise<number> {
  return db.run(sql`
    delete from consent_wordings where ctid = any (array(
      select ctid from consent_wordings c where used_at < ${before} and not exists (
        select from signup_requests r where r.workspace_id = c.workspace_id and r.consent_hash = c.hash)
      limit ${most}))`);
}

/** The sign-up requests with a normalised address, newest first; at most 1,000. */
export function listSignupRequestsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  email: string,
): Promise<SignupRequest[]> {
  return db.rows(sql`
    select ${requestColumns} from signup_requests
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
