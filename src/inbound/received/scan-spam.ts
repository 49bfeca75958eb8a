/**
 * Asks the operator's spam scanner about received mail, before the reply to the mail. A mail that gets no turn or no answer in
 * time has no score: a scanner that is down or busy must not hold up mail.
 */
import { encodeDate } from "#mail/message/encode-header.ts";
import { createWorkspaceLimiter, type KeyedLimiter } from "#platform/concurrency.ts";
import { ApiError } from "#platform/errors.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { MIB } from "#platform/limits/limit.ts";
import { askSpamd, type SpamdServer } from "#sending/check/ask-spamd.ts";

export interface SpamScore {
  readonly score: number;
  /** From this score on the scanner calls a mail spam. */
  readonly threshold: number;
}

/** The client that a mail came from. */
interface Sender {
  readonly ip: string;
  readonly helo: string;
}

/** Null: no score. */
export type ScanSpam = (workspaceId: WorkspaceId, mail: Buffer, sender: Sender) => Promise<SpamScore | null>;

/** Larger mail is not scanned: it would take the scanner long, and spam is small. */
const MOST_SCANNED_BYTES = MIB;
const SCAN_MS = 10_000;
/** A workspace waits for its own scans only. */
const BOUNDS = { concurrency: 2, maxWaiting: 50, maxWaitMs: 10_000 };

/** @param server null without a scanner @param hostname the name of this server */
export function createSpamScan(server: SpamdServer | null, hostname: string): ScanSpam {
  if (server === null) return async () => null;
  const takeTurn: KeyedLimiter<string> = createWorkspaceLimiter(BOUNDS, "Too many mails wait for a scan");
  return async (workspaceId, mail, { ip, helo }) => {
    if (mail.length > MOST_SCANNED_BYTES) return null;
    // The scanner judges the client by the first Received field (RFC 5321 section 4.4), which every server adds.
    // The client chooses its name, which must not end the field.
    const name = helo.replace(/[^\w.:[\]-]/g, "?").slice(0, 255);
    const trace = `Received: from ${name} ([${ip}])\r\n\tby ${hostname} with ESMTP;\r\n\t${encodeDate(new Date())}\r\n`;
    const whole = Buffer.concat([Buffer.from(trace), mail]);
    try {
      const answer = await takeTurn(workspaceId, () => askSpamd(server, whole, AbortSignal.timeout(SCAN_MS)));
      return answer.outcome === "scored" ? answer : null;
    } catch (fault) {
      if (fault instanceof ApiError) return null;
      throw fault;
    }
  };
}
