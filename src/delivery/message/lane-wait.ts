/** Why a lane of a delivery process sends nothing now, or less than it could. The operator sees it in `posthaste status`. */

export type LaneWaitReason =
  /** A 4xx reply about the rate or the sender paused the lane. */
  | "asked_to_wait"
  /** After a reply about reputation: one message a minute. */
  | "reputation"
  | "connections_failed"
  | "conversations_broken"
  /** A site refuses connections or does not answer. */
  | "unreachable"
  /** Messages wait for the limits of the lane: messages a second, new connections a minute, open connections. */
  | "limits";

/** The reasons for which nothing is sent at all, until `seconds` have passed. */
const pausing: ReadonlySet<LaneWaitReason> = new Set([
  "asked_to_wait",
  "connections_failed",
  "conversations_broken",
  "unreachable",
]);

export interface LaneWait {
  readonly reason: LaneWaitReason;
  /** Messages that wait in this process. More may wait in the queue. */
  readonly messages: number;
  /** Until the lane continues; null if that depends on others. */
  readonly seconds: number | null;
  /** The reply or failure that was the cause; null without one. */
  readonly detail: string | null;
}

/** A wait with its lane. */
export interface WaitingLane extends LaneWait {
  /** The name of the lane, such as google. */
  readonly provider: string;
  /** The mail hosts of lanes whose limits hold for each site, and the source address of those that have their own. */
  readonly place: string;
}

const MOST_REPORTED = 20;
const REPORTED_TEXT = 200;

/** The waits that are worth showing, at most `most`: pauses first, then those with the most messages. */
export function foremost<Wait extends LaneWait>(waits: readonly Wait[], most: number): Wait[] {
  const rank = ({ reason }: Wait) => (pausing.has(reason) ? 0 : 1);
  return waits.toSorted((a, b) => rank(a) - rank(b) || b.messages - a.messages).slice(0, most);
}

/** What a process reports of its waits: a bounded number, with short texts that a jsonb column can store. */
export function reported(waits: readonly WaitingLane[]): WaitingLane[] {
  return foremost(waits, MOST_REPORTED).map((wait) => ({
    ...wait,
    place: storable(wait.place),
    detail: wait.detail === null ? null : storable(wait.detail),
  }));
}

/** Names and replies are of servers of others: U+0000 and lone surrogates would be refused. */
function storable(text: string): string {
  return text
    .slice(0, REPORTED_TEXT)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "?");
}
