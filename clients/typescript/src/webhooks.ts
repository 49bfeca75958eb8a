/** Verification of webhook requests (Standard Webhooks), with the Web Crypto API that every runtime has. */
import type { webhooks } from "./generated.ts";

/** The types of events. */
export type WebhookEventType = keyof webhooks;

type EventBody<Type extends WebhookEventType> =
  webhooks[Type]["post"]["requestBody"]["content"]["application/json"];

/** An event. `type` decides which `data` it has. */
export type WebhookEvent<Type extends WebhookEventType = WebhookEventType> = {
  [One in Type]: Readonly<EventBody<One>> & {
    /** The same in every retry and replay: remember it to handle an event once. */
    readonly id: string;
  };
}[Type];

/** `Headers`, the `headers` of a request of Node.js, or a plain object; names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | { readonly [name: string]: string | readonly string[] | undefined };

export interface WebhookRequest {
  /** `whsec_…`. While a receiver is changed to a new secret, both: one of them must match. */
  readonly secret: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** The body as it came, before any JSON parser. */
  readonly body: string | ArrayBuffer | Uint8Array;
  /** How far the time of the request may be from now, in seconds; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
}

/** The request is not from the service, or not recent. Answer it with 400, and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";

/**
 * Checks the signature and the time of a request, and gives its event.
 * @throws WebhookVerificationError; TypeError if the secret is not a `whsec_…`
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const id = headerOf(request.headers, "webhook-id");
  const time = headerOf(request.headers, "webhook-timestamp");
  const given = headerOf(request.headers, "webhook-signature");
  const age = Math.abs(Date.now() / 1000 - Number(time));
  // Also true if the time is no number.
  if (!/^\d+$/.test(time) || !(age <= (request.toleranceSeconds ?? TOLERANCE_SECONDS))) {
    throw new WebhookVerificationError("webhook-timestamp is too far from now");
  }
  const body = bytesOf(request.body);
  const signed = concat(bytesOf(`${id}.${time}.`), body);
  const signatures = given
    .split(" ")
    .flatMap((one) => (one.startsWith("v1,") ? (decoded(one.slice(3)) ?? []) : []));
  for (const secret of [request.secret].flat()) {
    const key = await keyOf(secret);
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return eventOf(id, body);
    }
  }
  throw new WebhookVerificationError("webhook-signature does not match the body and the secret");
}

/** The event with the id of the header, which is signed and the same in all retries; a field `id` of the body is ignored. */
function eventOf(id: string, body: Uint8Array): WebhookEvent {
  return { ...JSON.parse(new TextDecoder().decode(body)), id };
}

async function keyOf(secret: string) {
  const octets = secret.startsWith(PREFIX) ? decoded(secret.slice(PREFIX.length)) : undefined;
  if (octets === undefined || octets.length === 0)
    throw new TypeError("secret must be the whsec_… of the webhook");
  return crypto.subtle.importKey("raw", octets, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** @throws WebhookVerificationError if it is missing */
function headerOf(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError(`${name} is missing`);
}

function bytesOf(value: string | ArrayBuffer | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value);
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The octets of Base64; undefined for other text. */
function decoded(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
