/** Somebody pressed the button behind the link that was mailed to them: now they join. */

import { addMember, setStatus } from "#audience/subscribers/change-member.ts";
import { findMemberByEmail, findSubscriberByEmail } from "#audience/subscribers/store.ts";
import type { OnSubscriberEvent } from "#audience/subscribers/subscriber-events.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { StorageDeps } from "#workspace/billing/storage-limit.ts";
import { isIneligible } from "./eligibility.ts";
import type { SignupLink } from "./link-token.ts";
import {
  type Applicant,
  findSignupForm,
  findSignupRequest,
  markConfirmed,
  type SignupForm,
  type SignupRequest,
} from "./store.ts";

const LINK_MS = 48 * 3_600_000;
/** Where such people come from, as reads show it. */
const SOURCE = "form";

export interface ConfirmDeps extends StorageDeps {
  readonly db: Database;
  readonly onSubscriber: OnSubscriberEvent;
  /** The mail with the link was asked for by the owner of its address: it does not count as one to a stranger. */
  readonly excuseMail: (tx: Queryable, workspaceId: WorkspaceId, to: string, sentAt: Date) => Promise<void>;
}

export interface OpenRequest {
  readonly form: SignupForm;
  readonly request: SignupRequest;
}

/** When a request must have come so that its link still works. */
export function oldestOpen(now: Date): Date {
  return new Date(now.getTime() - LINK_MS);
}

/** What a link is about; undefined when it has lapsed, or the list has no form any more. */
export async function findOpenRequest(
  { db, clock }: Pick<ConfirmDeps, "db" | "clock">,
  { workspaceId, id }: SignupLink,
): Promise<OpenRequest | undefined> {
  const request = await findSignupRequest(db, workspaceId, id, oldestOpen(clock.now()));
  const form = request && (await findSignupForm(db, workspaceId, request.mailing_list_id));
  return request && form && !form.is_suspended ? { form, request } : undefined;
}

/**
 * `joined`: they are on the list, by this or from before. `kept_off`: their address bounced, complained or is suppressed,
 * or the list wants what the form does not ask for; only the workspace can help. `used`: they joined by it and left again.
 */
export type Confirmation = "joined" | "kept_off" | "used";

/** What there is to say of a link that has been used. */
export async function outcomeOfUsedLink(
  { db }: Pick<ConfirmDeps, "db">,
  { workspaceId }: SignupLink,
  { request: { mailing_list_id, email } }: OpenRequest,
): Promise<Exclude<Confirmation, "kept_off">> {
  const member = await findMemberByEmail(db, workspaceId, mailing_list_id, email);
  return member?.status === "active" ? "joined" : "used";
}

/**
 * Whoever left comes back: it is their own act. A link works once, so that a later goodbye holds.
 *
 * @param names as the owner of the address sent them; those that the workspace has already stay
 */
export async function confirmSignup(
  deps: ConfirmDeps,
  link: SignupLink,
  open: OpenRequest,
  names: Names,
): Promise<Confirmation> {
  const { request } = open;
  const { workspaceId } = link;
  if (request.confirmed_at !== null) return outcomeOfUsedLink(deps, link, open);
  const { mailing_list_id: mailingListId, email } = request;
  if (await isIneligible(deps.db, workspaceId, mailingListId, email)) return "kept_off";
  const member = await findMemberByEmail(deps.db, workspaceId, mailingListId, email);
  try {
    if (member === undefined) {
      const person = await findSubscriberByEmail(deps.db, workspaceId, email);
      const body = { email, ...newNames(names, person), source: SOURCE };
      await addMember(deps, workspaceId, mailingListId, body, SOURCE);
    } else if (member.status === "unsubscribed") {
      const place = { workspaceId, mailingListId, subscriberId: member.subscriber_id };
      await setStatus(deps, place, "active", SOURCE);
    }
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    // They joined meanwhile, which is what was wanted.
    if (fault.code !== "CONFLICT") return "kept_off";
  }
  await deps.db.transaction(async (tx) => {
    if (!(await markConfirmed(tx, workspaceId, request.id, deps.clock.now()))) return;
    await deps.excuseMail(tx, workspaceId, email, request.requested_at);
  });
  return "joined";
}

type Names = Omit<Applicant, "email">;

function newNames(given: Names, held: Names | undefined): { first_name?: string; last_name?: string } {
  return {
    ...(given.first_name !== null && !held?.first_name && { first_name: given.first_name }),
    ...(given.last_name !== null && !held?.last_name && { last_name: given.last_name }),
  };
}
