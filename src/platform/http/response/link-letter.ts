/** Mails of the service that ask their recipient to open a page. */

import type { Language } from "#platform/languages/language.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import { html } from "./html-page.ts";
import { letter } from "./mail-layout.ts";

export interface LinkLetter {
  readonly subject: string;
  /** The sentence that names the requester and the request. */
  readonly request: string;
  /** The sentence that says how long the link works, with a colon at its end. */
  readonly instruction: string;
  /** The text of the link in the HTML form, which looks like a button. */
  readonly button: string;
  /** URL of the page. */
  readonly link: string;
  /** The sentence that says what happens otherwise. */
  readonly otherwise: string;
  /** English if omitted. */
  readonly language?: Language;
  /** Of the button, as CSS. */
  readonly colors?: { readonly background: string; readonly text: string };
}

const standardButton = { background: "#0b5cad", text: "#ffffff" };

/** The text and HTML form of the mail. */
export function linkLetter({
  subject,
  request,
  instruction,
  button,
  link,
  otherwise,
  language,
  colors = standardButton,
}: LinkLetter) {
  return {
    subject,
    text: `${request}\n\n${instruction}\n\n${link}\n\n${otherwise}\n`,
    html: letter(
      subject,
      html`<p>${request}</p>
<p>${instruction}</p>
<p><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:8px;background:${colors.background};color:${colors.text};font-weight:600;text-decoration:none">${button}</a></p>
<p style="font-size:14px;color:#59636e;word-break:break-all"><bdi>${link}</bdi></p>
<p style="font-size:14px;color:#59636e">${otherwise}</p>`,
      { language },
    ),
  };
}

/** How long the link of `confirmationLetter` works. */
export const CONFIRMATION_LINK_MS = 48 * HOUR_MS;

/** A mail whose page has a button that confirms the request. */
export function confirmationLetter(letter: Omit<LinkLetter, "instruction" | "button">) {
  return linkLetter({
    ...letter,
    instruction: "If that is right, open this page and press the button. The link works for 48 hours:",
    button: "Open the confirmation page",
  });
}
