/** News of one message, on its way to the door. */
import type { WorkspaceId } from "../platform/ids.ts";
import type { OutcomeStatus } from "./states.ts";

export interface Outcome {
  readonly workspaceId: WorkspaceId;
  readonly messageId: string;
  readonly status: OutcomeStatus;
  readonly time: Date;
  /** SMTP attempts made so far; null for news that no attempt of ours brought. */
  readonly attempts: number | null;
  /** While deferred: when it is tried again. */
  readonly nextAttemptAt: Date | null;
  /** What the other side said, or why we gave up; at most 500 characters are kept. */
  readonly detail: string;
  readonly mxHost: string | null;
  /** SMTP reply code and enhanced code (RFC 3463) of the deciding reply. */
  readonly code: number | null;
  readonly enhancedCode: string | null;
}
