import type { WorkspaceId } from "#platform/ids.ts";

/** Who is calling: a key and its workspace, as they were at most a few seconds ago (authenticate.ts). */
export interface Caller {
  readonly workspaceId: WorkspaceId;
  /** IANA name. */
  readonly timezone: string;
  readonly isSuspended: boolean;
  /** The sender of the workspace's transactional mail that names none. */
  readonly defaultSender: string | null;
  /** How long its mail is tried again. */
  readonly retryHours: number;
  /** Whether opens and clicks of its transactional mail are recorded. */
  readonly tracksTransactional: boolean;
  readonly keyId: string;
  readonly keyName: string;
  readonly permissions: readonly string[];
}
