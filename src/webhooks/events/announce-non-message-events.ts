/** Announces all events except those of messages. The functions are passed to the code that makes the changes. */
import type { OnFormAbused } from "#audience/signup-forms/report-form-abuse.ts";
import type { OnSubscriberEvent, OnSubscriberEvents } from "#audience/subscribers/subscriber-events.ts";
import type { ListingChange } from "#hygiene/blacklist/run-monitors.ts";
import type { OnVerification } from "#identity/domain-verification/verification-change.ts";
import type { OnReceived } from "#inbound/received/process-received.ts";
import { receivedEventOf } from "#inbound/received/received-event.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { OnJobEnded } from "#platform/jobs/attempt.ts";
import type { OnCampaignEvents } from "#sending/campaigns/campaign-events.ts";
import type { WebhookEvent } from "#webhooks/event-catalogue.ts";
import { announce, announceFiltered, filterListened } from "./announce.ts";

export const announceSubscriber: OnSubscriberEvent = (tx, event) => announceSubscribers(tx, [event]);

export const announceSubscribers: OnSubscriberEvents = (tx, events) =>
  announce(
    tx,
    events.map(({ workspaceId, kind, time, ...person }): WebhookEvent => {
      const { subscriberId: subscriber_id, email, status, mailingListId: mailing_list_id } = person;
      const data = { subscriber_id, email, status, mailing_list_id };
      return { workspaceId, type: `subscriber.${kind}`, time, data };
    }),
  );

export const announceFormAbuse: OnFormAbused = (tx, { workspaceId, mailingListId, time, ...abuse }) => {
  const data = { mailing_list_id: mailingListId, ...abuse };
  return announce(tx, [{ workspaceId, type: "form.abused", time, data }]);
};

export const announceCampaigns: OnCampaignEvents = (tx, changes) =>
  announce(
    tx,
    changes.map(({ workspaceId, campaignId: campaign_id, name, became, reason, time }): WebhookEvent => {
      const campaign = { campaign_id, name };
      return became === "sent"
        ? { workspaceId, type: "campaign.sent", time, data: campaign }
        : { workspaceId, type: "campaign.paused", time, data: { ...campaign, reason } };
    }),
  );

export const announceVerification: OnVerification = (tx, { workspaceId, time, ...change }) => {
  const { domainId: domain_id, domain, gained, lost } = change;
  const events: WebhookEvent[] = [];
  if (gained.includes("is_verified")) {
    events.push({ workspaceId, type: "domain.verified", time, data: { domain_id, domain } });
  }
  if (lost.length > 0) {
    events.push({ workspaceId, type: "domain.failed", time, data: { domain_id, domain, lost: [...lost] } });
  }
  return announce(tx, events);
};

/** The `zones` of an event are those that changed. */
export function announceListing(tx: Queryable, change: ListingChange): Promise<void> {
  const { workspaceId, monitorId: monitor_id, target, before, after, checkedAt: time } = change;
  const listed = after.filter((zone) => !before.includes(zone));
  const delisted = before.filter((zone) => !after.includes(zone));
  const events: WebhookEvent[] = [];
  if (listed.length > 0) {
    events.push({ workspaceId, type: "blacklist.listed", time, data: { monitor_id, target, zones: listed } });
  }
  if (delisted.length > 0) {
    const data = { monitor_id, target, zones: delisted };
    events.push({ workspaceId, type: "blacklist.delisted", time, data });
  }
  return announce(tx, events);
}

/** @param publicUrl the URL of the service, without a slash at its end */
export function createReceivedReaction(publicUrl: string): OnReceived {
  return async (tx, news) => {
    const { workspaceId, stored } = news;
    const data = receivedEventOf(news, publicUrl);
    const event: WebhookEvent = { workspaceId, type: "email.received", time: stored.received_at, data };
    return (await announceFiltered(tx, await filterListened(tx, [event]))) > 0;
  };
}

export function createJobReaction(clock: Clock): OnJobEnded {
  return (tx, { workspaceId, id, type, status, error = null, progress }) => {
    const { total, processed, succeeded, failed, skipped } = progress;
    const numbers = { total, processed, succeeded, failed, skipped };
    const data = { job_id: id, job_type: type, status, ...numbers, error };
    return announce(tx, [{ workspaceId, type: "job.completed", time: clock.now(), data }]);
  };
}
