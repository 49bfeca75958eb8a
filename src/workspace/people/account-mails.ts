/** Mails about accounts. A name that a person chose is not in them, because anyone may have typed the address. */
import type { Queryable } from "#platform/database/pool.ts";
import { html } from "#platform/http/response/html-page.ts";
import { linkLetter } from "#platform/http/response/link-letter.ts";
import { letter } from "#platform/http/response/mail-layout.ts";

export type AccountMailKind = "password_reset" | "address_change" | "account_notice" | "failed_sign_ins";

export interface AccountMail {
  readonly kind: AccountMailKind;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Accepts a mail in the caller's transaction. Above the limits of its kind no mail is sent. */
export type SendAccountMail = (tx: Queryable, mail: AccountMail) => Promise<void>;

/** @param link the page where the person chooses a new password */
export function passwordResetMail(to: string, link: string): AccountMail {
  const mail = linkLetter({
    subject: "Choose a new password",
    request: "A new password was asked for at Posthaste for this address.",
    instruction: "To choose one, open this page within 30 minutes. The link works once:",
    button: "Choose a password",
    link,
    otherwise: "If you did not ask for it, ignore this mail: your password stays as it is.",
  });
  return { kind: "password_reset", to, ...mail };
}

/** To the new address. @param link the page that confirms it */
export function addressChangeMail(to: string, link: string): AccountMail {
  const mail = linkLetter({
    subject: "Confirm your new address",
    request: "A person at Posthaste wants to sign in with this address from now on.",
    instruction: "If that is you, open this page within a day. The link works once:",
    button: "Confirm the address",
    link,
    otherwise: "If you did not expect this mail, ignore it: nothing changes without your confirmation.",
  });
  return { kind: "address_change", to, ...mail };
}

/** What has happened to an account, for the person to check. */
export function accountNotice(to: string, subject: string, sentence: string): AccountMail {
  return notice("account_notice", to, subject, sentence);
}

/**
 * Failed attempts to sign in. It has limits of its own: guessed passwords must not use up those of the notices that a guess
 * was right.
 */
export function failedSignInsNotice(to: string, sentence: string): AccountMail {
  return notice("failed_sign_ins", to, "Failed sign-ins to your account", sentence);
}

function notice(kind: AccountMailKind, to: string, subject: string, sentence: string): AccountMail {
  const advice =
    "If this was not you, change your password, and end the sessions that you do not know on the account page.";
  return {
    kind,
    to,
    subject,
    text: `${sentence}\n\n${advice}\n`,
    html: letter(
      subject,
      html`<p>${sentence}</p>
<p>${advice}</p>`,
    ),
  };
}
