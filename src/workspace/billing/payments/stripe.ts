/**
 * Stripe through the part of its HTTP API that top-ups need: a Checkout Session for each, and the events about it.
 * Cards only, which are paid at once or not at all. (Stripe's own library takes half a second to load; the tests use it
 * to check this file.)
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { Config } from "#platform/config/config.ts";
import { asWorkspaceId, isUuid } from "#platform/ids.ts";
import { readResponseText } from "#platform/network/read-response.ts";
import type { PaymentEvent, PaymentGateway, TopUpOrder } from "./gateway.ts";

/** The version of the API that has the shapes below. */
const API_VERSION = "2026-10-28.endive";
const DEADLINE_MS = 15_000;
const LONGEST_ANSWER = 1_048_576;
const LONGEST_REASON = 300;
/** How old the signature of an event may be. */
const TOLERANCE_SECONDS = 300;

export interface StripeSettings {
  readonly apiUrl: URL;
  readonly secretKey: string;
  readonly webhookSecret: string;
}

/** Null when Stripe is not configured. */
export function stripeOf({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: apiUrl,
}: Config): PaymentGateway | null {
  if (secretKey === null || webhookSecret === null || apiUrl === null) return null;
  return createStripe({ apiUrl, secretKey, webhookSecret });
}

const Session = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  url: Type.String({ minLength: 1 }),
});

const Event = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  type: Type.String(),
  livemode: Type.Optional(Type.Boolean()),
  data: Type.Object({ object: Type.Unknown() }),
});

const Moded = Type.Object({ livemode: Type.Boolean() });

const PaidSession = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 255 }),
  object: Type.Literal("checkout.session"),
  payment_status: Type.String(),
  amount_total: Type.Integer(),
  currency: Type.String(),
  client_reference_id: Type.String(),
  metadata: Type.Object({ workspace_id: Type.String() }),
});

function createStripe({ apiUrl, secretKey, webhookSecret }: StripeSettings): PaymentGateway {
  return {
    name: "stripe",
    limits: { least: "0.50", most: "999999.99" },
    async createTopUp(order) {
      const response = await fetch(new URL("/v1/checkout/sessions", apiUrl), {
        method: "POST",
        redirect: "error",
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: {
          Authorization: `Bearer ${secretKey}`,
          "Stripe-Version": API_VERSION,
          "Idempotency-Key": order.transactionId,
        },
        body: new URLSearchParams(sessionFields(order)),
      });
      const { text, isWhole } = await readResponseText(response, LONGEST_ANSWER);
      if (!response.ok)
        throw new Error(`Stripe answered ${response.status}: ${text.slice(0, LONGEST_REASON)}`);
      if (!isWhole) throw new Error(`Stripe answered with more than ${LONGEST_ANSWER} octets`);
      const { id, url } = Value.Parse(Session, JSON.parse(text));
      return { reference: id, url };
    },
    readEvent(rawBody, signature, now) {
      if (signature === undefined || !isSigned(rawBody, signature, webhookSecret, now)) return undefined;
      const event = parsed(rawBody.toString());
      if (!Value.Check(Event, event)) return undefined;
      return { id: event.id, otherMode: otherModeOf(event, secretKey), payment: paymentOf(event) };
    },
  };
}

/**
 * Whether the body is signed with the secret, and was not more than five minutes ago. The header Stripe-Signature is
 * `t=<seconds>,v1=<hex>,...`: an HMAC-SHA256 over `<seconds>.<body>`. While a secret is rotated there is a `v1` for each;
 * other schemes are ignored.
 */
function isSigned(rawBody: Buffer, header: string, secret: string, now: Date): boolean {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sessionFields({ workspaceId, transactionId, amount, returnUrl, expiresAt }: TopUpOrder) {
  return {
    mode: "payment",
    "payment_method_types[0]": "card",
    client_reference_id: transactionId,
    "metadata[workspace_id]": workspaceId,
    "line_items[0][quantity]": "1",
    "line_items[0][price_data][currency]": "usd",
    "line_items[0][price_data][unit_amount]": amount.replace(".", ""),
    "line_items[0][price_data][product_data][name]": "Prepaid balance",
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: String(Math.floor(expiresAt.getTime() / 1_000)),
  };
}

const outcomes = new Map<string, "paid" | "failed">([
  ["checkout.session.completed", "paid"],
  ["checkout.session.async_payment_succeeded", "paid"],
  ["checkout.session.async_payment_failed", "failed"],
  ["checkout.session.expired", "failed"],
]);

/**
 * The mode of an event when the key is of the other mode; null when they agree or one is unknown. A Stripe endpoint may
 * receive the events of both modes, and a holder of the test key can create events of payments without money.
 */
function otherModeOf({ livemode, data }: Static<typeof Event>, secretKey: string): "test" | "live" | null {
  const keyMode = /^[a-z]+(?:_[a-z]+)?_(test|live)_/.exec(secretKey)?.[1];
  if (keyMode === undefined) return null;
  const modes = [livemode, Value.Check(Moded, data.object) ? data.object.livemode : undefined];
  const other = keyMode === "live" ? "test" : "live";
  return modes.includes(other === "live") ? other : null;
}

function paymentOf({ type, data }: Static<typeof Event>): PaymentEvent["payment"] {
  const outcome = outcomes.get(type);
  const session = data.object;
  if (outcome === undefined || !Value.Check(PaidSession, session)) return null;
  // A completed but unpaid session waits for a bank; another event follows.
  if (outcome === "paid" && session.payment_status !== "paid") return null;
  const { id: reference, client_reference_id: transactionId, metadata, amount_total: cents } = session;
  if (!isUuid(transactionId) || !isUuid(metadata.workspace_id)) return null;
  const workspaceId = asWorkspaceId(metadata.workspace_id);
  return { outcome, workspaceId, transactionId, reference, cents, currency: session.currency.toUpperCase() };
}
