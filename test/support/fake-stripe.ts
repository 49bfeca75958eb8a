/**
 * A fake of the Stripe API that the service uses, on a free port: POST /v1/checkout/sessions, validated as Stripe does,
 * and events about those sessions, signed by Stripe's own library.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import Stripe from "stripe";
import { afterAll } from "vitest";

const SECRET_KEY = "sk_test_of_a_local_server";
const WEBHOOK_SECRET = "whsec_of_a_local_server";
const library = new Stripe(SECRET_KEY);

export interface FakeStripe {
  /** Settings that point the service to the fake. */
  readonly env: Readonly<Record<string, string>>;
  /** The form of each request, by Idempotency-Key. */
  readonly asked: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Answers with this status instead of a session; null restores the sessions. */
  refuse(status: number | null): void;
  /** The body of an event about the checkout session of a transaction. */
  event(transactionId: string, change?: EventChange): string;
  /** The signature header of an event; `secret` may be a wrong one. */
  sign(body: string, at: Date, secret?: string): string;
}

export interface EventChange {
  readonly id?: string;
  readonly type?: string;
  /** Default: false, an event of test mode. */
  readonly livemode?: boolean;
  readonly session?: Readonly<Record<string, unknown>>;
}

/** Starts the fake; it stops after the test file. */
export async function startFakeStripe(): Promise<FakeStripe> {
  const asked = new Map<string, Record<string, string>>();
  let refusal: number | null = null;
  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const answer = (status: number, value: object) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    const fail = (status: number, message: string) => answer(status, { error: { message } });
    if (refusal !== null) return fail(refusal, "Try again later");
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`)
      return fail(401, "Invalid API Key provided");
    if (request.method !== "POST" || request.url !== "/v1/checkout/sessions")
      return fail(404, "Unrecognized URL");
    if (request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") !== true) {
      return fail(400, "The form cannot be read");
    }
    const form = Object.fromEntries(new URLSearchParams(body));
    const missing = ["mode", "success_url", "line_items[0][price_data][unit_amount]"].find(
      (name) => !form[name],
    );
    if (missing !== undefined) return fail(400, `Missing required param: ${missing}`);
    const key = String(request.headers["idempotency-key"]);
    asked.set(key, form);
    return answer(200, {
      id: sessionOf(key),
      object: "checkout.session",
      url: `${apiUrl}/pay/${sessionOf(key)}`,
    });
  };
  const server = createServer((request, response) => void answerTo(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  afterAll(() => server.close());
  return {
    env: { STRIPE_SECRET_KEY: SECRET_KEY, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, STRIPE_API_URL: apiUrl },
    asked,
    refuse: (status) => {
      refusal = status;
    },
    event(
      transactionId,
      {
        id = `evt_${transactionId}`,
        type = "checkout.session.completed",
        livemode = false,
        session = {},
      } = {},
    ) {
      const form = asked.get(transactionId);
      if (form === undefined) throw new Error("there is no such session");
      const object = {
        id: sessionOf(transactionId),
        object: "checkout.session",
        livemode,
        payment_status: "paid",
        amount_total: Number(form["line_items[0][price_data][unit_amount]"]),
        currency: form["line_items[0][price_data][currency]"],
        client_reference_id: form.client_reference_id,
        metadata: { workspace_id: form["metadata[workspace_id]"] },
        ...session,
      };
      return JSON.stringify({ id, object: "event", type, livemode, data: { object } });
    },
    sign: (payload, at, secret = WEBHOOK_SECRET) =>
      library.webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(at.getTime() / 1_000),
      }),
  };
}

function sessionOf(transactionId: string): string {
  return `cs_test_${transactionId.replaceAll("-", "")}`;
}
