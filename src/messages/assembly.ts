/** Assembles the messages wing: the message log and its counters. */
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Endpoint } from "#platform/http/endpoint.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { DAY_SECONDS } from "#platform/time-units.ts";
import { applyCounterDeltas } from "./counters/apply-deltas-store.ts";
import { type MessageEndpointDeps, messageEndpoints } from "./endpoints.ts";
import { labelStatsEndpoint } from "./label-stats.ts";
import { moveOldPartitions } from "./partitions/archive.ts";
import { ensurePartitions } from "./partitions/create-partitions.ts";
import { removeOldPartitions } from "./partitions/retention.ts";

export function messagesEndpoints(
  { database: db, clock }: ProcessContext,
  hooks: Omit<MessageEndpointDeps, "db">,
): Endpoint[] {
  return [...messageEndpoints({ db, ...hooks }), labelStatsEndpoint({ db, clock })];
}

/** @param onRemoved called after old days of the log are dropped */
export function messagesRecurring(
  { database: db, clock, config }: ProcessContext,
  onRemoved: () => Promise<unknown>,
): Recurring[] {
  const { MESSAGE_ARCHIVE_TABLESPACE: tablespace, MESSAGE_ARCHIVE_DAYS: days } = config;
  return [
    applyCounterDeltas(db),
    { name: "make-message-partitions", seconds: DAY_SECONDS, run: () => ensurePartitions(db, clock.now()) },
    {
      name: "forget-old-messages",
      seconds: DAY_SECONDS,
      async run() {
        const { MESSAGE_CONTENT_DAYS: contents, MESSAGE_LOG_DAYS: log } = config;
        await removeOldPartitions(db, { contents, log }, clock.now());
        await onRemoved();
      },
    },
    ...(tablespace === null
      ? []
      : [
          {
            name: "archive-old-messages",
            seconds: DAY_SECONDS,
            run: ({ signal }: { readonly signal: AbortSignal }) =>
              moveOldPartitions(db, { tablespace, days }, clock.now(), signal),
          },
        ]),
  ];
}
