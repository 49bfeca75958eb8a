import type { WorkspaceId } from "#platform/ids.ts";

/** The caller of a request: an API key and its workspace, as cached for a few seconds (authenticate.ts). */
export interface Caller {
  readonly workspaceId: WorkspaceId;
  /** IANA name. */
  readonly timezone: string;
  readonly isSuspended: boolean;
  /** Sender of transactional mail without a sender. */
  readonly defaultSender: string | null;
  /** How long deferred mail of the workspace is retried. */
  readonly retryHours: number;
  /** Whether opens and clicks of transactional mail are tracked. */
  readonly tracksTransactional: boolean;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly string[];
}
