/** The HTML of a mail that asks somebody to open a page and press its button there, in the look of our pages. */
import { html } from "./page.ts";

export interface ConfirmationLetter {
  readonly subject: string;
  /** Who wants what. */
  readonly request: string;
  readonly instruction: string;
  /** Where the page is. */
  readonly link: string;
  /** What happens if they do nothing. */
  readonly otherwise: string;
}

/** Both forms of it. */
export function confirmationLetter({ subject, request, instruction, link, otherwise }: ConfirmationLetter) {
  return {
    subject,
    text: `${request}\n\n${instruction}\n\n${link}\n\n${otherwise}\n`,
    html: html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.6 system-ui,sans-serif;color:#1b1f24">
<div style="max-width:30em;margin:0 auto">
<h1 style="font-size:22px;line-height:1.3">${subject}</h1>
<p>${request}</p>
<p>${instruction}</p>
<p><a href="${link}" style="display:inline-block;padding:12px 24px;border-radius:8px;background:#0b5cad;color:#ffffff;font-weight:600;text-decoration:none">Open the confirmation page</a></p>
<p style="font-size:14px;color:#59636e;word-break:break-all">${link}</p>
<p style="font-size:14px;color:#59636e">${otherwise}</p>
</div>
</body>
</html>
`.toString(),
  };
}
