/**
 * Asks the operator's spam scanner about received mail, before the reply to the mail. A mail that gets no turn or no answer in
 * time has no score: a scanner that is down or busy must not hold up mail.
 */
import { createWorkspaceLimiter, type KeyedLimiter } from "#platform/concurrency.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Limit, MIB } from "#platform/limits/limit.ts";
import { askSpamd, type SpamdServer } from "#sending/check/ask-spamd.ts";

export interface SpamScore {
  readonly score: number;
  /** From this score on the scanner calls a mail spam. */
  readonly threshold: number;
}

/** Null: no score. */
export type ScanSpam = (workspaceId: WorkspaceId, mail: Buffer) => Promise<SpamScore | null>;

/** Larger mail is not scanned: it would take the scanner long, and spam is small. */
export const MOST_SCANNED_BYTES: Limit["most"] = MIB;
const SCAN_MS = 10_000;
/** A workspace waits for its own scans only. */
const BOUNDS = { concurrency: 2, maxWaiting: 50, maxWaitMs: 10_000 };

/** @param server null without a scanner */
export function createSpamScan(server: SpamdServer | null): ScanSpam {
  if (server === null) return async () => null;
  const takeTurn: KeyedLimiter<string> = createWorkspaceLimiter(BOUNDS, "Too many mails wait for a scan");
  return async (workspaceId, mail) => {
    if (mail.length > MOST_SCANNED_BYTES) return null;
    try {
      const answer = await takeTurn(workspaceId, () => askSpamd(server, mail, AbortSignal.timeout(SCAN_MS)));
      return answer.outcome === "scored" ? answer : null;
    } catch (fault) {
      if (fault instanceof ApiError) return null;
      throw fault;
    }
  };
}
