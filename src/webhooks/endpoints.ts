/** Endpoints of webhooks and their deliveries. */

import { Type } from "typebox";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { lockRowLimit, requireBelowRowLimit } from "#platform/database/row-limit-store.ts";
import { ApiError, invalid, notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { isEmptyChange } from "#platform/http/request/known-fields.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields, timeField } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { Deleted } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import {
  countDeliveries,
  countDeliveriesSince,
  findDelivery,
  findDeliveryWithAnswer,
  insertDelivery,
  listDeliveries,
  updateFailedToReplay,
  updateToReplay,
} from "./deliveries/store.ts";
import { requestTurn } from "./deliveries/turns-store.ts";
import { EVERY_EVENT, eventTypes, TEST_EVENT } from "./event-catalogue.ts";
import { deliveryOf } from "./events/announce.ts";
import { readReceiverUrl } from "./receiver-url.ts";
import { newSigningSecret, secretContext } from "./signature.ts";
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  removeWebhook,
  updateSigningSecret,
  updateWebhook,
  type WebhookRow,
  webhookRoom,
} from "./store.ts";
import {
  deliveryStatuses,
  ReplayOrder,
  ReplayResult,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookInput,
  WebhookUpdate,
  WebhookWithSecret,
  webhooksResource,
} from "./webhook.ts";

/** How long the previous secret signs, too, after a rotation. */
const ROTATION_MS = DAY_MS;
const MOST_TESTS = 10;
const TESTS_SECONDS = 60;
/** Deliveries that one call replays. */
const MOST_REPLAYED = 1_000;

interface WebhookDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** Allow receivers on private networks, and without TLS. */
  readonly allowPrivate: boolean;
}

export function webhookEndpoints({ db, clock, secrets, allowPrivate }: WebhookDeps): Endpoint[] {
  const found = async (workspaceId: WorkspaceId, id: string): Promise<WebhookRow> => {
    return required(await findWebhook(db, workspaceId, id), "Webhook");
  };
  const foundActive = async (workspaceId: WorkspaceId, id: string) => {
    if (!(await found(workspaceId, id)).is_active) throw isOff();
  };
  const foundDelivery = async (workspaceId: WorkspaceId, webhookId: string, id: string) => {
    return required(await findDelivery(db, workspaceId, webhookId, id), "Delivery");
  };
  return [
    endpoint({
      id: "listWebhooks",
      method: "GET",
      path: "/webhooks",
      summary: "List the webhooks, newest first",
      description:
        "The webhooks of the workspace, without their secrets. `disabled_reason` tells why the service has switched one off.",
      needs: need(webhooksResource, "read"),
      answer: Type.Array(Webhook),
      message: "Webhooks",
      handle: ({ caller }) => listWebhooks(db, caller.workspaceId),
    }),
    endpoint({
      id: "createWebhook",
      method: "POST",
      path: "/webhooks",
      summary: "Create a webhook; its secret is shown only in this answer",
      description:
        "From now on the events are POSTed to the address, signed as Standard Webhooks define. Check signatures with the `secret` of the answer. A workspace has at most 20 webhooks. The section Events of this document has the payloads.",
      needs: need(webhooksResource, "write"),
      outward: "sends",
      body: WebhookInput,
      answer: WebhookWithSecret,
      status: 201,
      errors: ["CONFLICT"],
      message: "Webhook created: keep the secret, it is not shown again",
      async handle({ caller: { workspaceId }, body }) {
        const id = newId();
        const secret = newSigningSecret();
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
      summary: "Get a webhook",
      description: "The webhook without its secret.",
      needs: need(webhooksResource, "read"),
      answer: Webhook,
      message: "Webhook",
      handle: ({ caller, params }) => found(caller.workspaceId, params.id),
    }),
    endpoint({
      id: "updateWebhook",
      method: "PATCH",
      path: "/webhooks/{id}",
      summary: "Change a webhook, or switch it on or off; omitted fields stay unchanged",
      description:
        "Switching it on also clears `disabled_reason` and the count of failures, and waiting deliveries are sent.",
      needs: need(webhooksResource, "write"),
      outward: "sends",
      body: WebhookUpdate,
      answer: Webhook,
      message: "Webhook updated",
      async handle({ caller: { workspaceId }, params: { id }, body }) {
        if (isEmptyChange(WebhookUpdate, body)) {
          return required(await findWebhook(db, workspaceId, id), "Webhook");
        }
        const changes = {
          url: body.url === undefined ? undefined : readReceiverUrl(body.url, allowPrivate),
          events: body.events === undefined ? undefined : readEvents(body.events),
          description: body.description,
          is_active: body.is_active,
        };
        return db.transaction(async (tx) => {
          const now = clock.now();
          const updated = required(await updateWebhook(tx, workspaceId, id, changes, now), "Webhook");
          if (body.is_active) await requestTurn(tx, workspaceId, now);
          return updated;
        });
      },
    }),
    endpoint({
      id: "deleteWebhook",
      method: "DELETE",
      path: "/webhooks/{id}",
      summary: "Delete a webhook with all of its deliveries",
      description: "Nothing more is sent, waiting deliveries included.",
      needs: need(webhooksResource, "write"),
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
      summary: "Rotate the secret of a webhook; for 24 hours the old one signs, too",
      description:
        "The answer has the new secret. Both secrets sign for 24 hours, so that receivers can be changed without a gap.",
      needs: need(webhooksResource, "write"),
      confirmed: true,
      answer: WebhookWithSecret,
      message: "Secret rotated: keep the new one, it is not shown again",
      async handle({ caller: { workspaceId }, params: { id } }) {
        const secret = newSigningSecret();
        const now = clock.now();
        const isRotated = await updateSigningSecret(db, workspaceId, id, {
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
      summary: "Send a webhook.test event to a webhook, at most ten times a minute",
      description: "Use it to try a receiver; `GET /webhooks/{id}/deliveries` shows the answer that it gave.",
      needs: need(webhooksResource, "write"),
      answer: WebhookDelivery,
      status: 201,
      errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
      message: "The test event is queued: its delivery shows the result",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await foundActive(workspaceId, id);
        const time = clock.now();
        const event = deliveryOf({ workspaceId, type: TEST_EVENT, time, data: { webhook_id: id } });
        await db.transaction(async (tx) => {
          await lockRowLimit(tx, workspaceId, webhookRoom);
          const since = new Date(time.getTime() - TESTS_SECONDS * 1_000);
          if (
            (await countDeliveriesSince(tx, workspaceId, id, {
              type: TEST_EVENT,
              since,
              most: MOST_TESTS,
            })) === MOST_TESTS
          ) {
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
      summary: "List the deliveries of a webhook, newest first, up to 10,000",
      description:
        "The deliveries of the last 14 days with the body, the number of attempts and the last error. Use it to find out what a receiver has missed; `getWebhookDelivery` has what it answered.",
      needs: need(webhooksResource, "read"),
      query: {
        ...cursorFields(),
        status: choiceField(deliveryStatuses, "Only deliveries with this status."),
        event: choiceField([...eventTypes, TEST_EVENT], "Only deliveries of this event."),
        from: timeField("Only events at this time or later."),
        to: timeField("Only events before this time."),
      },
      answer: pageOf("deliveries", WebhookDelivery),
      message: "Deliveries",
      async handle({ caller: { workspaceId }, params: { id }, query }) {
        await found(workspaceId, id);
        const { status, event, from, to } = query;
        const filter = { status, event, from, to };
        const texts = [event, from?.toISOString(), to?.toISOString()];
        const walk = new ListPage(query, "listWebhookDeliveries", workspaceId, id, status, ...texts);
        const [listed, total] = await Promise.all([
          listDeliveries(db, workspaceId, id, filter, walk.page),
          countDeliveries(db, workspaceId, id, filter),
        ]);
        const { rows: deliveries, pagination } = walk.shown(listed, total, ({ id: place }) => place);
        return { deliveries, pagination };
      },
    }),
    endpoint({
      id: "getWebhookDelivery",
      method: "GET",
      path: "/webhooks/{id}/deliveries/{delivery_id}",
      summary: "One delivery, with what the receiver answered last",
      description:
        "The body that was sent, and the type and the first 16 KiB of the body that the receiver answered, 1 KiB of an answer 2xx. Use it to find out why a receiver refuses events.",
      needs: need(webhooksResource, "read"),
      answer: WebhookDeliveryDetail,
      message: "Delivery",
      async handle({ caller: { workspaceId }, params: { id, delivery_id: deliveryId } }) {
        await found(workspaceId, id);
        return required(await findDeliveryWithAnswer(db, workspaceId, id, deliveryId), "Delivery");
      },
    }),
    endpoint({
      id: "replayFailedDeliveries",
      method: "POST",
      path: "/webhooks/{id}/deliveries/replay",
      summary: "Deliver all failed deliveries again, or those of an event or a time",
      description: `Use it after a receiver was repaired. It queues the ${MOST_REPLAYED.toLocaleString("en")} oldest at most, with the same \`webhook-id\` and all retries; call it again while \`has_more\` is true. Deliveries that were delivered, or are still retried, stay as they are.`,
      needs: need(webhooksResource, "write"),
      body: ReplayOrder,
      bodyMayBeAbsent: true,
      answer: ReplayResult,
      errors: ["CONFLICT"],
      message: ({ replayed }) => `${replayed} deliveries are queued`,
      async handle({ caller: { workspaceId }, params: { id }, body }) {
        await foundActive(workspaceId, id);
        const filter = { event: body.event, from: readTime(body.from, "from"), to: readTime(body.to, "to") };
        const replayed = await updateFailedToReplay(db, workspaceId, id, filter, {
          now: clock.now(),
          most: MOST_REPLAYED,
        });
        return { replayed, has_more: replayed === MOST_REPLAYED };
      },
    }),
    endpoint({
      id: "replayWebhookDelivery",
      method: "POST",
      path: "/webhooks/{id}/deliveries/{delivery_id}/replay",
      summary: "Deliver again now, with the same webhook-id and all retries",
      description:
        "Use it after a receiver was repaired. Receivers recognise an event that they have already by its `webhook-id`.",
      needs: need(webhooksResource, "write"),
      answer: WebhookDelivery,
      errors: ["CONFLICT"],
      message: "The delivery is queued",
      async handle({ caller: { workspaceId }, params: { id, delivery_id: deliveryId } }) {
        const webhook = await found(workspaceId, id);
        await foundDelivery(workspaceId, id, deliveryId);
        if (!webhook.is_active) throw isOff();
        const delivery = await updateToReplay(db, workspaceId, id, deliveryId, clock.now());
        if (delivery === undefined)
          throw new ApiError("CONFLICT", "This delivery is in progress: try again shortly");
        return delivery;
      },
    }),
  ];
}

const times = timeField("");

/** @throws ApiError VALIDATION_ERROR */
function readTime(text: string | undefined, name: string): Date | undefined {
  return times.read(text, name);
}

function isOff(): ApiError {
  return new ApiError("CONFLICT", "The webhook is switched off: set is_active to true first");
}

/** Removes duplicates. @throws ApiError VALIDATION_ERROR for `*` together with other events */
function readEvents(events: readonly string[]): string[] {
  const distinct = [...new Set(events)];
  if (distinct.includes(EVERY_EVENT) && distinct.length > 1) {
    throw invalid({ field: "events", message: 'events is ["*"] alone, or names the events' });
  }
  return distinct;
}
