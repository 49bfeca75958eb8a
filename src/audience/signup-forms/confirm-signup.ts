/** Confirms a sign-up: the owner of the address pressed the button behind the mailed link, and joins the list. */

import { fieldReader } from "#audience/custom-fields/field-value-reader.ts";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { languageFields, ownLanguage } from "#audience/languages/recipient-language.ts";
import { findLanguageSettings } from "#audience/languages/store.ts";
import { addMember, changeMember } from "#audience/subscribers/change-member.ts";
import { findMemberByEmail, findSubscriberByEmail } from "#audience/subscribers/store.ts";
import type { OnSubscriberEvent } from "#audience/subscribers/subscriber-events.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { DateReader } from "#platform/dates/date-reader.ts";
import { ApiError } from "#platform/errors.ts";
import { CONFIRMATION_LINK_MS } from "#platform/http/response/link-letter.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { isIneligible } from "./eligibility.ts";
import type { TypedValues } from "./form-fields.ts";
import {
  findSignupForm,
  findSignupRequest,
  markConfirmed,
  type SignupForm,
  type SignupRequest,
} from "./store.ts";
import type { SignupLink } from "./tokens.ts";

/** The `source` of people who join by a form. */
const SOURCE = "form";

export interface ConfirmDeps extends StorageDeps {
  readonly db: Database;
  readonly onSubscriber: OnSubscriberEvent;
  /** Does not count the confirmation mail as unsolicited: the owner of the address asked for it. */
  readonly excuseMail: (tx: Queryable, workspaceId: WorkspaceId, to: string, sentAt: Date) => Promise<void>;
}

export interface OpenRequest {
  readonly form: SignupForm;
  readonly request: SignupRequest;
}

/** Requests from before this time have expired. */
export function oldestOpen(now: Date): Date {
  return new Date(now.getTime() - CONFIRMATION_LINK_MS);
}

/** The request of a link, with its form; undefined when it has expired, or the list no longer has a form. */
export async function findOpenRequest(
  { db, clock }: Pick<ConfirmDeps, "db" | "clock">,
  { workspaceId, id }: SignupLink,
): Promise<OpenRequest | undefined> {
  const request = await findSignupRequest(db, workspaceId, id, oldestOpen(clock.now()));
  const form = request && (await findSignupForm(db, workspaceId, request.mailing_list_id));
  return request && form && !form.is_suspended ? { form, request } : undefined;
}

/**
 * `joined`: the person is on the list now. `ineligible`: the address bounced, complained or is suppressed, or the list
 * requires a value that the form does not ask for; only the workspace can help. `used`: the person joined by this link
 * and has left since.
 */
export type Confirmation = "joined" | "ineligible" | "used";

/** The result of opening a link that was used before. */
export async function outcomeOfUsedLink(
  { db }: Pick<ConfirmDeps, "db">,
  { workspaceId }: SignupLink,
  { request: { mailing_list_id, email } }: OpenRequest,
): Promise<Exclude<Confirmation, "ineligible">> {
  const member = await findMemberByEmail(db, workspaceId, mailing_list_id, email);
  return member?.status === "active" ? "joined" : "used";
}

/**
 * Adds the person to the list; a person who unsubscribed becomes active again, because it is their own decision. A link
 * works once, so a later unsubscribe stays valid.
 * @param values as sent by the owner of the address; what the workspace already has stays
 */
export async function confirmSignup(
  deps: ConfirmDeps,
  link: SignupLink,
  open: OpenRequest,
  values: TypedValues,
): Promise<Confirmation> {
  const { request } = open;
  const { workspaceId } = link;
  if (request.confirmed_at !== null) return outcomeOfUsedLink(deps, link, open);
  const { mailing_list_id: mailingListId, email } = request;
  if (await isIneligible(deps.db, workspaceId, mailingListId, email)) return "ineligible";
  const member = await findMemberByEmail(deps.db, workspaceId, mailingListId, email);
  try {
    if (member === undefined || member.status === "unsubscribed") {
      const person = await findSubscriberByEmail(deps.db, workspaceId, email);
      const language = await languageValue(deps.db, workspaceId, open, person);
      const custom_fields = { ...language, ...values.custom_fields };
      const given = newValues({ ...values, custom_fields }, person);
      if (member === undefined) {
        await addMember(deps, workspaceId, mailingListId, { email, ...given, source: SOURCE }, SOURCE);
      } else {
        const place = { workspaceId, mailingListId, subscriberId: member.subscriber_id };
        await changeMember(deps, place, { ...given, status: "active" }, SOURCE);
      }
    }
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    // The person joined in the meantime, which is the wanted result.
    if (fault.code !== "CONFLICT") return "ineligible";
  }
  await deps.db.transaction(async (tx) => {
    if (!(await markConfirmed(tx, workspaceId, request.id, deps.clock.now()))) return;
    await deps.excuseMail(tx, workspaceId, email, request.requested_at);
  });
  return "joined";
}

/**
 * The language of the pages on which the person signed up, where it is not the list's, as the value of the custom field that
 * has people's languages. Nothing if there is no such field, it does not take the value, the form asks for one, or the
 * person has a language.
 */
async function languageValue(
  db: Queryable,
  workspaceId: WorkspaceId,
  { form, request: { language } }: OpenRequest,
  held: HeldValues | undefined,
): Promise<TypedValues["custom_fields"]> {
  if (language === null || language === form.list_language) return {};
  const settings = await findLanguageSettings(db, workspaceId, form.mailing_list_id);
  const defined = await listFieldsInForce(db, workspaceId, form.mailing_list_id);
  const names = new Set(defined.map(({ field_name }) => field_name));
  const fields = languageFields(settings.language_field, names);
  if (ownLanguage(fields, held?.custom_fields ?? {}) !== undefined) return {};
  if (form.fields.some(({ field }) => fields.includes(field))) return {};
  const definition = defined.find(({ field_name }) => field_name === fields[0]);
  if (definition === undefined) return {};
  const reading = fieldReader(definition, new DateReader({ timeZone: "UTC" }))(language);
  return reading.ok && reading.value !== null ? { [definition.field_name]: reading.value } : {};
}

interface HeldValues {
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>>;
}

/** The values that the workspace does not have yet. */
function newValues(given: TypedValues, held: HeldValues | undefined) {
  const { first_name, last_name, custom_fields } = given;
  const isNew = ([name]: readonly [string, unknown]) =>
    held === undefined || !Object.hasOwn(held.custom_fields, name);
  return {
    ...(first_name !== null && !held?.first_name && { first_name }),
    ...(last_name !== null && !held?.last_name && { last_name }),
    custom_fields: Object.fromEntries(Object.entries(custom_fields).filter(isNew)),
  };
}
