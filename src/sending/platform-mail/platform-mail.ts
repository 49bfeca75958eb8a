/**
 * The service's own mail, such as confirmation links: its source is `platform`, it costs nothing and no plan limits it.
 * Suppression entries apply to it if they come from bounces or complaints, not if they were added by hand. It goes to people
 * who may not have asked for it, from a sender that all workspaces share. So each kind has quotas by workspace and by
 * mailbox, and names that tenants chose are shown only if they look like names (tenant-name-check.ts).
 */
import type { SignupMailer } from "#audience/signup-forms/request-signup.ts";
import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { maySendAs } from "#identity/may-send-as.ts";
import { listVerifiedDomains } from "#identity/sender-permissions-store.ts";
import { mailboxOf, normalizeAddress, parseAddress } from "#mail/address.ts";
import type { StoredAttachment } from "#messages/message/attachment.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import {
  giveBackQuota,
  type QuotaName,
  type QuotaUse,
  type Reached,
  takeQuotas,
  usedOfQuota,
  useOf,
  windowEnd,
} from "#platform/limits/quota-store.ts";
import { insertDrafts } from "#sending/acceptance/accept-messages-statement.ts";
import { ensureInstallationWorkspace } from "#workspace/create-workspace.ts";
import type { AccountMailKind, SendAccountMail } from "#workspace/people/account-mails.ts";
import { STANDARD_RETRY_HOURS } from "#workspace/workspaces/workspace.ts";
import { domainsIn, readsLikeName } from "./tenant-name-check.ts";

export type PlatformMailKind =
  | "sender_confirmation"
  | "signup_confirmation"
  | "bounce_copy"
  | "listing_notice"
  | "team_invitation"
  | AccountMailKind;

export interface PlatformMail {
  readonly kind: PlatformMailKind;
  readonly to: string;
  /** A name chosen by a tenant or an operator, and the text that replaces it if it does not look like a name. */
  readonly named?: { readonly text: string; readonly otherwise: string };
  /** Writes the mail around the name. */
  readonly write: (name: string) => {
    readonly subject: string;
    readonly html: string;
    readonly text: string;
  };
  readonly attachments?: readonly StoredAttachment[];
  /** An address that the workspace may send as; the service's sender when omitted. */
  readonly from?: { readonly address: string; readonly name: string | null };
  /** The workspace whose limits and names apply, when another one has the message in its log. */
  readonly onBehalfOf?: WorkspaceId;
}

/**
 * Accepts the mail inside the caller's transaction, so that it is sent only if that is committed.
 * @returns null, or the quota that is used up; then no mail is sent
 */
export type SendPlatformMail = (
  tx: Queryable,
  workspaceId: WorkspaceId,
  mail: PlatformMail,
) => Promise<Reached | null>;

export function createPlatformMail(from: string, clock: Clock): SendPlatformMail {
  return async (tx, workspaceId, mail) => {
    const to = parseAddress(mail.to);
    if (!to.ok) throw new Error(`platform mail to ${mail.to}: ${to.message}`);
    const now = clock.now();
    const asking = mail.onBehalfOf ?? workspaceId;
    const reached = await takeQuotas(tx, usesOf(asking, mail), now);
    if (reached !== null) return reached;
    const content = mail.write(await presentableName(tx, asking, mail.named));
    await insertDrafts(tx, [
      {
        sender: null,
        priority: 0,
        retryHours: STANDARD_RETRY_HOURS,
        message: {
          workspaceId,
          id: newId(),
          source: "platform",
          originId: null,
          originName: "Platform",
          fromEmail: mail.from?.address ?? from,
          fromName: await presentableSender(tx, workspaceId, mail.from),
          toName: null,
          localpart: to.local,
          domain: to.domain,
          subject: content.subject,
          html: content.html,
          text: content.text,
          attachments: mail.attachments ?? [],
          bounceEmail: null,
          requestId: null,
          createdAt: now,
        },
      },
    ]);
    await notifyWorkers(tx);
    return null;
  };
}

/** Sends mails about accounts, from a workspace that shows them to no key and no member. */
export function createAccountMailer(sendPlatformMail: SendPlatformMail, clock: Clock): SendAccountMail {
  return async (tx, { kind, to, subject, text, html }) => {
    const workspaceId = await ensureInstallationWorkspace(tx, clock);
    await sendPlatformMail(tx, workspaceId, { kind, to, write: () => ({ subject, html, text }) });
  };
}

/**
 * Sends invitations to a workspace's team. Their links open accounts, so that the workspace's own message log, which its API
 * keys may read, does not have them.
 */
export function createInvitationMailer(sendPlatformMail: SendPlatformMail, clock: Clock): SendPlatformMail {
  return async (tx, workspaceId, mail) =>
    sendPlatformMail(tx, await ensureInstallationWorkspace(tx, clock), { ...mail, onBehalfOf: workspaceId });
}

/** Sends the mail of sign-up forms, from the list's address where the workspace may send as it, otherwise from ours. */
export function createSignupMailer(sendPlatformMail: SendPlatformMail, clock: Clock): SignupMailer {
  return {
    async findSender(db, workspaceId, { from_email: address }) {
      return address !== null && (await maySendAs(db, workspaceId, address)).allowed ? address : null;
    },
    async findFull(db, workspaceId, sender) {
      const name = signupMailQuota(sender !== null);
      const use = useOf(name, workspaceId);
      const now = clock.now();
      if ((await usedOfQuota(db, use, now)) < use.quota.most) return null;
      return { name, limit: use.quota, ends: windowEnd(use.quota, now) };
    },
    send: (tx, workspaceId, mail, from) =>
      sendPlatformMail(tx, workspaceId, { ...mail, ...(from !== null && { from }) }),
  };
}

/**
 * Gives a sign-up mail back to the quotas of its mailbox, when its recipient has confirmed that it was wanted.
 * @param sentAt when the mail was accepted
 */
export async function excuseSignupMail(
  tx: Queryable,
  workspaceId: WorkspaceId,
  to: string,
  sentAt: Date,
): Promise<void> {
  for (const use of signupMailsTo(workspaceId, mailboxOf(normalizeAddress(to)))) {
    await giveBackQuota(tx, use, sentAt);
  }
}

/** The narrowest quota first: a mail that it refuses does not use up the wider quotas. */
function usesOf(workspaceId: WorkspaceId, { kind, to, from }: PlatformMail): QuotaUse[] {
  const mailbox = mailboxOf(normalizeAddress(to));
  switch (kind) {
    case "signup_confirmation":
      return [
        ...signupMailsTo(workspaceId, mailbox),
        useOf(signupMailQuota(from !== undefined), workspaceId),
      ];
    case "password_reset":
      return [useOf("passwordResetMails", mailbox)];
    case "address_change":
      return [useOf("addressChangeMails", mailbox)];
    case "failed_sign_ins":
      return [useOf("failedSignInNotices", mailbox)];
    case "account_notice":
      return [useOf("accountNotices", mailbox)];
    case "sender_confirmation":
      return [
        useOf("senderConfirmationsToMailbox", mailbox),
        useOf("senderConfirmationsOfWorkspace", workspaceId),
      ];
    case "bounce_copy":
      return [useOf("bounceCopiesToMailbox", mailbox), useOf("bounceCopiesOfWorkspace", workspaceId)];
    case "listing_notice":
      return [useOf("listingNoticesToMailbox", mailbox), useOf("listingNoticesOfWorkspace", workspaceId)];
    case "team_invitation":
      return [useOf("invitationsToMailbox", mailbox), useOf("invitationsOfWorkspace", workspaceId)];
  }
}

/** @param isOwnSender whether the mail comes from an address of the workspace */
function signupMailQuota(isOwnSender: boolean): QuotaName {
  return isOwnSender ? "ownSignupMailsOfWorkspace" : "signupMailsOfWorkspace";
}

function signupMailsTo(workspaceId: WorkspaceId, mailbox: string): QuotaUse[] {
  return [
    useOf("signupMailsOfWorkspaceToMailbox", `${workspaceId} ${mailbox}`),
    useOf("signupMailsToMailbox", mailbox),
  ];
}

async function presentableSender(
  tx: Queryable,
  workspaceId: WorkspaceId,
  from: PlatformMail["from"],
): Promise<string | null> {
  if (from === undefined) return "Posthaste";
  if (from.name === null) return null;
  return (await presentableName(tx, workspaceId, { text: from.name, otherwise: "" })) || null;
}

/** The name, or its replacement. A domain may be part of it if it is a verified domain of the workspace. */
async function presentableName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  named: PlatformMail["named"],
): Promise<string> {
  if (named === undefined) return "";
  const domains = domainsIn(named.text);
  const own = domains.length === 0 ? [] : await listVerifiedDomains(tx, workspaceId, domains);
  return readsLikeName(named.text, own) ? named.text.trim() : named.otherwise;
}
