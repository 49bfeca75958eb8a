/**
 * The mail that asks whether somebody wants to be on a list. Nothing in it is written by whoever filled in the form,
 * except the address itself: a name of their choice would make this mail a way to say anything to anybody. The list's
 * name is the workspace's.
 */
import { html } from "../../platform/http/page.ts";

export interface ConfirmationMail {
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** @param link where the page with the button is */
export function confirmationMail(email: string, listName: string, link: string): ConfirmationMail {
  const subject = `Please confirm: ${listName}`;
  const request = `Somebody, hopefully you, wants ${email} to get emails from ${listName}.`;
  const instruction = "If that is right, open this page and press the button. The link works for 48 hours:";
  const otherwise = "If you did not ask for this, ignore it: without your confirmation you get no more mail.";
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
