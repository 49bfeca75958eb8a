/** Renders an SMS as it would be sent: compiled, written and encoded by the functions that send it. */

import { createSecretKey, randomBytes } from "node:crypto";
import { encodeSmsText } from "#delivery/sms/sms-encoding.ts";
import { escapeHtml } from "#mail/merge-tags/escape.ts";
import { newId } from "#platform/ids.ts";
import { compileContent } from "#sending/content/compile.ts";
import { renderContent } from "#sending/content/render.ts";
import { writeSms } from "#sending/mail/mail-content.ts";
import { mailValues } from "#sending/mail/web-view-values.ts";
import { phoneIn } from "#sending/sms/phone-number.ts";
import { outgoingLinks, testLinks } from "#tracking/link-tokens.ts";
import { darkHtml } from "./dark-html.ts";
import { previewOfText } from "./preview-text.ts";
import type { MailToRender, RenderAnswer } from "./render-mail.ts";
import type { SmsSize } from "./rendered-mail.ts";

export function renderSms(sms: MailToRender): RenderAnswer {
  const { campaign, options, person, now, publicUrl } = sms;
  if (hasNoText(campaign)) {
    return { ok: false, faults: [{ field: "text_content", message: "text_content is required for an sms" }] };
  }
  const compiled = compileContent({ ...campaign, html_content: null }, options);
  if (!compiled.ok) return compiled;
  const values = mailValues(campaign, person, now);
  const shown = renderContent(compiled.content, values, testLinks(publicUrl));
  if (!shown.ok) return { ok: false, faults: [shown.fault] };
  const to = phoneIn(person.custom_fields, campaign.phone_field_name ?? "", sms.smsCountry);
  const ready = { campaign, content: compiled.content, headers: [] };
  const { text: sent } = writeSms(ready, to ?? "", values, madeUpLinks(sms));
  const { octets } = encodeSmsText(sent);
  const text = (shown.text ?? "").trim();
  const page = pageOf(text);
  return {
    ok: true,
    subject: shown.subject,
    previewText: previewOfText(text),
    html: "",
    text,
    headers: [],
    sizeBytes: octets.length,
    htmlBytes: 0,
    message: octets,
    derived: { html: false, text: false, unsubscribe_footer: false },
    sms: { ...smsSizeOf(sent), to },
    warnings: compiled.warnings,
    pages: { light: page, dark: darkHtml(page) },
  };
}

export function hasNoText({ text_content }: MailToRender["campaign"]): boolean {
  return (text_content ?? "").trim() === "";
}

function smsSizeOf(text: string): SmsSize {
  const { dataCoding, octets, parts } = encodeSmsText(text);
  const isGsm = dataCoding === 0;
  return {
    alphabet: isGsm ? "GSM-7" : "UCS-2",
    characters: isGsm ? octets.length : octets.length / 2,
    parts,
  };
}

/** As long as those that are sent. Their key is made up, so that they are of no use. */
function madeUpLinks({ campaign, linkBase, bounceDomain }: MailToRender) {
  const key = createSecretKey(randomBytes(32));
  const mail = { workspaceId: campaign.workspace_id, messageId: newId() };
  return outgoingLinks(mail, linkBase, key, bounceDomain);
}

function pageOf(text: string): string {
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head><body style="font-family:sans-serif;padding:8px"><p style="white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(text)}</p></body></html>`;
}
