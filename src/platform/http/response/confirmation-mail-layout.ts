/** The text and HTML of a mail that asks for a confirmation on a linked page. */
import { letter } from "./mail-layout.ts";
import { html } from "./page.ts";

export interface ConfirmationLetter {
  readonly subject: string;
  /** Who requests what. */
  readonly request: string;
  readonly instruction: string;
  /** URL of the page. */
  readonly link: string;
  /** What happens without a confirmation. */
  readonly otherwise: string;
}

/** The subject and both bodies. */
export function confirmationLetter({ subject, request, instruction, link, otherwise }: ConfirmationLetter) {
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
