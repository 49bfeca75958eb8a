/** Top-ups through the payment gateway. */

import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { Log } from "#platform/log/log.ts";
import { described } from "#platform/shapes.ts";
import { billing } from "#workspace/billing/permission.ts";
import { getTransaction } from "#workspace/billing/read-ledger-store.ts";
import { shownTransaction, TransactionShape } from "#workspace/billing/shapes.ts";
import { beginCardTopUp } from "./card-top-up.ts";
import type { PaymentGateway } from "./gateway.ts";

const TopUpInput = Type.Object(
  {
    amount: Type.String({ maxLength: 20, description: "US dollars with at most two places, such as 25.00." }),
  },
  { $id: "TopUpInput" },
);

const TopUp = Type.Object(
  {
    transaction: described(TransactionShape, "The pending top-up in the ledger."),
    checkout_url: Type.String({ description: "The page where a person pays, within 23 hours." }),
  },
  { $id: "TopUp" },
);

export interface TopUpDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Null when no payment gateway is configured. */
  readonly gateway: PaymentGateway | null;
  /** Public address of this service, to which the payment page links back. */
  readonly publicUrl: () => string;
}

export function topUpEndpoints({ db, clock, log, gateway, publicUrl }: TopUpDeps): Endpoint[] {
  return [
    endpoint({
      id: "createTopUp",
      method: "POST",
      path: "/billing/top-up",
      mayTakeLong: "asking others",
      summary: "Start a top-up; the answer has the address of the payment page",
      description:
        "Starts a payment into the prepaid balance and returns the address of the payment provider's page. Send the person there. The balance grows when the provider confirms the payment, usually within seconds; the transaction is `pending` until then. An installation without a payment provider answers 400, and its operator records payments.",
      needs: need(billing, "write"),
      outward: "spends",
      confirmed: true,
      body: TopUpInput,
      answer: TopUp,
      status: 201,
      message: "Top-up started",
      idempotent: true,
      openWhileSuspended: true,
      errors: ["BAD_REQUEST", "CONFLICT"],
      async handle({ caller: { workspaceId }, body: { amount }, requestId }) {
        if (gateway === null)
          throw new ApiError(
            "BAD_REQUEST",
            "No payment gateway is configured: ask the operator of this instance for a top-up",
          );
        const topUp = { workspaceId, amount, returnUrl: `${publicUrl()}/payments/done` };
        const requestLog = log.child({ request_id: requestId });
        const { transactionId, url } = await beginCardTopUp(db, gateway, topUp, clock.now(), requestLog);
        const transaction = await getTransaction(db, workspaceId, transactionId);
        return { transaction: shownTransaction(transaction), checkout_url: url };
      },
    }),
  ];
}
