/** Links and images of a mail as its author wrote it: missing, unreachable for readers, misleading, or not described. */
import { getDomain } from "tldts";
import { decodeEntities } from "#mail/html/entities.ts";
import type { HtmlMap, HtmlTag } from "#mail/html/tag-positions.ts";
import type { OutsideTarget } from "./choose-targets.ts";
import type { PlacedFinding } from "./findings.ts";

/** Text of a link that is compared with its target. */
const LONGEST_LINK_TEXT = 300;
const templateMark = /\{\{|\{%/;
/** Hosts of examples (RFC 2606, RFC 6761), and what authors write until they know the address. */
const exampleHost = /(?:^|\.)(?:example|test|invalid|localhost|local|example\.(?:com|net|org))$/;
const placeholderWords = /your-?(?:domain|site|link|url|company)|placeholder|lorem-?ipsum|\btodo\b|\bxxx+\b/i;
const looksLikeAddress = /^(?:https?:\/\/)?(?:[\p{L}\p{N}-]+\.)+[\p{L}]{2,}(?:[/?#]\S*)?$/u;
const shorteners: ReadonlySet<string> = new Set(
  "bit.ly tinyurl.com t.co goo.gl ow.ly is.gd buff.ly rebrand.ly cutt.ly tiny.cc shorturl.at".split(" "),
);

export interface MarkupReading {
  readonly findings: readonly PlacedFinding[];
  /** Links and images whose servers may be asked: not placeholders. */
  readonly targets: readonly OutsideTarget[];
  readonly images: number;
}

/** @param contentIds ids of the mail's inline files, without angle brackets */
export function checkMarkup(html: string, { tags }: HtmlMap, contentIds: ReadonlySet<string>): MarkupReading {
  const findings: PlacedFinding[] = [];
  const targets: OutsideTarget[] = [];
  let images = 0;
  for (const tag of tags) {
    if (tag.isInComment) continue;
    const value = (name: string) => attributeOf(html, tag, name);
    if (tag.element === "a" || tag.element === "area") {
      const href = value("href");
      if (href === undefined) continue;
      const faults = [...linkFaults(href), ...(tag.element === "a" ? textFaults(html, tag, href) : [])];
      findings.push(...faults.map((fault) => ({ ...fault, at: tag.start, url: href.slice(0, 2_000) })));
      if (isOutside(href) && !isPlaceholder(href.trim()))
        targets.push({ kind: "link", url: href.trim(), at: tag.start });
    } else if (tag.element === "img") {
      images += 1;
      const src = value("src");
      const fault = imageFault(src, contentIds);
      if (fault !== null) findings.push({ ...fault, at: tag.start, ...shownUrl(src) });
      if (value("alt") === undefined) findings.push({ ...withoutAlt, at: tag.start, ...shownUrl(src) });
      if (!hasWidth(value("width"), value("style"))) {
        findings.push({ ...withoutWidth, at: tag.start, ...shownUrl(src) });
      }
      if (src !== undefined && isOutside(src) && !isPlaceholder(src)) {
        targets.push({ kind: "image", url: src.trim(), at: tag.start });
      }
    } else if (tag.element === "script") findings.push({ ...script, at: tag.start });
  }
  return { findings, targets, images };
}

type Fault = Omit<PlacedFinding, "at" | "url">;

const withoutAlt: Fault = {
  severity: "warning",
  code: "image_without_alt",
  message:
    "An image has no alt text: people who do not load images, or who have the mail read to them, miss it.",
  fix: 'Add alt="…" with what the image says, or alt="" if it only decorates.',
};
const withoutWidth: Fault = {
  severity: "info",
  code: "image_without_width",
  message: "An image has no width: Outlook shows it in its full size, and the text jumps when it loads.",
  fix: 'Add width="…" with the width in pixels at which it is shown.',
};
const script: Fault = {
  severity: "warning",
  code: "script_removed",
  message: "Mail programs remove scripts, and filters distrust mail that has one.",
  fix: "Remove the script element.",
};

function attributeOf(html: string, { attributes }: HtmlTag, name: string): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decodeEntities(html.slice(found.start, found.end));
}

const hasWidth = (width: string | undefined, style = "") =>
  width !== undefined || /(?:^|;)\s*(?:max-)?width\s*:/i.test(style);

const shownUrl = (url: string | undefined) =>
  url === undefined || url.startsWith("data:") ? {} : { url: url.slice(0, 2_000) };

const isOutside = (url: string) =>
  !templateMark.test(url) && /^\s*https?:\/\//i.test(url) && URL.canParse(url.trim());

function isPlaceholder(url: string): boolean {
  return exampleHost.test(new URL(url).hostname) || placeholderWords.test(url);
}

/** What is wrong with an address; of a placeholder nothing else, because it is replaced. */
function linkFaults(href: string): Fault[] {
  const url = href.trim();
  if (templateMark.test(url)) return [];
  if (url === "" || url === "#") {
    const message = "A link leads nowhere.";
    return [{ severity: "error", code: "link_empty", message, fix: "Give its address, or remove the link." }];
  }
  if (url.startsWith("#") || /^(?:mailto|tel|sms):/i.test(url)) return [];
  if (/^(?:javascript|data|file|vbscript):/i.test(url)) {
    const message = "Mail programs do not open a link with this scheme.";
    return [{ severity: "error", code: "link_scheme", message, fix: "Use an https address." }];
  }
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || parsed.host === "") {
    const message = `The link "${url.slice(0, 100)}" is no complete address, so it does not work in a mail.`;
    const fix = "Write the whole address, beginning with https://.";
    return [{ severity: "error", code: "link_incomplete", message, fix }];
  }
  const { hostname, protocol } = parsed;
  if (isPlaceholder(url)) {
    const message = `The link to ${hostname} looks like a placeholder.`;
    return [{ severity: "warning", code: "link_placeholder", message, fix: "Give the real address." }];
  }
  const faults: Fault[] = [];
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith("[")) {
    const message = "A link to an IP address looks like spam to filters.";
    faults.push({ severity: "warning", code: "link_to_ip_address", message, fix: "Use a host name." });
  }
  if (shorteners.has(hostname)) {
    const message = `Filters distrust links through the shortener ${hostname}.`;
    faults.push({ severity: "warning", code: "link_shortened", message, fix: "Link to the target itself." });
  }
  if (protocol === "http:") {
    const message = `The link to ${hostname} is not encrypted.`;
    faults.push({
      severity: "info",
      code: "link_http",
      message,
      fix: "Use https if the site supports it.",
    });
  }
  return faults;
}

/** A link without text, or whose text is an address of another site than its target. */
function textFaults(html: string, tag: HtmlTag, href: string): Fault[] {
  const following = html.slice(tag.end, tag.end + LONGEST_LINK_TEXT);
  const end = following.search(/<\/a/i);
  if (end === -1) return [];
  const inner = following.slice(0, end);
  if (/<img|<svg|<picture/i.test(inner) || templateMark.test(inner)) return [];
  const text = decodeEntities(inner.replaceAll(/<[^>]*>/g, "")).trim();
  if (text === "") {
    const message = "A link has no text, so readers cannot see or use it.";
    return [
      { severity: "warning", code: "link_without_text", message, fix: "Give it a text, or remove it." },
    ];
  }
  if (!isOutside(href) || !looksLikeAddress.test(text)) return [];
  // An IP address has no domain.
  const [shown, target] = [getDomain(text), getDomain(href) ?? new URL(href.trim()).hostname];
  if (shown === null || shown === target) return [];
  const message = `A link shows ${shown} and leads to ${target}: filters and readers take this for phishing.`;
  const fix = "Show words in place of the address, or the address that the link leads to.";
  return [{ severity: "warning", code: "link_misleading", message, fix }];
}

function imageFault(src: string | undefined, contentIds: ReadonlySet<string>): Fault | null {
  const url = src?.trim() ?? "";
  if (templateMark.test(url)) return null;
  if (url === "") {
    const message = "An image has no address.";
    return {
      severity: "error",
      code: "image_without_source",
      message,
      fix: "Give src, or remove the image.",
    };
  }
  if (/^cid:/i.test(url)) {
    const id = url.slice("cid:".length);
    if (contentIds.has(id)) return null;
    const message = `No attachment has the content_id "${id.slice(0, 100)}" that an image refers to.`;
    return {
      severity: "error",
      code: "image_missing",
      message,
      fix: "Attach the image with this content_id.",
    };
  }
  if (/^data:/i.test(url)) {
    return {
      severity: "warning",
      code: "image_embedded",
      message: "Gmail and Outlook do not show images that are embedded as data: addresses.",
      fix: "Attach the image with a content_id, or link to it on a web server.",
    };
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    const message = `The image "${url.slice(0, 100)}" has no complete address, so no reader sees it.`;
    return {
      severity: "error",
      code: "image_incomplete",
      message,
      fix: "Write the whole address, beginning with https://.",
    };
  }
  if (/^http:/i.test(url)) {
    const message = "Some mail programs do not load an image over http.";
    return { severity: "warning", code: "image_http", message, fix: "Use https." };
  }
  return null;
}
