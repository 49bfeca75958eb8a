/** The final status of an inbound mail. `result` is shown to the operator. */
export interface MailResult {
  readonly status: "processed" | "quarantined" | "kept";
  readonly result: string;
}

export const processed = (result: string): MailResult => ({ status: "processed", result });

export const quarantined = (result: string): MailResult => ({ status: "quarantined", result });
