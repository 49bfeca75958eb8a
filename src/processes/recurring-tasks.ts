/** The recurring tasks of all wings. */
import { audienceRecurring } from "#audience/assembly.ts";
import { deliveryRecurring } from "#delivery/assembly.ts";
import { notifyWorkers } from "#delivery/queue/notify-workers.ts";
import { releaseHeld } from "#delivery/queue/queue-store.ts";
import { type HygieneParts, hygieneRecurring } from "#hygiene/assembly.ts";
import { identityRecurring } from "#identity/assembly.ts";
import { inboundRecurring } from "#inbound/assembly.ts";
import { messagesRecurring } from "#messages/assembly.ts";
import { cleanUp } from "#platform/jobs/remove-expired-data.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { reportingRecurring } from "#reporting/assembly.ts";
import { type SendingParts, sendingRecurring } from "#sending/assembly.ts";
import { createPlatformMail } from "#sending/platform-mail/platform-mail.ts";
import { webhooksRecurring } from "#webhooks/assembly.ts";
import {
  announceCampaigns,
  announceListing,
  announceVerification,
} from "#webhooks/events/announce-non-message-events.ts";
import { workspaceRecurring } from "#workspace/assembly.ts";
import { removeDroppedDays } from "#workspace/billing/storage-store.ts";

export type RecurringParts = HygieneParts & Pick<SendingParts, "onLimit">;

export function createRecurringTasks(parts: RecurringParts): Recurring[] {
  const { database, config, clock } = parts;
  return [
    ...cleanUp(database, clock),
    ...workspaceRecurring(parts),
    ...audienceRecurring(parts),
    ...identityRecurring(parts, {
      onVerification: announceVerification,
      async releaseSome(workspaceId, after) {
        const last = await releaseHeld(database, workspaceId, after);
        if (last !== null) await notifyWorkers(database);
        return last;
      },
    }),
    ...messagesRecurring(parts, () => removeDroppedDays(database, clock.now())),
    ...deliveryRecurring(parts),
    ...sendingRecurring(parts, { onCampaignEvents: announceCampaigns }),
    ...inboundRecurring(parts),
    ...hygieneRecurring(parts, {
      sendPlatformMail: createPlatformMail(config.PLATFORM_SENDER, clock),
      onListingChanged: announceListing,
    }),
    ...reportingRecurring(parts),
    ...webhooksRecurring(parts),
  ];
}
