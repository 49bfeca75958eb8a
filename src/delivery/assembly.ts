/** Assembles what the API and the jobs use of the delivery wing. The engine itself is started by start-delivery-worker.ts. */
import type { FastifyInstance } from "fastify";
import type { ProcessContext } from "#platform/context/process-context.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { HOUR_SECONDS } from "#platform/time-units.ts";
import { InboxAccess, type IsOperator, inboxToken } from "./capture/inbox-access.ts";
import { registerInbox } from "./capture/inbox-routes.ts";
import { removeOldCaptured } from "./capture/store.ts";
import { removeOldWarmUpHistory } from "./warm-up/history.ts";

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
