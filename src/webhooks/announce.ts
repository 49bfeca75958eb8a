/**
 * The outbox: events become rows in the transaction of what happened, one for each receiver that listens. While a
 * workspace has no receiver its events cost one look at a small table for a whole batch, and nothing is written: what is
 * announced is exact at every moment, for nothing about receivers is kept in memory.
 */
import type { Queryable } from "#platform/database/pool.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { EventType, WebhookEvent } from "./catalogue.ts";
import { insertDeliveries } from "./delivery-store.ts";
import { listListening } from "./store.ts";

/** Of what happened, that which somebody listens to. */
export async function listenedTo<
  Happening extends { readonly workspaceId: WorkspaceId; readonly type: EventType },
>(tx: Queryable, happenings: readonly Happening[]): Promise<Happening[]> {
  if (happenings.length === 0) return [];
  const listening = await listListening(tx, [...new Set(happenings.map(({ workspaceId }) => workspaceId))]);
  if (listening.length === 0) return [];
  const wanted = new Set(listening.map(({ workspace_id, event }) => `${workspace_id} ${event}`));
  return happenings.filter(
    ({ workspaceId, type }) => wanted.has(`${workspaceId} ${type}`) || wanted.has(`${workspaceId} *`),
  );
}

/** Writes events down for whoever listens to them; the transaction is the caller's. */
export async function announce(tx: Queryable, events: readonly WebhookEvent[]): Promise<void> {
  await announceWanted(tx, await listenedTo(tx, events));
}

/** Writes down what somebody listens to, as `listenedTo` has found. */
export async function announceWanted(tx: Queryable, events: readonly WebhookEvent[]): Promise<void> {
  if (events.length > 0) await insertDeliveries(tx, events.map(rowOf));
}

/** An event as it is stored, under an id of its own. */
export function rowOf({ workspaceId, type, time, data }: WebhookEvent) {
  return { workspaceId, id: newId(), type, body: JSON.stringify({ type, timestamp: time, data }), time };
}
