/** Webhooks over HTTP: receivers of a workspace, and what was delivered to them. */

import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { lockRowLimit, requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/paging.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { Deleted } from "#platform/shapes.ts";
import { rowOf } from "./announce.ts";
import { EVERY_EVENT, TEST_EVENT } from "./catalogue.ts";
import {
  countDeliveries,
  countTestEvents,
  deliveryStatuses,
  findDelivery,
  insertDelivery,
  listDeliveries,
  updateToReplay,
} from "./delivery-store.ts";
import { readReceiverUrl } from "./receiver-url.ts";
import { secretContext } from "./secret-context.ts";
import { newSecret } from "./signature.ts";
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  removeWebhook,
  updateSecret,
  updateWebhook,
  type WebhookRow,
  webhookRoom,
} from "./store.ts";
import { Webhook, WebhookDelivery, WebhookInput, WebhookUpdate, WebhookWithSecret } from "./webhook.ts";

const webhooks: Resource = { name: "webhooks", label: "Webhooks", group: "Account" };

/** How long the secret of before a rotation signs as well. */
const ROTATION_MS = 24 * 60 * 60 * 1_000;
const MOST_TESTS = 10;
const TESTS_SECONDS = 60;

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** Receivers on private networks, and without TLS. */
  readonly allowPrivate: boolean;
}

export function webhookEndpoints({ db, clock, secrets, allowPrivate }: Dependencies): Endpoint[] {
  const found = async (workspaceId: WorkspaceId, id: string): Promise<WebhookRow> => {
    const webhook = await findWebhook(db, workspaceId, id);
    if (webhook === undefined) throw notFound("Webhook");
    return webhook;
  };
  const foundActive = async (workspaceId: WorkspaceId, id: string) => {
    if (!(await found(workspaceId, id)).is_active) throw isOff();
  };
  const foundDelivery = async (workspaceId: WorkspaceId, webhookId: string, id: string) => {
    const delivery = await findDelivery(db, workspaceId, webhookId, id);
    if (delivery === undefined) throw notFound("Delivery");
    return delivery;
  };
  return [
    endpoint({
      id: "listWebhooks",
      method: "GET",
      path: "/webhooks",
      summary: "List the webhooks, newest first",
      needs: need(webhooks, "read"),
      answer: Type.Array(Webhook),
      message: "Webhooks",
      handle: ({ caller }) => listWebhooks(db, caller.workspaceId),
    }),
    endpoint({
      id: "createWebhook",
      method: "POST",
      path: "/webhooks",
      summary: "Add a webhook; its secret is shown this once",
      needs: need(webhooks, "write"),
      body: WebhookInput,
      answer: WebhookWithSecret,
      status: 201,
      errors: ["CONFLICT"],
      message: "Webhook added: keep the secret, it is not shown again",
      async handle({ caller: { workspaceId }, body }) {
        const id = newId();
        const secret = newSecret();
        const settings = {
          url: readReceiverUrl(body.url, allowPrivate),
          events: readEvents(body.events),
          description: body.description ?? null,
          is_active: body.is_active ?? true,
        };
        const sealedSecret = secrets.seal(secret, secretContext(id));
        await db.transaction(async (tx) => {
          await requireBelowRowLimit(tx, workspaceId, webhookRoom);
          await insertWebhook(tx, workspaceId, { id, sealedSecret, ...settings }, clock.now());
        });
        return { ...(await found(workspaceId, id)), secret };
      },
    }),
    endpoint({
      id: "getWebhook",
      method: "GET",
      path: "/webhooks/{id}",
      summary: "One webhook",
      needs: need(webhooks, "read"),
      answer: Webhook,
      message: "Webhook",
      handle: ({ caller, params }) => found(caller.workspaceId, params.id),
    }),
    endpoint({
      id: "updateWebhook",
      method: "PATCH",
      path: "/webhooks/{id}",
      summary: "Change a webhook, or switch it on or off; what is left out stays",
      needs: need(webhooks, "write"),
      body: WebhookUpdate,
      answer: Webhook,
      message: "Webhook updated",
      async handle({ caller: { workspaceId }, params: { id }, body }) {
        const changes = {
          url: body.url === undefined ? undefined : readReceiverUrl(body.url, allowPrivate),
          events: body.events === undefined ? undefined : readEvents(body.events),
          description: body.description,
          is_active: body.is_active,
        };
        const webhook = await updateWebhook(db, workspaceId, id, changes, clock.now());
        if (webhook === undefined) throw notFound("Webhook");
        return webhook;
      },
    }),
    endpoint({
      id: "deleteWebhook",
      method: "DELETE",
      path: "/webhooks/{id}",
      summary: "Delete a webhook, with what was and what was to be delivered to it",
      needs: need(webhooks, "write"),
      answer: Deleted,
      message: "Webhook deleted",
      async handle({ caller: { workspaceId }, params: { id } }) {
        if (!(await removeWebhook(db, workspaceId, id, clock.now()))) throw notFound("Webhook");
        return { id, deleted: true } as const;
      },
    }),
    endpoint({
      id: "rotateWebhookSecret",
      method: "POST",
      path: "/webhooks/{id}/rotate-secret",
      summary: "Give a webhook a new secret; for 24 hours the old one signs as well",
      needs: need(webhooks, "write"),
      answer: WebhookWithSecret,
      message: "Secret changed: keep the new one, it is not shown again",
      async handle({ caller: { workspaceId }, params: { id } }) {
        const secret = newSecret();
        const now = clock.now();
        const isRotated = await updateSecret(db, workspaceId, id, {
          sealedSecret: secrets.seal(secret, secretContext(id)),
          previousUntil: new Date(now.getTime() + ROTATION_MS),
          now,
        });
        if (!isRotated) throw notFound("Webhook");
        return { ...(await found(workspaceId, id)), secret };
      },
    }),
    endpoint({
      id: "testWebhook",
      method: "POST",
      path: "/webhooks/{id}/test",
      mayTakeLong: "asking others",
      summary: "Send a webhook an event of the type webhook.test, at most ten times a minute",
      needs: need(webhooks, "write"),
      answer: WebhookDelivery,
      status: 201,
      errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
      message: "The test event is on its way: its delivery says what became of it",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await foundActive(workspaceId, id);
        const time = clock.now();
        const event = rowOf({ workspaceId, type: TEST_EVENT, time, data: { webhook_id: id } });
        await db.transaction(async (tx) => {
          await lockRowLimit(tx, workspaceId, webhookRoom);
          const since = new Date(time.getTime() - TESTS_SECONDS * 1_000);
          if ((await countTestEvents(tx, workspaceId, id, since, MOST_TESTS)) === MOST_TESTS) {
            throw new ApiError(
              "RATE_LIMIT_EXCEEDED",
              `A webhook is sent at most ${MOST_TESTS} test events a minute`,
              { headers: { "Retry-After": String(TESTS_SECONDS) } },
            );
          }
          if (!(await insertDelivery(tx, workspaceId, id, event))) throw isOff();
        });
        return foundDelivery(workspaceId, id, event.id);
      },
    }),
    endpoint({
      id: "listWebhookDeliveries",
      method: "GET",
      path: "/webhooks/{id}/deliveries",
      summary: "What was and will be delivered to a webhook, newest first; counted and shown up to 10,000",
      needs: need(webhooks, "read"),
      query: { ...cursorFields(), status: choiceField(deliveryStatuses, "Only those in this state.") },
      answer: pageOf("deliveries", WebhookDelivery),
      message: "Deliveries",
      async handle({ caller: { workspaceId }, params: { id }, query }) {
        await found(workspaceId, id);
        const { status } = query;
        const walk = new ListPage(query, "listWebhookDeliveries", workspaceId, id, status);
        const [listed, total] = await Promise.all([
          listDeliveries(db, workspaceId, id, { status, ...walk.page }),
          countDeliveries(db, workspaceId, id, status),
        ]);
        const { rows: deliveries, pagination } = walk.shown(listed, total, ({ id: place }) => place);
        return { deliveries, pagination };
      },
    }),
    endpoint({
      id: "replayWebhookDelivery",
      method: "POST",
      path: "/webhooks/{id}/deliveries/{delivery_id}/replay",
      summary: "Deliver once more, now and under the same webhook-id, with all retries",
      needs: need(webhooks, "write"),
      answer: WebhookDelivery,
      errors: ["CONFLICT"],
      message: "The delivery is on its way",
      async handle({ caller: { workspaceId }, params: { id, delivery_id: deliveryId } }) {
        const webhook = await found(workspaceId, id);
        await foundDelivery(workspaceId, id, deliveryId);
        if (!webhook.is_active) throw isOff();
        const delivery = await updateToReplay(db, workspaceId, id, deliveryId, clock.now());
        if (delivery === undefined) throw new ApiError("CONFLICT", "It is being delivered at this moment");
        return delivery;
      },
    }),
  ];
}

function isOff(): ApiError {
  return new ApiError("CONFLICT", "The webhook is switched off: set is_active to true first");
}

/** Each once, and nothing beside `*`. @throws ApiError VALIDATION_ERROR */
function readEvents(events: readonly string[]): string[] {
  const different = [...new Set(events)];
  if (different.includes(EVERY_EVENT) && different.length > 1) {
    throw invalid({ field: "events", message: 'events is ["*"] alone, or names the events' });
  }
  return different;
}
