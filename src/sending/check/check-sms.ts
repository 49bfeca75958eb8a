/** Checks the text of an SMS, rendered by the function that sends it. It runs in a thread (check-thread.ts). */
import { encodeSmsText, MOST_PARTS } from "#delivery/sms/sms-encoding.ts";
import { hasNoText, renderSms } from "#sending/preview/render-sms.ts";
import type { SmsSize } from "#sending/preview/rendered-mail.ts";
import type { CheckFinding, Severity } from "./campaign-check.ts";
import type { MailCheck, MailToCheck } from "./check-mail.ts";
import { faultFinding, positionsIn, wholeFinding } from "./findings.ts";

const outside = { targets: [], leftOut: { link: 0, image: 0 } };

export function checkSms(sms: MailToCheck): MailCheck {
  const { campaign } = sms;
  const rendered = renderSms(sms);
  if (!rendered.ok) {
    const faults = rendered.faults.map((fault) => faultFinding("error", "content_invalid", fault));
    const findings = hasNoText(campaign) ? [empty] : faults;
    const unrendered = { previewText: "", size: null, htmlSize: null, sms: null };
    return { findings, outside, message: null, subject: campaign.subject, ...unrendered };
  }
  const { subject, text, sms: size } = rendered;
  return {
    findings: [
      ...rendered.warnings.map((fault) => faultFinding("warning", "merge_tag_unknown", fault)),
      ...(text === "" ? [empty] : []),
      ...(size === null ? [] : sizeFindings(size)),
      ...alphabetFindings(campaign.text_content ?? "", text),
      ...(/unsubscribe_url/.test(campaign.text_content ?? "") ? [] : [withoutLink]),
    ],
    outside,
    message: null,
    subject,
    previewText: rendered.previewText,
    size: rendered.sizeBytes,
    htmlSize: null,
    sms: size && { alphabet: size.alphabet, characters: size.characters, parts: size.parts },
  };
}

const found = (severity: Severity, code: string, message: string, fix: string) =>
  wholeFinding(severity, code, "text_content", message, fix);
const empty = found("error", "content_empty", "The SMS has no text.", "Write its text.");
const withoutLink = found(
  "info",
  "unsubscribe_missing",
  "The text has no unsubscribe link, and an SMS gets no footer with one.",
  "Put {{ unsubscribe_url }} where the link should be.",
);

function sizeFindings({ parts, characters, alphabet }: SmsSize): CheckFinding[] {
  const takes = `The text takes ${parts} SMS: ${characters} characters in ${alphabet}.`;
  if (parts > MOST_PARTS) {
    const fix = "Shorten it.";
    return [found("error", "sms_too_long", `${takes} More than ${MOST_PARTS} are not sent.`, fix)];
  }
  if (parts === 1) return [];
  return [found("info", "sms_parts", takes, "Gateways charge for each: shorten it if it can be shorter.")];
}

/** The first character that makes each SMS hold 70 characters in place of 160. */
function alphabetFindings(written: string, text: string): CheckFinding[] {
  const isForeign = (one: string) => encodeSmsText(one).dataCoding !== 0;
  const foreign = isForeign(text) ? Array.from(text).find(isForeign) : undefined;
  if (foreign === undefined) return [];
  const message = `“${foreign}” is not in the GSM alphabet, so that one SMS holds 70 characters in place of 160.`;
  const finding = found(
    "info",
    "sms_alphabet",
    message,
    "Write it with another character, if that is as good.",
  );
  const at = written.indexOf(foreign);
  return [at === -1 ? finding : { ...finding, ...positionsIn(written)(at) }];
}
