/** The result of one check of the doctor. */

export type FindingStatus = "ok" | "warning" | "fault" | "not_checked";

export interface Finding {
  readonly check: string;
  readonly status: FindingStatus;
  /** The finding and, unless the status is ok, what to do: one or two sentences. */
  readonly message: string;
}

export type Say = (status: FindingStatus, message: string) => Finding;

export function of(check: string): Say {
  return (status, message) => ({ check, status, message });
}
