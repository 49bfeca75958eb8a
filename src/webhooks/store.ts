/** The table of webhooks. Secrets are read and written sealed. */
import sql from "sql-template-tag";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceRowLimit } from "#platform/database/row-limit-store.ts";
import type { WorkspaceId } from "#platform/ids.ts";

/** A webhook as the API shows it. */
export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  readonly events: string[];
  readonly description: string | null;
  readonly is_active: boolean;
  readonly disabled_reason: string | null;
  readonly consecutive_failures: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The fields that the API can set. */
export type WebhookSettings = Pick<WebhookRow, "url" | "events" | "description" | "is_active">;

const columns = sql`id, url, events, description, is_active, disabled_reason, consecutive_failures, created_at, updated_at`;

export const webhookRoom: WorkspaceRowLimit = {
  table: sql`webhooks`,
  counted: sql`and deleted_at is null`,
  what: "webhooks",
  most: 20,
  code: "CONFLICT",
};

/** Newest first. */
export function listWebhooks(db: Queryable, workspaceId: WorkspaceId): Promise<WebhookRow[]> {
  return db.rows(sql`
    select ${columns} from webhooks where workspace_id = ${workspaceId} and deleted_at is null order by id desc`);
}

export function findWebhook(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<WebhookRow | undefined> {
  return db.row(sql`
    select ${columns} from webhooks
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null`);
}

export async function insertWebhook(
  db: Queryable,
  workspaceId: WorkspaceId,
  { id, sealedSecret, ...settings }: WebhookSettings & { readonly id: string; readonly sealedSecret: Buffer },
  now: Date,
): Promise<void> {
  await db.run(sql`
    insert into webhooks (workspace_id, id, url, events, description, is_active, secret, created_at, updated_at)
    values (${workspaceId}, ${id}, ${settings.url}, ${settings.events}, ${settings.description}, ${settings.is_active},
      ${sealedSecret}, ${now}, ${now})`);
}

/** Undefined fields stay unchanged. `is_active: true` clears the failures and the reason of a switch-off. */
export function updateWebhook(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  changes: { readonly [Field in keyof WebhookSettings]: WebhookSettings[Field] | undefined },
  now: Date,
): Promise<WebhookRow | undefined> {
  const { url = null, events = null, description, is_active: isActive = null } = changes;
  return db.row(sql`
    update webhooks
    set url = coalesce(${url}, url), events = coalesce(${events}, events),
      description = case when ${description === undefined} then description else ${description ?? null} end,
      is_active = coalesce(${isActive}, is_active),
      consecutive_failures = case when ${isActive} then 0 else consecutive_failures end,
      disabled_reason = case when ${isActive} then null else disabled_reason end,
      failing_since = case when ${isActive} then null else failing_since end,
      updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null
    returning ${columns}`);
}

/** Sets a new secret; the old one signs, too, until `previousUntil`. False when there is no such webhook. */
export async function updateSigningSecret(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  rotation: { readonly sealedSecret: Buffer; readonly previousUntil: Date; readonly now: Date },
): Promise<boolean> {
  const updated = await db.run(sql`
    update webhooks
    set previous_secret = secret, previous_secret_until = ${rotation.previousUntil},
      secret = ${rotation.sealedSecret}, updated_at = ${rotation.now}
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null`);
  return updated > 0;
}

/** Marks a webhook as deleted; a recurring job removes its rows. False when there is no such webhook. */
export async function removeWebhook(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  now: Date,
): Promise<boolean> {
  const removed = await db.run(sql`
    update webhooks set deleted_at = ${now}, is_active = false
    where workspace_id = ${workspaceId} and id = ${id} and deleted_at is null`);
  return removed > 0;
}

/** The events that active webhooks of these workspaces listen to; `*` stands for all. */
export function listListening(
  db: Queryable,
  workspaceIds: readonly WorkspaceId[],
): Promise<{ readonly workspace_id: WorkspaceId; readonly event: string }[]> {
  return db.rows(
    sql`
    select distinct workspace_id, unnest(events) as event from webhooks
    where workspace_id = any(${workspaceIds}::uuid[]) and is_active`,
    "list listening webhooks",
  );
}

/** What a webhook's deliveries that ended change in the count of its failures. */
export interface EndedDeliveries {
  readonly workspaceId: WorkspaceId;
  readonly webhookId: string;
  /** Whether one was successful: earlier failures do not count. */
  readonly hasSucceeded: boolean;
  /** Those given up after the last success. */
  readonly failures: number;
  /** Why the webhook is switched off if these failures are the last that it may have. */
  readonly reason: string;
}

/**
 * Counts deliveries that ended. The `most`th failure in a row switches the webhook off. Rows are locked in the order of
 * webhooks, so that concurrent calls do not deadlock.
 */
export async function recordEnded(
  db: Queryable,
  ended: readonly EndedDeliveries[],
  { most, now }: { readonly most: number; readonly now: Date },
): Promise<void> {
  const column = <Value>(read: (one: EndedDeliveries) => Value) => ended.map(read);
  const failures = sql`case when e.has_succeeded then 0 else w.consecutive_failures end + e.failures`;
  const isTheLast = sql`w.is_active and ${failures} >= ${most}`;
  await db.run(sql`
    with ended as materialized (
      select e.*
      from unnest(${column(({ workspaceId }) => workspaceId)}::uuid[], ${column(({ webhookId }) => webhookId)}::uuid[],
        ${column(({ hasSucceeded }) => hasSucceeded)}::boolean[], ${column(({ failures: count }) => count)}::integer[],
        ${column(({ reason }) => reason)}::text[]) as e (workspace_id, webhook_id, has_succeeded, failures, reason)
      join webhooks w on w.workspace_id = e.workspace_id and w.id = e.webhook_id
        and (e.failures > 0 or w.consecutive_failures > 0)
      order by w.workspace_id, w.id for no key update of w
    )
    update webhooks w
    set consecutive_failures = ${failures}, is_active = w.is_active and not (${isTheLast}),
      failing_since = case when e.failures = 0 then case when not w.is_active then w.failing_since end
        when e.has_succeeded and w.is_active then ${now}::timestamptz else coalesce(w.failing_since, ${now}) end,
      disabled_reason = case when ${isTheLast} then e.reason else w.disabled_reason end,
      updated_at = case when ${isTheLast} then ${now} else w.updated_at end
    from ended e where w.workspace_id = e.workspace_id and w.id = e.webhook_id`);
}

/** Switches an active webhook off; the API shows the reason. */
export async function switchOff(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  reason: string,
  now: Date,
): Promise<void> {
  await db.run(sql`
    update webhooks set is_active = false, disabled_reason = ${reason}, updated_at = ${now},
      failing_since = coalesce(failing_since, ${now})
    where workspace_id = ${workspaceId} and id = ${id} and is_active`);
}

/** Deleted webhooks whose rows have not been removed, oldest first. */
export function listDeletedWebhooks(
  db: Queryable,
  most: number,
): Promise<{ readonly workspace_id: WorkspaceId; readonly id: string }[]> {
  return db.rows(sql`
    select workspace_id, id from webhooks where deleted_at is not null order by deleted_at limit ${most}`);
}

/** Removes the row of a deleted webhook. */
export async function removeDeletedWebhook(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
): Promise<void> {
  await db.run(sql`
    delete from webhooks where workspace_id = ${workspaceId} and id = ${id} and deleted_at is not null`);
}
