/** The smart host URL of a routing rule: validated, stored sealed, and shown without its password. */
import { isIP } from "node:net";
import { parseDomain } from "#mail/address.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import type { SealedColumn } from "#platform/secrets/reseal-store.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";

const MAIL_PORTS = [25, 465, 587];
const FIRST_FREE_PORT = 1024;
const HIDDEN = "***";

/**
 * Validates `smtp://user:password@host:port` or `smtps://…`; returns the URL, or a sentence about what is wrong with
 * it.
 * @param allowPrivate whether it may be in a private network
 */
export function readRelayUrl(
  text: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): { readonly url: string } | { readonly fault: string } {
  if (!/^smtps?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) {
    return { fault: "must be like smtp://user:password@host:587, or smtps:// for implicit TLS" };
  }
  const url = new URL(text);
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "") {
    return { fault: "must end with the port: special characters of user and password are percent-encoded" };
  }
  if (url.username === "" && url.password !== "") return { fault: "has a password but no user" };
  if (!isPercentEncoded(url.username) || !isPercentEncoded(url.password)) {
    return { fault: "has a user or password that is not percent-encoded" };
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) === 0 && !parseDomain(host).ok) return { fault: "needs a host name or an IP address" };
  if (isIP(host) !== 0 && !allowPrivate && !isPublicAddress(host)) {
    return { fault: "must not lead to a private or local address" };
  }
  const port = Number(url.port);
  if (url.port !== "" && !MAIL_PORTS.includes(port) && port < FIRST_FREE_PORT) {
    return { fault: `has a port that is not one of mail: ${MAIL_PORTS.join(", ")}, or one from 1024 on` };
  }
  return { url: url.href.replace(/\/$/, "") };
}

function isPercentEncoded(text: string): boolean {
  try {
    return !/[\p{Cc}]/u.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}

/** The URL for answers, without its password. */
export function redacted(relayUrl: string): string {
  const url = new URL(relayUrl);
  if (url.password !== "") url.password = HIDDEN;
  return url.href.replace(/\/$/, "");
}

/** Whether the URL is from an answer, with its password replaced by ***. */
export function isRedacted(relayUrl: string): boolean {
  return new URL(relayUrl).password === HIDDEN;
}

export function sealRelayUrl(secrets: Secrets, ruleId: string, relayUrl: string): Buffer {
  return secrets.seal(relayUrl, contextOf(ruleId));
}

export function openRelayUrl(secrets: Secrets, ruleId: string, sealed: Buffer): string {
  return secrets.open(sealed, contextOf(ruleId));
}

export const sealedRelayUrls: SealedColumn = {
  what: "relay addresses of routing rules",
  table: "routing_rules",
  column: "relay_url",
  contextOf,
};

function contextOf(ruleId: string): string {
  return `routing rule ${ruleId}`;
}
