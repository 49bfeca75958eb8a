/**
 * Handles a sign-up: mails a confirmation link to the address. The page does not say whether a mail was sent, so that
 * it does not reveal who is on a list; limits that it does name are counted the same for every address. Without
 * limits the form could be used to flood the mailbox of any address.
 */
import type { KeyObject } from "node:crypto";
import { findMemberByEmail } from "#audience/subscribers/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type Reached, takeQuotas, useOf } from "#platform/limits/quota-store.ts";
import type { Log } from "#platform/log/log.ts";
import type { RecipientPage } from "#workspace/recipient-pages/recipient-page.ts";
import { type SignupConfirmationMail, signupConfirmationMail } from "./confirmation-mail.ts";
import { isIneligible } from "./eligibility.ts";
import { type OnFormAbused, recordRefusedSignup, type SignupLimit } from "./report-form-abuse.ts";
import { type Applicant, insertSignupRequest, type SignupForm } from "./store.ts";
import { signSignupLink } from "./tokens.ts";

/** Sends confirmation mails in the name of a list. */
export interface SignupMailer {
  /** The list's from address, if the workspace may send as it; null for the service's own sender. */
  findSender(db: Queryable, workspaceId: WorkspaceId, form: SignupForm): Promise<string | null>;
  /** The limit that the workspace has reached for today; null if it may send. */
  findFull(db: Queryable, workspaceId: WorkspaceId, sender: string | null): Promise<Reached | null>;
  /** Accepts the mail in this transaction, or returns the limit that was reached. */
  send(
    tx: Queryable,
    workspaceId: WorkspaceId,
    mail: SignupConfirmationMail,
    from: { readonly address: string; readonly name: string | null } | null,
  ): Promise<Reached | null>;
}

export interface SignupRequestDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: KeyObject;
  /** The URL of the page for a confirmation token. */
  readonly confirmationUrl: (token: string) => string;
  readonly mailer: SignupMailer;
  readonly onFormAbused: OnFormAbused;
}

/** A form, and the page on which it was filled in. */
export interface FormOnPage {
  readonly form: SignupForm;
  readonly page: RecipientPage;
}

/** Where a sign-up was sent from. */
export interface SignupSource {
  readonly network: string;
  /** Identifies the served page (tokens.ts). */
  readonly page: string;
}

/** A reached limit that the page may name; null: the page is the same whether or not a mail is sent. */
export type SignupRefusal = { readonly reason: SignupLimit | "page"; readonly ends: Date } | null;

/** Checks the limits and mails a link. */
export async function requestSignup(
  deps: SignupRequestDeps,
  workspaceId: WorkspaceId,
  shown: FormOnPage,
  applicant: Applicant,
  { network, page }: SignupSource,
): Promise<SignupRefusal> {
  const { form } = shown;
  if (form.is_suspended) return null;
  const { mailing_list_id: mailingListId } = form;
  const now = deps.clock.now();
  const uses = [
    useOf("signupsOfFormPage", page),
    useOf("signupsOfNetworkAtForm", `${network} ${mailingListId}`),
    useOf("signupsOfNetwork", network),
    useOf("signupsOfNetworkInDay", network),
    useOf("signupsOfList", `${workspaceId} ${mailingListId}`),
  ];
  const sender = await deps.mailer.findSender(deps.db, workspaceId, form);
  const reached =
    (await deps.mailer.findFull(deps.db, workspaceId, sender)) ??
    (await deps.db.transaction((tx) => takeQuotas(tx, uses, now)));
  if (reached === null) {
    await mailLink(deps, workspaceId, shown, { applicant, sender, now });
    return null;
  }
  const reason = reasons[reached.limit.scope] ?? "network";
  if (reason !== "page")
    await recordRefusedSignup(deps, { workspaceId, mailingListId, reason, network, now });
  return { reason, ends: reached.ends };
}

const reasons: Readonly<Record<string, SignupLimit | "page">> = {
  "form page": "page",
  "mailing list": "list",
  workspace: "workspace",
};

async function mailLink(
  deps: SignupRequestDeps,
  workspaceId: WorkspaceId,
  { form, page }: FormOnPage,
  {
    applicant,
    sender,
    now,
  }: { readonly applicant: Applicant; readonly sender: string | null; readonly now: Date },
): Promise<void> {
  const { mailing_list_id, list_name: listName, from_name: name, consent_text } = form;
  await deps.db.transaction(async (tx) => {
    if (!(await mayAsk(tx, workspaceId, mailing_list_id, applicant.email))) return;
    const id = newId();
    const link = deps.confirmationUrl(signSignupLink({ workspaceId, id }, deps.key));
    const mail = signupConfirmationMail(applicant.email, { listName, sender, link, page });
    const from = sender === null ? null : { address: sender, name };
    const reached = await deps.mailer.send(tx, workspaceId, mail, from);
    if (reached !== null) {
      const about = { workspace_id: workspaceId, mailing_list_id, limit: reached.name };
      deps.log.info(about, "sign-up confirmation not sent: limit reached");
      return;
    }
    const { language } = page.texts;
    const request = { ...applicant, id, mailing_list_id, language, consent_text, requested_at: now };
    await insertSignupRequest(tx, workspaceId, request);
  });
}

/** Members who are not unsubscribed, and addresses that may not join, get no mail. */
async function mayAsk(tx: Queryable, workspaceId: WorkspaceId, mailingListId: string, email: string) {
  const member = await findMemberByEmail(tx, workspaceId, mailingListId, email);
  if (member !== undefined && member.status !== "unsubscribed") return false;
  return !(await isIneligible(tx, workspaceId, mailingListId, email));
}
