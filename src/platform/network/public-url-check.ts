/** Checks PUBLIC_URL: the base of all links in mails, including the unsubscribe link that bulk mail must have. */
import { isIP } from "node:net";
import type { Config } from "#platform/config/config.ts";
import { isPublicAddress } from "./public-address.ts";

/** A sentence that says what is wrong with PUBLIC_URL and what to do; null if nothing is, or in capture mode. */
export function publicUrlFault({
  MAIL_MODE,
  PUBLIC_URL,
}: Pick<Config, "MAIL_MODE" | "PUBLIC_URL">): string | null {
  if (MAIL_MODE === "capture") return null;
  const remedy = "set it to the https address by which recipients reach this service";
  if (PUBLIC_URL === null)
    return `PUBLIC_URL is not set, so links in mails work on this machine only: ${remedy}`;
  const host = PUBLIC_URL.hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || (isIP(host) !== 0 && !isPublicAddress(host))) {
    return `PUBLIC_URL is a private address, so recipients cannot open links in mails: ${remedy}`;
  }
  if (PUBLIC_URL.protocol !== "https:") {
    return `PUBLIC_URL is not https, and one-click unsubscribing requires https (RFC 8058): ${remedy}`;
  }
  return null;
}
