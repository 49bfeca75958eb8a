/** Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, six digits and steps of 30 s, which every app supports. */
import { Secret, TOTP } from "otpauth";
import type { SealedColumn } from "#platform/secrets/reseal-store.ts";

const STEP_SECONDS = 30;
const DIGITS = 6;
/** Steps before and after the present one whose codes are accepted, for clocks that differ. */
const WINDOW = 1;
/** 160 bits, the length of the MAC (RFC 4226 section 4). */
const SECRET_BYTES = 20;
const ISSUER = "Posthaste";

/** A new secret in Base32. */
export function newAppSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The otpauth:// URI that a page shows as a QR code. */
export function appUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/**
 * The step (30 s since 1970) of a code; null when the code is wrong.
 * @param lastStep of the last code that was accepted: earlier and equal steps are refused, so that no code works twice
 */
export function stepOfCode(secret: string, code: string, now: Date, lastStep: number | null): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret, "").validate({ token: code, timestamp: now.getTime(), window: WINDOW });
  if (delta === null) return null;
  const step = Math.floor(now.getTime() / 1_000 / STEP_SECONDS) + delta;
  return lastStep !== null && step <= lastStep ? null : step;
}

export const sealedAppSecrets: SealedColumn = {
  what: "secrets of authenticator apps",
  table: "authenticator_apps",
  column: "secret",
  isInstallationWide: true,
  contextOf: (id) => `authenticator app ${id}`,
};

function totpOf(secret: string, label: string): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: "SHA1",
    digits: DIGITS,
    period: STEP_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}
