/** How a mail ends. */
export interface MailResult {
  readonly status: "processed" | "quarantined" | "kept";
  readonly result: string;
}

export const processed = (result: string): MailResult => ({ status: "processed", result });

export const quarantined = (result: string): MailResult => ({ status: "quarantined", result });
