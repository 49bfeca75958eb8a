/**
 * The header Stripe-Signature: `t=<seconds>,v1=<hex>,...`, an HMAC-SHA256 over time and body under the endpoint's
 * secret. While a secret is rolled there is a v1 for each; other schemes are ignored.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/** Whether the body is signed with the secret, and was not more than five minutes ago. */
export function isSigned(rawBody: Buffer, header: string, secret: string, now: Date): boolean {
  const fields = header.split(",").map((field) => field.trim().split("="));
  const time = fields.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now.getTime() / 1_000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac("sha256", secret).update(`${time}.`).update(rawBody).digest();
  return fields
    .filter(([name]) => name === "v1")
    .map(([, value]) => Buffer.from(value ?? "", "hex"))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
