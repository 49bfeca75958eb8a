/** A mail that asks its recipient to open a page and press the button there. */

import { HOUR_MS } from "#platform/time-units.ts";
import { html } from "./html-page.ts";
import { letter } from "./mail-layout.ts";

export interface ConfirmationLetter {
  readonly subject: string;
  /** The sentence that names the requester and the request. */
  readonly request: string;
  /** URL of the page. */
  readonly link: string;
  /** The sentence that says what happens without a confirmation. */
  readonly otherwise: string;
}

const instruction = "If that is right, open this page and press the button. The link works for 48 hours:";

/** How long the link works. */
export const CONFIRMATION_LINK_MS = 48 * HOUR_MS;

/** The text and HTML form of the mail. */
export function confirmationLetter({ subject, request, link, otherwise }: ConfirmationLetter) {
  return {
    subject,
    text: `${request}\n\n${instruction}\n\n${link}\n\n${otherwise}\n`,
    html: letter(
      subject,
      html`<p>${request}</p>
<p>${instruction}</p>
<p><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:8px;background:#0b5cad;color:#ffffff;font-weight:600;text-decoration:none">Open the confirmation page</a></p>
<p style="font-size:14px;color:#59636e;word-break:break-all">${link}</p>
<p style="font-size:14px;color:#59636e">${otherwise}</p>`,
    ),
  };
}
