/**
 * Checks the content of a mail without asking anyone: rendered by the function that sends, and read as its author wrote it,
 * so that findings have a line and a column. It runs in a thread (check-thread.ts), because 2 MB of HTML take seconds.
 */
import { findUnsupported } from "#mail/client-support/find-unsupported.ts";
import { type HtmlMap, mapHtml } from "#mail/html/tag-positions.ts";
import { htmlTemplate } from "#mail/merge-tags/html-template.ts";
import { readTemplate } from "#mail/merge-tags/read-template.ts";
import { visibleText } from "#mail/merge-tags/visible-text.ts";
import { type MailToRender, type RenderedPreview, renderMail } from "#sending/preview/render-mail.ts";
import type { SmsSize } from "#sending/preview/rendered-mail.ts";
import type { CheckFinding, Severity } from "./campaign-check.ts";
import { checkMarkup, type MarkupReading } from "./check-markup.ts";
import { type ChosenTargets, chooseTargets } from "./choose-targets.ts";
import { faultFinding, htmlFindings, type PlacedFinding, wholeFinding } from "./findings.ts";

export interface MailToCheck extends MailToRender {
  /** Whether a spam scanner gets the whole mail, which otherwise stays in the thread. */
  readonly isScanned: boolean;
}

export interface MailCheck {
  readonly findings: readonly CheckFinding[];
  /** Links and images whose servers are asked. */
  readonly outside: ChosenTargets;
  /** The whole mail for a spam scanner; null when none gets it, it is larger than scanners take, or cannot be rendered. */
  readonly message: Uint8Array | null;
  readonly subject: string;
  readonly previewText: string;
  /** Octets of the whole mail and of its HTML part; null when the mail cannot be rendered. */
  readonly size: number | null;
  readonly htmlSize: number | null;
  /** Null for mail. */
  readonly sms: SmsSize | null;
}

/** Gmail shows this much of the HTML part, and a link to the rest. */
const GMAIL_CLIP = 102_400;
/** Many servers refuse mail above 10 MB, some below. */
const LARGE_MAIL = 10 * 1024 * 1024;
/** Mail programs on a computer show some 70 characters of a subject, telephones half of that. */
const LONG_SUBJECT = 70;
/** Larger mail is hardly ever spam, and takes scanners long (spamc(1), option -s). */
const MOST_SCANNED = 500 * 1024;
const SHORT_PREVIEW = 30;
const FEW_WORDS = 10;
/** Of some forty mail programs. */
const MANY_PROGRAMS = 15;
const leading = /^(?:Gmail|Apple Mail)/;
const nothing: MarkupReading = { findings: [], targets: [], images: 0 };

export async function checkMail(mail: MailToCheck): Promise<MailCheck> {
  const { campaign, files } = mail;
  const html = campaign.html_content ?? "";
  const map = html === "" ? null : mapOf(html);
  const contentIds = new Set(files.flatMap(({ content_id }) => (content_id ? [content_id] : [])));
  const markup = map === null ? nothing : checkMarkup(html, map, contentIds);
  const support = map === null ? [] : supportFindings(html, map);
  const found = htmlFindings(html, [...markup.findings, ...support]);
  const outside = chooseTargets(html, markup.targets, [mail.publicUrl, mail.linkBase]);
  const rendered = await renderMail(mail);
  if (!rendered.ok) {
    const faults = rendered.faults.map((fault) => faultFinding("error", "content_invalid", fault));
    const unrendered = { subject: campaign.subject, previewText: "", size: null, htmlSize: null, sms: null };
    return { findings: [...faults, ...found], outside, message: null, ...unrendered };
  }
  const findings = [
    ...rendered.warnings.map((fault) => faultFinding("warning", "merge_tag_unknown", fault)),
    ...found,
    ...subjectFindings(rendered.subject),
    ...previewFindings(rendered.previewText),
    ...partFindings(rendered, markup.images),
    ...sizeFindings(rendered),
  ];
  const { subject, previewText, sizeBytes: size, htmlBytes: htmlSize } = rendered;
  const isGiven = mail.isScanned && rendered.message.length <= MOST_SCANNED;
  const message = isGiven ? rendered.message : null;
  return { findings, outside, message, subject, previewText, size, htmlSize, sms: null };
}

/** The positions of the markup around merge tags; of the source as it is if its merge tags are broken. */
function mapOf(html: string): HtmlMap | null {
  const reading = readTemplate(html);
  return reading.ok ? (htmlTemplate(reading.template)?.map ?? null) : mapHtml(html);
}

/** A warning where Gmail or Apple Mail ignore a feature, or a third of all mail programs do. */
function supportFindings(html: string, map: HtmlMap): PlacedFinding[] {
  return findUnsupported(html, map).map(({ slug, title, at, times, ignoring }) => ({
    severity:
      ignoring.length >= MANY_PROGRAMS || ignoring.some((name) => leading.test(name)) ? "warning" : "info",
    code: "client_support",
    at,
    times,
    message: `${ignoring.slice(0, 3).join(", ")}${ignoring.length > 3 ? ` and ${ignoring.length - 3} more` : ""} ignore ${title}.`,
    fix: "See that the mail is readable without it.",
    url: `https://www.caniemail.com/features/${slug}/`,
    mailPrograms: ignoring,
  }));
}

function subjectFindings(subject: string): CheckFinding[] {
  const text = subject.trim();
  const found = (severity: Severity, code: string, message: string, fix: string) =>
    wholeFinding(severity, code, "subject", message, fix);
  if (text === "") return [found("error", "subject_empty", "The subject is empty.", "Give a subject.")];
  const { length } = Array.from(text);
  const letters = text.replaceAll(/[^\p{L}]/gu, "");
  return [
    ...(length > LONG_SUBJECT
      ? [
          found(
            "info",
            "subject_long",
            `The subject has ${length} characters; telephones show about 35, computers about ${LONG_SUBJECT}.`,
            "Say what matters in the first 35 characters.",
          ),
        ]
      : []),
    ...(letters.length > 10 && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
      ? [
          found(
            "warning",
            "subject_in_capitals",
            "The whole subject is in capitals, which looks like spam.",
            "Write it as a sentence.",
          ),
        ]
      : []),
  ];
}

function previewFindings(preview: string): CheckFinding[] {
  const found = (severity: Severity, message: string) =>
    wholeFinding(
      severity,
      "preview_text",
      "html_content",
      message,
      "Begin the HTML with a hidden element whose text continues the subject.",
    );
  if (preview.length < SHORT_PREVIEW) {
    return [
      found("info", "The mail begins with little text, so mail programs show little beside its subject."),
    ];
  }
  return /^(?:view|read|open|show|trouble|can.?t see|having|unsubscribe)\b.{0,60}\b(?:browser|online|web|unsubscribe)\b/i.test(
    preview,
  )
    ? [found("warning", `Mail programs show "${preview.slice(0, 60)}" beside the subject.`)]
    : [];
}

function partFindings({ derived, text, html }: RenderedPreview, images: number): CheckFinding[] {
  const seen = visibleText(html).replaceAll(/https?:\/\/\S+/g, " ");
  const words = seen.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  return [
    ...(derived.text
      ? [
          wholeFinding(
            "info",
            "text_derived",
            "text_content",
            "The text part is made from the HTML.",
            "Read it in the preview, or write your own text_content.",
          ),
        ]
      : []),
    ...(derived.unsubscribe_footer
      ? [
          wholeFinding(
            "info",
            "unsubscribe_added",
            derived.html ? "text_content" : "html_content",
            "The mail has no visible unsubscribe link, so a footer with one is added.",
            "Put {{ unsubscribe_url }} where the link should be.",
          ),
        ]
      : []),
    ...(images > 0 && words < FEW_WORDS
      ? [
          wholeFinding(
            "warning",
            "images_only",
            "html_content",
            "The mail consists of images with hardly any text: filters distrust it, and without images it is empty.",
            "Write what the images say as text.",
          ),
        ]
      : []),
    ...(text.trim() === "" && images === 0
      ? [wholeFinding("error", "content_empty", null, "The mail shows nothing.", "Write its content.")]
      : []),
  ];
}

function sizeFindings({ htmlBytes, sizeBytes }: RenderedPreview): CheckFinding[] {
  const kilobytes = Math.round(htmlBytes / 1024);
  const about = (severity: Severity, message: string) =>
    wholeFinding(
      severity,
      "html_clipped",
      "html_content",
      message,
      "Shorten the HTML: remove comments and repeated styles, or link to the rest.",
    );
  return [
    ...(htmlBytes > GMAIL_CLIP
      ? [
          about(
            "warning",
            `The HTML has ${kilobytes} KB: Gmail hides what follows the first 102 KB, the footer included.`,
          ),
        ]
      : htmlBytes > GMAIL_CLIP * 0.9
        ? [about("info", `The HTML has ${kilobytes} KB; Gmail shows 102 KB.`)]
        : []),
    ...(sizeBytes > LARGE_MAIL
      ? [
          wholeFinding(
            "warning",
            "mail_large",
            "attachments",
            `The mail has ${(sizeBytes / 1024 / 1024).toFixed(1)} MB as sent; some servers refuse more than 10 MB.`,
            "Link to large files in place of attaching them.",
          ),
        ]
      : []),
  ];
}
