/**
 * The mail that asks whether a workspace may send as an address. Nothing in it is written by whoever asked, except
 * the address itself: a name of their choice would make this mail a way to say anything to anybody. The workspace's
 * name is the operator's.
 */
import { html } from "../../platform/http/page.ts";

export interface ConfirmationMail {
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** @param link where the page with the button is. */
export function confirmationMail(email: string, workspaceName: string, link: string): ConfirmationMail {
  const subject = "Confirm your sender address";
  const request = `${workspaceName} asks to send mail as ${email}.`;
  const instruction = "If that is right, open this page and press the button. The link works for 48 hours:";
  const otherwise =
    "If you did not expect this mail, ignore it: without your confirmation nothing is sent in your name.";
  return {
    to: email,
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
