/**
 * An address was typed into a public form, perhaps by a program: its owner is asked by mail. Whether there is a mail, the
 * form does not say, so that it tells no stranger who is on a list. The limits that it does name are counted for every
 * address alike. A mail goes to whatever address is typed, so that without limits a form would be a way to fill a
 * stranger's mailbox in our name.
 */
import type { KeyObject } from "node:crypto";
import { findMemberByEmail } from "#audience/subscribers/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { type Reached, takeQuotas, useOf } from "#platform/limits/quota-store.ts";
import type { Log } from "#platform/log/log.ts";
import { type OnFormAbused, recordRefusedSignup, type SignupLimit } from "./abuse.ts";
import { type SignupConfirmationMail, signupConfirmationMail } from "./confirmation-mail.ts";
import { isIneligible } from "./eligibility.ts";
import { signSignupLink } from "./link-token.ts";
import { type Applicant, insertSignupRequest, type SignupForm } from "./store.ts";

/** Mails in the name of a list, which the service makes. */
export interface SignupMailer {
  /** The list's address, where the workspace may send as it; null for the service's own sender. */
  findSender(db: Queryable, workspaceId: WorkspaceId, form: SignupForm): Promise<string | null>;
  /** Whether the workspace has used up its mails for today. */
  findFull(db: Queryable, workspaceId: WorkspaceId, sender: string | null): Promise<Reached | null>;
  /** Accepts a mail in this transaction, or says which limit is reached. */
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
  /** Where the page of a confirmation token is. */
  readonly confirmationUrl: (token: string) => string;
  readonly mailer: SignupMailer;
  readonly onFormAbused: OnFormAbused;
}

/** Where a sign-up comes from. */
export interface SignupSource {
  readonly network: string;
  /** The page that it was sent from. */
  readonly page: string;
}

/** A limit that the person may be told about; null: the page is the same, whether or not a mail is sent. */
export type SignupRefusal = { readonly reason: SignupLimit | "page"; readonly ends: Date } | null;

/** Mails a link, unless there is a reason not to. */
export async function requestSignup(
  deps: SignupRequestDeps,
  workspaceId: WorkspaceId,
  form: SignupForm,
  applicant: Applicant,
  { network, page }: SignupSource,
): Promise<SignupRefusal> {
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
    await mailLink(deps, workspaceId, form, applicant, sender, now);
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
  form: SignupForm,
  applicant: Applicant,
  sender: string | null,
  now: Date,
): Promise<void> {
  const { mailing_list_id, list_name, from_name: name } = form;
  await deps.db.transaction(async (tx) => {
    if (!(await mayAsk(tx, workspaceId, mailing_list_id, applicant.email))) return;
    const id = newId();
    const link = deps.confirmationUrl(signSignupLink({ workspaceId, id }, deps.key));
    const mail = signupConfirmationMail(applicant.email, list_name, sender, link);
    const from = sender === null ? null : { address: sender, name };
    const reached = await deps.mailer.send(tx, workspaceId, mail, from);
    if (reached !== null) {
      const about = { workspace_id: workspaceId, mailing_list_id, limit: reached.name };
      deps.log.info(about, "a sign-up was not mailed");
      return;
    }
    await insertSignupRequest(tx, workspaceId, { ...applicant, id, mailing_list_id, requested_at: now });
  });
}

/** Who is on the list already needs no mail, and who is kept off it gets none. */
async function mayAsk(tx: Queryable, workspaceId: WorkspaceId, mailingListId: string, email: string) {
  const member = await findMemberByEmail(tx, workspaceId, mailingListId, email);
  if (member !== undefined && member.status !== "unsubscribed") return false;
  return !(await isIneligible(tx, workspaceId, mailingListId, email));
}
