/**
 * Messages that were handed in while the database gave no answer. The client was told 451, yet the database may have
 * stored the message, or may still do so when it wakes. The client hands the same message in again, which then gets the
 * ids of the first attempt: it is found under them where it was stored, and can be stored under them only once.
 */
import { hash } from "node:crypto";
import { ExpiringMap } from "#platform/cache.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";

/** What identifies the messages of one DATA. */
export interface SubmissionAttempt {
  /** Of the whole. */
  readonly id: string;
  readonly now: Date;
  /** One for each recipient, in their order. */
  readonly messageIds: readonly string[];
}

/** A client tries again within minutes; Postfix waits 66 at the most. */
const KEPT_MS = 4 * 3_600_000;
const MOST_KEPT = 10_000;

/** A message as a client hands it in. */
interface HandedIn {
  readonly workspaceId: WorkspaceId;
  readonly recipients: readonly string[];
  /** SHA-256 of the message, in hexadecimal. */
  readonly digest: () => string;
}

export class UncertainAttempts {
  readonly #attempts = new ExpiringMap<SubmissionAttempt>(MOST_KEPT);

  /** The earlier attempt to hand this in of which nothing is known. */
  find(handedIn: HandedIn): SubmissionAttempt | undefined {
    // Hashing costs, and there is nearly never one.
    return this.#attempts.size === 0 ? undefined : this.#attempts.get(keyOf(handedIn));
  }

  keep(handedIn: HandedIn, attempt: SubmissionAttempt): void {
    this.#attempts.set(keyOf(handedIn), attempt, KEPT_MS);
  }

  forget(handedIn: HandedIn): void {
    if (this.#attempts.size > 0) this.#attempts.delete(keyOf(handedIn));
  }
}

export function newAttempt(recipients: number, now: Date): SubmissionAttempt {
  return { id: newId(), now, messageIds: Array.from({ length: recipients }, () => newId()) };
}

function keyOf({ workspaceId, recipients, digest }: HandedIn): string {
  return `${workspaceId} ${hash("sha256", recipients.join("\n"))} ${digest()}`;
}
