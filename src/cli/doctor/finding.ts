/** What the doctor says of one thing it looked at. */

export type FindingStatus = "ok" | "warning" | "fault" | "not_checked";

export interface Finding {
  readonly check: string;
  readonly status: FindingStatus;
  /** What was found, and what to do where that is not well: one sentence or two. */
  readonly message: string;
}

export type Say = (status: FindingStatus, message: string) => Finding;

export function of(check: string): Say {
  return (status, message) => ({ check, status, message });
}
