/** Mail of POST /emails whose subject and bodies a template gives. */
import type { Static } from "typebox";
import { type ApiError, invalid } from "#platform/errors.ts";
import type { MailTexts } from "#sending/templates/rendering/render-templates.ts";
import type { NewMail } from "./new-mail.ts";
import { readRecipients } from "./read-mailboxes.ts";

type MailBody = Static<typeof NewMail>;

/** A mail with its subject, and html, text or both. */
export type WrittenMail = MailBody & { readonly subject: string };

/** The template of a mail with the address that it is rendered for; null for a mail without one. @throws ApiError VALIDATION_ERROR */
export function templateOf(body: MailBody) {
  const { template } = body;
  if (template == null) return null;
  for (const field of ["html", "text"] as const) {
    if (body[field] == null) continue;
    throw invalid({ field, message: `${field} comes from the template: leave one of them out` });
  }
  const [first] = readRecipients(body).recipients;
  if (first === undefined) throw new Error("a mail without recipients");
  return { template, email: first.address, subject: body.subject ?? null };
}

/** @throws ApiError VALIDATION_ERROR, and the given one */
export function withTemplate(body: MailBody, rendered: MailTexts | ApiError | null): WrittenMail {
  if (rendered instanceof Error) throw rendered;
  const subject = rendered?.subject ?? body.subject;
  if (subject === undefined) throw invalid({ field: "subject", message: "subject is required" });
  if (rendered === null) return { ...body, subject };
  return { ...body, subject, html: rendered.html, text: rendered.text };
}
