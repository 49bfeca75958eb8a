/** Whether what is mailed leads to this service: links, and the unsubscribing that every bulk mail has to offer. */
import { isIP } from "node:net";
import type { Config } from "#platform/config/config.ts";
import { isPublicAddress } from "./public-address.ts";

/** What is wrong with PUBLIC_URL where mail leaves the machine, as a sentence that says what to do; null: nothing. */
export function publicUrlFault({
  MAIL_MODE,
  PUBLIC_URL,
}: Pick<Config, "MAIL_MODE" | "PUBLIC_URL">): string | null {
  if (MAIL_MODE === "capture") return null;
  const cure = "set it to the https address by which recipients reach this service";
  if (PUBLIC_URL === null)
    return `PUBLIC_URL is not set, so links in mails lead to this machine alone: ${cure}`;
  const host = PUBLIC_URL.hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || (isIP(host) !== 0 && !isPublicAddress(host))) {
    return `PUBLIC_URL is an address that nobody else reaches, and links in mails lead there: ${cure}`;
  }
  if (PUBLIC_URL.protocol !== "https:") {
    return `PUBLIC_URL is not https, and mail programs unsubscribe by https alone (RFC 8058): ${cure}`;
  }
  return null;
}
