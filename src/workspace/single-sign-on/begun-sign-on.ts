/**
 * A single sign-on that has begun: it is sealed into a cookie, so that only the browser that began it can finish it, and the
 * service keeps nothing of those that are never finished.
 */
import { invalid } from "#platform/errors.ts";
import type { CookieJar } from "#platform/http/auth/session-cookie.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import { type SignOnProof, TOLERANCE_SECONDS } from "./openid-provider.ts";

const SIGN_ON_COOKIE = "posthaste_sign_on";
const CONTEXT = "single sign-on";
const SIGN_ON_MS = 10 * MINUTE_MS;

export interface BegunSignOn extends SignOnProof {
  /** Path to which the browser goes afterwards (readReturnPath). */
  readonly returnTo: string;
  /** Whether the provider was to ask again who the person is. */
  readonly asksAgain: boolean;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** @returns when the cookie ends */
export function keepBegun(
  cookies: CookieJar,
  secrets: Secrets,
  begun: Omit<BegunSignOn, "endsAt">,
  now: Date,
): Date {
  const endsAt = now.getTime() + SIGN_ON_MS;
  const sealed = secrets.seal(JSON.stringify({ ...begun, endsAt } satisfies BegunSignOn), CONTEXT);
  cookies.set(SIGN_ON_COOKIE, sealed.toString("base64url"), SIGN_ON_MS / 1_000);
  return new Date(endsAt);
}

/** Undefined when this browser has begun none, or too long ago. */
export function findBegun(cookies: CookieJar, secrets: Secrets, now: Date): BegunSignOn | undefined {
  const sealed = cookies.get(SIGN_ON_COOKIE);
  const opened = sealed && secrets.openWith(Buffer.from(sealed, "base64url"), CONTEXT);
  if (!opened) return undefined;
  // Only this file seals with the context.
  const begun = JSON.parse(opened.plain) as BegunSignOn;
  return begun.endsAt > now.getTime() ? begun : undefined;
}

/** Whether a person has proved who they are since the start. @param provedAt by the clock of the provider; null: unknown */
export function isProvedSince(provedAt: Date | null, { endsAt }: BegunSignOn): boolean {
  return provedAt !== null && provedAt.getTime() >= endsAt - SIGN_ON_MS - TOLERANCE_SECONDS * 1_000;
}

export function forgetBegun(cookies: CookieJar): void {
  cookies.remove(SIGN_ON_COOKIE);
}

/** It is kept in a cookie, of which browsers take 4096 octets. */
export const LONGEST_RETURN_PATH = 1_000;
/** No host has this name (RFC 6761 section 6.4). */
const BASE = "http://posthaste.invalid";

/** @throws ApiError VALIDATION_ERROR unless the text is a path of this site, with a query and fragment if need be */
export function readReturnPath(text: string): string {
  // Browsers treat "\" like "/", and skip tabs and line breaks: "/\other.example" and "/<tab>/other.example" are other sites.
  const isPath = /^\/(?![/\\])/.test(text) && !/[\\\p{Cc}]/u.test(text);
  const url = isPath && URL.canParse(text, BASE) ? new URL(text, BASE) : null;
  const path = url === null ? "" : `${url.pathname}${url.search}${url.hash}`;
  // "/.//other.example" is a path, whose normal form is "//other.example".
  if (url?.origin !== BASE || path.startsWith("//") || path.length > LONGEST_RETURN_PATH) {
    throw invalid({
      field: "return_to",
      message: `return_to must be a path of this site such as /console, with at most ${LONGEST_RETURN_PATH} characters`,
    });
  }
  return path;
}
