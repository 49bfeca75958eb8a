/**
 * The outbox: events are written as deliveries, one for each webhook that listens, in the transaction of the change they
 * are about. In workspaces without webhooks a batch of events costs one query of a small table. Webhooks are not cached, so
 * that a new one gets all events from its creation on.
 */
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { insertDeliveries } from "#webhooks/deliveries/store.ts";
import type { EventType, WebhookEvent } from "#webhooks/event-catalogue.ts";
import { listListening } from "#webhooks/store.ts";

/** The events that at least one active webhook listens to. */
export async function filterListened<
  Event extends { readonly workspaceId: WorkspaceId; readonly type: EventType },
>(tx: Queryable, events: readonly Event[]): Promise<Event[]> {
  if (events.length === 0) return [];
  const listening = await listListening(tx, [...new Set(events.map(({ workspaceId }) => workspaceId))]);
  if (listening.length === 0) return [];
  const wanted = new Set(listening.map(({ workspace_id, event }) => `${workspace_id} ${event}`));
  return events.filter(
    ({ workspaceId, type }) => wanted.has(`${workspaceId} ${type}`) || wanted.has(`${workspaceId} *`),
  );
}

/** Writes events as deliveries to the webhooks that listen to them. */
export async function announce(tx: Queryable, events: readonly WebhookEvent[]): Promise<void> {
  await announceFiltered(tx, await filterListened(tx, events));
}

/** Writes events that filterListened has returned. @returns the number of deliveries */
export async function announceFiltered(tx: Queryable, events: readonly WebhookEvent[]): Promise<number> {
  return events.length === 0 ? 0 : insertDeliveries(tx, events.map(deliveryOf));
}

/** The row of an event, with a new id. */
export function deliveryOf({ workspaceId, type, time, data }: WebhookEvent) {
  return { workspaceId, id: newId(), type, body: JSON.stringify({ type, timestamp: time, data }), time };
}
