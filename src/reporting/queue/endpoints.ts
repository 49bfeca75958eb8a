/** What waits in the delivery queue of a workspace, by lane, and how long delivery takes. */
import { type Static, Type } from "typebox";
import { findHold } from "#delivery/hold/store.ts";
import type { Lane } from "#delivery/lanes/default-lanes.ts";
import { laneFor } from "#delivery/lanes/lanes-by-mx-host.ts";
import { reports } from "#messages/permission.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { timeOfId } from "#platform/ids.ts";
import { described, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  type DeliveryTimes,
  MOST_QUEUED_DOMAINS,
  MOST_QUEUED_READ,
  type QueuedDomainRow,
  readDeliveryTimes,
  readQueuedDomains,
} from "./store.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const limit = (description: string) =>
  nullable(Type.Number({ description: `${description}; null: not limited.` }));

const QueueReplyShape = Type.Object(
  {
    time: Type.Unsafe<Date>({ ...Timestamp, description: "When the attempt ended." }),
    mx_host: nullable(Type.String({ description: "The server that answered; null when none was reached." })),
    code: nullable(Type.Integer({ description: "SMTP reply code." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    text: nullable(Type.String({ description: "The reply, or why no server was reached." })),
  },
  { $id: "QueueReply" },
);

/** A reason that stops all messages of the workspace, also those that wait for another one. */
type Stop = "workspace_suspended" | "sending_held";

const counts = {
  waiting: count("Messages that wait for an attempt."),
  in_delivery: count("Messages that a delivery worker has taken and not finished."),
  deferred: count("Those among both that had an attempt already."),
  oldest_at: described(Timestamp, "When the oldest of them was accepted."),
  next_attempt_at: described(
    NullableTimestamp,
    "When the next one is due; a time in the past: as soon as the lane allows. Null if all are in delivery.",
  ) as typeof NullableTimestamp,
  cause: Type.Enum(
    [
      "workspace_suspended",
      "sending_held",
      "reply",
      "unreachable",
      "sending_ip",
      "scheduled",
      "first_attempt",
    ],
    {
      description:
        "Why they wait. `workspace_suspended`: the operator has suspended the workspace; `sending_held`: the operator, or a restore, holds all sending (these two are the cause of every lane, and `reply` still has the last reply); `reply`: the server has deferred the last one; `unreachable`: no server was reached; `sending_ip`: the daily quota of a new sending IP is used up, or its machine does not send; `scheduled`: their time to be sent has not come; `first_attempt`: they are new, or the lane or the campaign is paused, or no process delivers.",
    },
  ),
  reply: nullable(
    described(QueueReplyShape, "The newest reply to a message that waits; null before the first attempt."),
  ),
};

const QueueDomain = Type.Object(
  { domain: Type.String({ description: "Domain of the recipients." }), ...counts },
  { $id: "QueueDomain" },
);

const QueueLane = Type.Object(
  {
    lane: nullable(
      Type.String({
        description:
          "The lane, by the mail server of the last attempt; null for domains that had none, whose lane is not known yet.",
      }),
    ),
    ...counts,
    limits: nullable(
      Type.Object(
        {
          connections: limit("Connections at the same time from each source address"),
          connections_per_minute: limit("New connections a minute"),
          messages_per_connection: limit("Messages over one connection"),
          messages_per_second: limit("Messages a second"),
          is_per_site: Type.Boolean({
            description: "Whether each site has these limits for itself, or all of the lane share them.",
          }),
        },
        { $id: "QueueLaneLimits", description: "What the lane allows; a paused lane allows less." },
      ),
    ),
    domains: Type.Array(QueueDomain, { description: "Domains of the lane, those with the most first." }),
  },
  { $id: "QueueLane" },
);

const TimeToDeliver = Type.Object(
  {
    messages: count("Delivered messages that were compared: the newest, at most 2,000."),
    p50_seconds: nullable(Type.Number({ description: "Half of them took at most this; null without any." })),
    p95_seconds: nullable(Type.Number({ description: "95 % of them took at most this; null without any." })),
  },
  { $id: "TimeToDeliver" },
);

export const Queue = Type.Object(
  {
    messages: count(`Messages in the queue, at most ${MOST_QUEUED_READ.toLocaleString("en")}.`),
    is_complete: Type.Boolean({
      description: `Whether these are all: of a longer queue, the oldest ${MOST_QUEUED_READ.toLocaleString("en")} messages are described. Lanes have the ${MOST_QUEUED_DOMAINS} domains with the most.`,
    }),
    lanes: Type.Array(QueueLane, { description: "Lanes with messages, those with the most first." }),
    time_to_deliver: Type.Object(
      {
        transactional: described(TimeToDeliver, "Mail over API and SMTP."),
        bulk: described(TimeToDeliver, "Mail of campaigns and autoresponders."),
      },
      {
        description:
          "From acceptance, or for scheduled mail from its time, to the answer of the server, for what was accepted within 24 hours.",
      },
    ),
  },
  { $id: "Queue" },
);

interface QueueDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly lanes: readonly Lane[];
}

export function queueEndpoints({ db, clock, lanes }: QueueDeps): Endpoint[] {
  return [
    endpoint({
      id: "getQueue",
      method: "GET",
      path: "/queue",
      mayTakeLong: "reading",
      summary: "What waits in the delivery queue and why, by lane, and how long delivery takes",
      description:
        "The messages of the workspace that are not delivered yet, grouped by the lane of their mail servers and by domain, with the last reply, the next attempt and the limits in force. Use it to find out why mail to a provider waits; `getMessage` has all attempts of one message.",
      needs: need(reports, "read"),
      isEveryday: true,
      answer: Queue,
      message: "The delivery queue",
      async handle({ caller: { workspaceId, isSuspended } }) {
        const now = clock.now();
        const since = new Date(now.getTime() - DAY_MS);
        const [{ messages, domains }, times, hold] = await Promise.all([
          readQueuedDomains(db, workspaceId, now),
          readDeliveryTimes(db, workspaceId, since),
          findHold(db),
        ]);
        const held = hold === undefined ? null : "sending_held";
        return {
          messages,
          is_complete: messages < MOST_QUEUED_READ && domains.length < MOST_QUEUED_DOMAINS,
          lanes: lanesOf(domains, lanes, isSuspended ? "workspace_suspended" : held),
          time_to_deliver: { transactional: timesOf(times, false), bulk: timesOf(times, true) },
        };
      },
    }),
  ];
}

function lanesOf(
  domains: readonly QueuedDomainRow[],
  lanes: readonly Lane[],
  stop: Stop | null,
): Static<typeof QueueLane>[] {
  const laneOf = ({ reply }: QueuedDomainRow) =>
    reply?.mx_host ? laneFor([reply.mx_host], lanes) : undefined;
  const groups = Map.groupBy(domains, laneOf);
  return Array.from(groups, ([lane, rows]) => {
    const shown = rows.map(({ domain, ...row }) => ({ domain, ...countsOf([row], stop) }));
    return {
      lane: lane?.name ?? null,
      ...countsOf(rows, stop),
      limits: lane === undefined ? null : limitsOf(lane),
      domains: shown,
    };
  }).toSorted((one, other) => sizeOf(other) - sizeOf(one));
}

const sizeOf = (row: { readonly waiting: number; readonly in_delivery: number }) =>
  row.waiting + row.in_delivery;

function countsOf(rows: readonly Omit<QueuedDomainRow, "domain">[], stop: Stop | null) {
  const sum = (name: "waiting" | "in_delivery" | "deferred" | "held") =>
    rows.reduce((total, row) => total + row[name], 0);
  const oldest = rows.map(({ oldest_id }) => oldest_id).toSorted()[0] ?? "";
  const due = rows.flatMap(({ next_attempt_at }) => next_attempt_at ?? []);
  const [newest = null] = rows
    .flatMap(({ reply }) => reply ?? [])
    .toSorted((one, other) => other.time.getTime() - one.time.getTime());
  return {
    waiting: sum("waiting"),
    in_delivery: sum("in_delivery"),
    deferred: sum("deferred"),
    oldest_at: timeOfId(oldest),
    next_attempt_at: due.length === 0 ? null : new Date(Math.min(...due.map((time) => time.getTime()))),
    cause:
      stop ??
      causeOf(
        newest,
        sum("held"),
        rows.every(({ is_scheduled }) => is_scheduled),
      ),
    reply: newest,
  };
}

function causeOf(reply: QueuedDomainRow["reply"], held: number, isScheduled: boolean) {
  if (reply !== null) return reply.code === null ? ("unreachable" as const) : ("reply" as const);
  if (held > 0) return "sending_ip" as const;
  return isScheduled ? ("scheduled" as const) : ("first_attempt" as const);
}

function limitsOf({ per_site, ...lane }: Lane) {
  return {
    connections: lane.connections,
    connections_per_minute: lane.connections_per_minute,
    messages_per_connection: lane.messages_per_connection,
    messages_per_second: lane.messages_per_second,
    is_per_site: per_site,
  };
}

function timesOf(times: readonly DeliveryTimes[], isBulk: boolean): Static<typeof TimeToDeliver> {
  const found = times.find(({ is_bulk }) => is_bulk === isBulk);
  if (found === undefined) return { messages: 0, p50_seconds: null, p95_seconds: null };
  const { messages, p50_seconds, p95_seconds } = found;
  return { messages, p50_seconds, p95_seconds };
}
