/** Somebody pressed the button behind the link that was mailed to them: now they join. */

import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/pool.ts";
import { ApiError } from "../../platform/errors.ts";
import { addMember, setStatus } from "../subscribers/change-member.ts";
import { findMemberByEmail } from "../subscribers/store.ts";
import type { OnSubscriber } from "../subscribers/subscriber-news.ts";
import {
  findSignupForm,
  findSignupRequest,
  markConfirmed,
  type SignupForm,
  type SignupRequest,
} from "./store.ts";
import type { SignupLink } from "./token.ts";

const LINK_MS = 48 * 3_600_000;
/** Where such people come from, as reads show it. */
const SOURCE = "form";

export interface ConfirmDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly onSubscriber: OnSubscriber;
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
 * `joined`: they are on the list, by this or from before. `kept_off`: their address bounced or complained, or the list
 * wants what the form does not ask for; only the workspace can help.
 */
export type Confirmation = "joined" | "kept_off";

/**
 * Whoever left comes back: it is their own act. A link works once, so that a later goodbye holds.
 */
export async function confirm(
  deps: ConfirmDeps,
  { workspaceId }: SignupLink,
  { request }: OpenRequest,
): Promise<Confirmation> {
  if (request.confirmed_at !== null) return "joined";
  const { mailing_list_id: mailingListId, email, first_name, last_name } = request;
  const member = await findMemberByEmail(deps.db, workspaceId, mailingListId, email);
  if (member?.status === "bounced" || member?.status === "complained") return "kept_off";
  try {
    if (member === undefined) {
      const names = { ...(first_name !== null && { first_name }), ...(last_name !== null && { last_name }) };
      const joined = await addMember(
        deps,
        workspaceId,
        mailingListId,
        { email, ...names, source: SOURCE },
        SOURCE,
      );
      if (joined.status !== "active") return "kept_off";
    } else if (member.status === "unsubscribed") {
      const place = { workspaceId, mailingListId, subscriberId: member.subscriber_id };
      await setStatus(deps, place, "active", SOURCE);
    }
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    // They joined meanwhile, which is what was wanted.
    if (fault.code !== "CONFLICT") return "kept_off";
  }
  await markConfirmed(deps.db, workspaceId, request.id, deps.clock.now());
  return "joined";
}
