/** The interface of a payment gateway: it takes money on its own page, and reports the result in events. */
import type { WorkspaceId } from "#platform/ids.ts";
import type { Gateway } from "#workspace/billing/ledger-store.ts";

export interface TopUpOrder {
  readonly workspaceId: WorkspaceId;
  /** The pending transaction. A second order with this id creates no second payment. */
  readonly transactionId: string;
  /** USD, two places. */
  readonly amount: string;
  /** The URL to which the payment page links back. */
  readonly returnUrl: string;
  /** End of the time in which it can be paid. */
  readonly expiresAt: Date;
}

export interface PaymentPage {
  /** The gateway's id of the payment. */
  readonly reference: string;
  /** The URL of the page on which a person pays. */
  readonly url: string;
}

export interface PaymentEvent {
  /** The gateway's id of the event, the same in every repetition. */
  readonly id: string;
  /** Set when the event has another mode than the configured key. Such an event changes no balance. */
  readonly otherMode: "test" | "live" | null;
  /** Null when the event is about something else. */
  readonly payment: {
    readonly outcome: "paid" | "failed";
    readonly workspaceId: WorkspaceId;
    readonly transactionId: string;
    readonly reference: string;
    /** Amount in hundredths of the currency. */
    readonly cents: number;
    /** ISO 4217, upper-case. */
    readonly currency: string;
  } | null;
}

export interface PaymentGateway {
  readonly name: Gateway;
  /** Limits of one payment in USD. */
  readonly limits: { readonly least: string; readonly most: string };
  /** @throws when the gateway refuses or does not answer in time */
  createTopUp(order: TopUpOrder): Promise<PaymentPage>;
  /** @returns undefined when the signature is missing, wrong or too old, or the body is not an event */
  readEvent(rawBody: Buffer, signature: string | undefined, now: Date): PaymentEvent | undefined;
}
