/** The webhook of the payment gateway, and the page to which people return from it; both outside /api/v1. */
import type { FastifyInstance } from "fastify";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import { html, sendPage } from "#platform/http/response/html-page.ts";
import type { Plans } from "#workspace/billing/plans.ts";
import { applyPaymentEvent } from "./card-top-up.ts";
import type { PaymentGateway } from "./gateway.ts";

/** Events of checkout sessions have a few thousand bytes. */
const MOST_BYTES = 256 * 1024;

export interface PaymentPagesDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly gateway: PaymentGateway;
}

/**
 * Any valid event is answered with 200. An error of ours is answered with 500, so that the gateway sends the event
 * again.
 */
export function registerPaymentPages(
  server: FastifyInstance,
  { db, clock, plans, gateway }: PaymentPagesDeps,
): void {
  server.register(async (pages) => {
    // The signature covers the raw octets of the body.
    takeBodies(pages, "*", (body) => body, MOST_BYTES);
    pages.post("/payments/stripe", async ({ headers, body, log, id: request_id }) => {
      const signature = headers["stripe-signature"];
      const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
      const now = clock.now();
      const event = gateway.readEvent(rawBody, typeof signature === "string" ? signature : undefined, now);
      if (event === undefined)
        throw new ApiError("BAD_REQUEST", "The signature of the payment event is missing, wrong or too old");
      const ignored = await db.transaction((tx) => applyPaymentEvent(tx, plans, gateway, event, now));
      if (ignored !== null) {
        const { because, isUncredited } = ignored;
        const { workspaceId, transactionId, reference } = event.payment ?? {};
        const concerned = { request_id, event: event.id, because, workspaceId, transactionId, reference };
        if (isUncredited) log.error(concerned, "payment received but not credited");
        else log.info(concerned, "payment event ignored");
      }
      return { received: true };
    });
    pages.get("/payments/done", (_request, reply) =>
      sendPage(
        reply,
        200,
        "Thank you",
        html`<p>Your payment is added to the balance as soon as the payment provider confirms it.</p>
<p class="soft">You can close this page.</p>`,
      ),
    );
  });
}
