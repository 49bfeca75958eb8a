/** The dispatcher's side of a transport, for tests: it hands out messages and writes down what becomes of each. */
import type { LeasedMessage } from "#delivery/message.ts";
import type { Attempt, AttemptResult } from "#delivery/queue/delivery-result.ts";
import type { TransportEvents } from "#delivery/transport.ts";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import type { TlsNote } from "#smtp-client/tls.ts";

/** One thing that was said about one message, named by its local part. */
export type Heard =
  | {
      readonly kind: "attempt";
      readonly who: string;
      readonly result: AttemptResult;
      readonly tls: TlsNote | null;
    }
  | {
      readonly kind: "turnedAway";
      readonly who: string;
      readonly result: AttemptResult;
      readonly seconds: number;
    }
  | { readonly kind: "postponed"; readonly who: string; readonly seconds: number }
  | {
      readonly kind: "heldBack";
      readonly who: string;
      readonly seconds: number;
      readonly sourceIp: string | null;
    }
  | { readonly kind: "dropped"; readonly who: string }
  | { readonly kind: "fault"; readonly who: string; readonly error: unknown };

export interface TransportRecorder extends TransportEvents {
  readonly heard: readonly Heard[];
  /** Answers mayStart; a test may replace it. */
  answer: (message: LeasedMessage) => boolean;
  /** Who was delivered, in order. */
  readonly delivered: readonly string[];
  /** Resolves, with everything heard so far, once that much has been heard. */
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
        one.kind === "attempt" && one.result.outcome === "accepted" ? one.who : [],
      );
    },
    async waitFor(count) {
      if (heard.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return heard;
    },
    mayStart: (message) => recorder.answer(message),
    onAttempt: ({ message, result, tls = null }: Attempt) =>
      hear({ kind: "attempt", who: message.localpart, result, tls }),
    onTurnedAway: ({ message, result }, seconds) =>
      hear({ kind: "turnedAway", who: message.localpart, result, seconds }),
    onPostponed: (message, seconds) => hear({ kind: "postponed", who: message.localpart, seconds }),
    onHeldBack: (message, seconds, sourceIp) =>
      hear({ kind: "heldBack", who: message.localpart, seconds, sourceIp }),
    onDropped: (message) => hear({ kind: "dropped", who: message.localpart }),
    onFault: (message, error) => hear({ kind: "fault", who: message.localpart, error }),
  };
  return recorder;
}

const workspaceId = asWorkspaceId(newId());

/** A message as it is leased; every field may be replaced. */
export function leased(localpart: string, change: Partial<LeasedMessage> = {}): LeasedMessage {
  const created = new Date();
  return {
    workspace_id: workspaceId,
    message_id: newId(),
    lease_number: 1,
    priority: 1,
    attempts: 0,
    bytes: 100,
    expires_at: new Date(created.getTime() + 72 * 3_600_000),
    lives_ms: 72 * 3_600_000,
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
    ...change,
  };
}
