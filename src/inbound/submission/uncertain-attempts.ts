import { hash } from "node:crypto";
import { ExpiringMap } from "#platform/cache.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { HOUR_MS } from "#platform/time-units.ts";

/** The ids of the messages of one DATA. */
export interface SubmissionAttempt {
  /** The id of the submission. */
  readonly id: string;
  readonly now: Date;
  /** One for each recipient, in their order. */
  readonly messageIds: readonly string[];
}

/** Clients retry within minutes; Postfix waits at most 66. */
const KEPT_MS = 4 * HOUR_MS;
const MOST_KEPT = 10_000;

/** A message as submitted by a client. */
interface Submitted {
  readonly workspaceId: WorkspaceId;
  readonly recipients: readonly string[];
  /** SHA-256 of the message, in hexadecimal. */
  readonly digest: () => string;
}

/**
 * Remembers messages that were submitted while the database did not answer. The client got 451, but the message may have
 * been stored, or may still be. When the client submits it again, it gets the ids of the first attempt, under which it can be
 * stored only once.
 */
export class UncertainAttempts {
  readonly #attempts = new ExpiringMap<SubmissionAttempt>(MOST_KEPT);

  /** An earlier attempt to submit the same message whose result is unknown. */
  find(submitted: Submitted): SubmissionAttempt | undefined {
    // Hashing is slow, and there is hardly ever an earlier attempt.
    return this.#attempts.size === 0 ? undefined : this.#attempts.get(keyOf(submitted));
  }

  keep(submitted: Submitted, attempt: SubmissionAttempt): void {
    this.#attempts.set(keyOf(submitted), attempt, KEPT_MS);
  }

  forget(submitted: Submitted): void {
    if (this.#attempts.size > 0) this.#attempts.delete(keyOf(submitted));
  }
}

export function newAttempt(recipients: number, now: Date): SubmissionAttempt {
  return { id: newId(), now, messageIds: Array.from({ length: recipients }, () => newId()) };
}

function keyOf({ workspaceId, recipients, digest }: Submitted): string {
  return `${workspaceId} ${hash("sha256", recipients.join("\n"))} ${digest()}`;
}
