/**
 * Somebody, perhaps a program, typed an address into a public form: its owner is asked by mail. Whatever becomes of it,
 * the form says the same, so that nobody learns who is on a list. A mail goes to whatever address is typed, so that
 * without limits a form would be a way to fill a stranger's mailbox in our name.
 */
import type { KeyObject } from "node:crypto";
import { mailboxOf } from "../../mail/address.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Queryable } from "../../platform/database/pool.ts";
import { newId, type WorkspaceId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { findMemberByEmail } from "../subscribers/store.ts";
import { type ConfirmationMail, confirmationMail } from "./confirmation-mail.ts";
import { isKeptOff } from "./kept-off.ts";
import {
  type Applicant,
  countRequests,
  insertSignupRequest,
  lockSignupRequests,
  type SignupForm,
} from "./store.ts";
import { signSignupLink } from "./token.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURLY_OF_LIST = 200;
/** For all lists of a workspace together. */
const DAILY_TO_MAILBOX = 5;

export interface AskDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: KeyObject;
  /** Where the page of a confirmation token is. */
  readonly confirmationUrl: (token: string) => string;
  /** Accepts a mail in this transaction, from the list's own sender where the workspace may send as it. */
  readonly sendMail: (
    tx: Queryable,
    workspaceId: WorkspaceId,
    mail: ConfirmationMail,
    from: Pick<SignupForm, "from_name" | "from_email">,
  ) => Promise<void>;
}

/** Mails a link, unless there is a reason not to; says nothing of either. */
export async function askOwner(
  deps: AskDeps,
  workspaceId: WorkspaceId,
  form: SignupForm,
  applicant: Applicant,
): Promise<void> {
  if (form.is_suspended) return;
  const now = deps.clock.now();
  const { mailing_list_id: mailingListId, list_name } = form;
  await deps.db.transaction(async (tx) => {
    await lockSignupRequests(tx, workspaceId);
    if (!(await mayAsk(tx, workspaceId, mailingListId, applicant.email))) return;
    const limit = await limitReached(tx, workspaceId, mailingListId, applicant.email, now);
    if (limit !== null) {
      deps.log.info(
        { workspace_id: workspaceId, mailing_list_id: mailingListId, limit },
        "a sign-up was not mailed",
      );
      return;
    }
    const id = newId();
    await insertSignupRequest(tx, workspaceId, {
      ...applicant,
      id,
      mailing_list_id: mailingListId,
      requested_at: now,
    });
    const link = deps.confirmationUrl(signSignupLink({ workspaceId, id }, deps.key));
    await deps.sendMail(tx, workspaceId, confirmationMail(applicant.email, list_name, link), form);
  });
}

/** Who is on the list already needs no mail, and who is kept off it gets none. */
async function mayAsk(tx: Queryable, workspaceId: WorkspaceId, mailingListId: string, email: string) {
  const member = await findMemberByEmail(tx, workspaceId, mailingListId, email);
  if (member !== undefined && member.status !== "unsubscribed") return false;
  return !(await isKeptOff(tx, workspaceId, mailingListId, email));
}

async function limitReached(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mailingListId: string,
  email: string,
  now: Date,
): Promise<string | null> {
  const counts = await countRequests(tx, workspaceId, {
    mailingListId,
    mailbox: mailboxOf(email),
    hourAgo: new Date(now.getTime() - HOUR_MS),
    dayAgo: new Date(now.getTime() - DAY_MS),
  });
  if (counts.to_mailbox_of_list > 0) return "one an hour to an address for a list";
  if (counts.to_mailbox >= DAILY_TO_MAILBOX) return `${DAILY_TO_MAILBOX} a day to an address`;
  return counts.of_list >= HOURLY_OF_LIST ? `${HOURLY_OF_LIST} an hour for a list` : null;
}
