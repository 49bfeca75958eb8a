/** The languages that the service writes to recipients in, and how a tag or a header names one. */
import Negotiator from "negotiator";

/** ISO 639-1 codes. Chinese is written in simplified characters. */
export const languages = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ar", "ja", "zh"] as const;
export type Language = (typeof languages)[number];

/** The language when nothing names another one. */
export const DEFAULT_LANGUAGE: Language = "en";

/** Longer than any language tag that people use (RFC 5646 section 4.4.1). */
const LONGEST_TAG = 35;

/** The writing direction, as the attribute `dir` takes it. */
export function directionOf(language: Language): "ltr" | "rtl" {
  return language === "ar" ? "rtl" : "ltr";
}

/** The tag for the attribute `lang`: it decides which glyphs of Han characters are shown. */
export function htmlTagOf(language: Language): string {
  return language === "zh" ? "zh-Hans" : language;
}

/**
 * The language of a tag such as `de`, `de-AT` or `pt_BR`, in any case: its first part counts (lookup of RFC 4647 section
 * 3.4). Undefined for anything else.
 */
export function readLanguage(tag: unknown): Language | undefined {
  if (typeof tag !== "string" || tag.length > LONGEST_TAG) return undefined;
  const [first = ""] = tag.trim().toLowerCase().split(/[-_]/);
  return languages.find((language) => language === first);
}

/** The language that the reader of a page prefers by Accept-Language (RFC 9110 section 12.5.4); undefined for none of ours. */
export function preferredLanguage(acceptLanguage: string | undefined): Language | undefined {
  const headers = { "accept-language": acceptLanguage ?? "" };
  for (const tag of new Negotiator({ headers }).languages()) {
    const language = readLanguage(tag);
    if (language !== undefined) return language;
  }
  return undefined;
}
