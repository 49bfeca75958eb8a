/**
 * A single sign-on that has begun: it is sealed into a cookie, so that only the browser that began it can finish it, and the
 * service keeps nothing of those that are never finished.
 */
import type { CookieJar } from "#platform/http/auth/session-cookie.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { MINUTE_MS } from "#platform/time-units.ts";
import type { SignOnProof } from "./openid-provider.ts";

const SIGN_ON_COOKIE = "posthaste_sign_on";
const CONTEXT = "single sign-on";
const SIGN_ON_MS = 10 * MINUTE_MS;

export interface BegunSignOn extends SignOnProof {
  /** Path to which the browser goes afterwards (readReturnPath). */
  readonly returnTo: string;
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

export function forgetBegun(cookies: CookieJar): void {
  cookies.remove(SIGN_ON_COOKIE);
}
