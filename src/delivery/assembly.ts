/** Assembles what the API and the jobs use of the delivery wing. The engine itself is started by start-delivery-worker.ts. */
import type { FastifyInstance } from "fastify";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import type { GaugeSource } from "#platform/metrics.ts";
import { HOUR_SECONDS } from "#platform/time-units.ts";
import { InboxAccess, type IsOperator, inboxToken } from "./capture/inbox-access.ts";
import { registerInbox } from "./capture/inbox-routes.ts";
import { removeOldCaptured } from "./capture/store.ts";
import { findHold } from "./hold/store.ts";
import { mergeLanes } from "./lanes/lanes-by-mx-host.ts";
import { countPausedLanes } from "./lanes/waiting-lanes-store.ts";
import { oldestDueSeconds } from "./queue/oldest-due-store.ts";
import { countQueue } from "./queue/queue-store.ts";
import { removeOldWarmUpHistory } from "./warm-up/history.ts";
import type { Halted } from "./worker/delivery-worker.ts";

/** How many messages the local inbox of capture mode keeps: the newest. */
const CAPTURED_KEPT = 10_000;

/** Registers the inbox of captured mail. Registers nothing if mail is really sent. */
export function registerDeliveryPages(
  pages: FastifyInstance,
  { config, database: db }: ProcessContext,
  isOperator: IsOperator,
): void {
  if (config.MAIL_MODE !== "capture") return;
  registerInbox(pages, { db, access: new InboxAccess(inboxToken(config), isOperator) });
}

export function deliveryRecurring({ database, clock }: ProcessContext): Recurring[] {
  return [
    removeOldWarmUpHistory(database, clock),
    {
      name: "remove-old-captured-messages",
      seconds: HOUR_SECONDS,
      async run() {
        await removeOldCaptured(database, CAPTURED_KEPT);
      },
    },
  ];
}

/** @param findHalted finds the campaigns whose messages wait because they are paused */
export function deliveryGauges(
  { database: db, config }: ProcessContext,
  findHalted: () => Promise<Pick<Halted, "paused">>,
): GaugeSource[] {
  const providers = mergeLanes(config.LANES_FILE).map(({ name }) => name);
  return [
    {
      name: "posthaste_delivery_queue",
      help: "Messages in the delivery queue: waiting, or leased by a worker.",
      label: "state",
      read: () => countQueue(db),
    },
    {
      name: "posthaste_delivery_oldest_due_seconds",
      help: "How long the first message has been due without an attempt, by priority; 0 when none is late.",
      label: "priority",
      async read() {
        const { paused } = await findHalted();
        const [transactional, bulk] = await Promise.all([
          oldestDueSeconds(db, 0, paused),
          oldestDueSeconds(db, 1, paused),
        ]);
        return { transactional, bulk };
      },
    },
    {
      name: "posthaste_sending_held",
      help: "1 while the operator holds everything that is sent (posthaste sending hold), otherwise 0.",
      read: async () => ((await findHold(db)) === undefined ? 0 : 1),
    },
    {
      name: "posthaste_provider_paused_lanes",
      help: "Lanes and sites that send nothing now, of all delivery processes, by mailbox provider (lane).",
      label: "provider",
      read: () => countPausedLanes(db, providers),
    },
  ];
}
