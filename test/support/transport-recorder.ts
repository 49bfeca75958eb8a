/** Stands in for the delivery worker in transport tests: records the ending of each message. */

import type { AttemptResult, Ending, SmsAttempt, SmtpAttempt } from "#delivery/message/attempt.ts";
import type { LeasedMessage, ReadyMessage } from "#delivery/message/message.ts";
import type { TransportEvents } from "#delivery/message/transport.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import { HOUR_MS } from "#platform/time-units.ts";
import type { TlsNote } from "#smtp-client/tls.ts";

/** The ending of one message, with its local part. */
export type Heard =
  | {
      readonly kind: "attempted";
      readonly who: string;
      readonly result: AttemptResult;
      readonly tls: TlsNote | null;
    }
  | {
      readonly kind: "backoff";
      readonly who: string;
      readonly result: AttemptResult;
      readonly seconds: number;
    }
  | { readonly kind: "requeue"; readonly who: string; readonly seconds: number }
  | {
      readonly kind: "hold";
      readonly who: string;
      readonly seconds: number;
      readonly sourceIp: string | null;
    }
  | { readonly kind: "release"; readonly who: string }
  | { readonly kind: "unsendable"; readonly who: string; readonly error: unknown };

function heardOf({ localpart: who }: LeasedMessage, ending: Ending): Heard {
  switch (ending.kind) {
    case "attempted": {
      const { result, tls = null } = overSmtp(ending.attempt);
      return { kind: "attempted", who, result, tls };
    }
    case "backoff":
      return { kind: "backoff", who, result: overSmtp(ending.attempt).result, seconds: ending.seconds };
    case "requeue":
      return { kind: "requeue", who, seconds: ending.seconds };
    case "hold":
      return { kind: "hold", who, seconds: ending.seconds, sourceIp: ending.sourceIp };
    case "release":
      return { kind: "release", who };
    case "unsendable":
      return { kind: "unsendable", who, error: ending.error };
    case "end":
      throw new Error("a transport has no pre-send check");
  }
}

function overSmtp(attempt: SmtpAttempt | SmsAttempt): SmtpAttempt {
  if ("gateway" in attempt) throw new Error("a mail went to an SMS gateway");
  return attempt;
}

export interface TransportRecorder extends TransportEvents {
  readonly heard: readonly Heard[];
  /** The answer of mayStart; a test may replace it. */
  answer: (message: LeasedMessage) => boolean;
  /** Local parts of delivered messages, in order. */
  readonly delivered: readonly string[];
  /** Resolves to all endings so far once there are `count`. */
  waitFor(count: number): Promise<readonly Heard[]>;
}

export function recordTransport(): TransportRecorder {
  const heard: Heard[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const hear = (said: Heard) => {
    heard.push(said);
    for (const { count, resolve } of waiting) if (count <= heard.length) resolve();
    waiting = waiting.filter(({ count }) => count > heard.length);
  };
  const recorder: TransportRecorder = {
    heard,
    answer: () => true,
    get delivered() {
      return heard.flatMap((one) =>
        one.kind === "attempted" && one.result.outcome === "accepted" ? one.who : [],
      );
    },
    async waitFor(count) {
      if (heard.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return heard;
    },
    mayStart: (message) => recorder.answer(message),
    onEnd: (message, ending) => hear(heardOf(message, ending)),
  };
  return recorder;
}

const workspaceId = asWorkspaceId(newId());

/** A leased message. `change` may replace every field. */
export function leased(localpart: string, change: Partial<ReadyMessage> = {}): ReadyMessage {
  const created = new Date();
  return {
    workspace_id: workspaceId,
    message_id: newId(),
    lease_number: 1,
    priority: 1,
    attempts: 0,
    bytes: 100,
    expires_at: new Date(created.getTime() + 72 * HOUR_MS),
    lives_ms: 72 * HOUR_MS,
    first_attempt_at: null,
    created_at: created,
    source: "api",
    origin_id: null,
    from_email: "shop@sender.test",
    from_name: null,
    to_name: null,
    localpart,
    domain: "example.test",
    subject: "Hello",
    is_large: false,
    html: null,
    text: "Hello",
    attachments: null,
    particulars: null,
    raw: null,
    has_content: true,
    is_stale: false,
    routing_version: null,
    source_ip: null,
    content: null,
    ...change,
  };
}
