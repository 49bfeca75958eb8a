/** A provider of payments, as billing sees one: it takes money on a page of its own, and tells afterwards. */
import type { WorkspaceId } from "#platform/ids.ts";
import type { Gateway } from "#workspace/billing/ledger-store.ts";

export interface TopUpOrder {
  readonly workspaceId: WorkspaceId;
  /** The pending transaction. Asked for twice, it is one payment. */
  readonly transactionId: string;
  /** USD, two places. */
  readonly amount: string;
  /** Where people come back to. */
  readonly returnUrl: string;
  /** When it can be paid no longer. */
  readonly expiresAt: Date;
}

export interface PaymentPage {
  /** The payment at its gateway. */
  readonly reference: string;
  /** Where a person pays. */
  readonly url: string;
}

export interface PaymentEvent {
  /** The gateway's, the same however often it tells. */
  readonly id: string;
  /** Set where it is of the mode, test or live, that the configured key is not of: it moves no money here. */
  readonly otherMode: "test" | "live" | null;
  /** Null: nothing that concerns us. */
  readonly payment: {
    readonly outcome: "paid" | "failed";
    readonly workspaceId: WorkspaceId;
    readonly transactionId: string;
    readonly reference: string;
    /** Of the currency's hundredth parts. */
    readonly cents: number;
    /** ISO 4217, upper-case. */
    readonly currency: string;
  } | null;
}

export interface PaymentGateway {
  readonly name: Gateway;
  /** USD that one payment may have. */
  readonly limits: { readonly least: string; readonly most: string };
  /** @throws when the gateway refuses or does not answer within its deadline */
  createTopUp(order: TopUpOrder): Promise<PaymentPage>;
  /** @returns undefined for what the gateway did not say, or said too long ago, and for what is no event */
  readEvent(rawBody: Buffer, signature: string | undefined, now: Date): PaymentEvent | undefined;
}
