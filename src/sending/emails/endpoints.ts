/** The endpoint POST /emails/send: one transactional email to one recipient. */

import { type Static, Type } from "typebox";
import { LONGEST_BODY, looksLikeHtml } from "#mail/html/body-conversion.ts";
import { parseMailbox } from "#mail/mailbox.ts";
import { LONGEST_SUBJECT } from "#mail/message/encode-header.ts";
import type { MessageOptions } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, type EndpointRequest, endpoint, need } from "#platform/http/endpoint.ts";
import { ResponseStored } from "#platform/http/idempotency/idempotency.ts";
import { flagField } from "#platform/http/request/query.ts";
import { DryRun } from "#platform/http/route-handler.ts";
import { newId } from "#platform/ids.ts";
import { nullable, omittable } from "#platform/shapes.ts";
import type { Draft } from "#sending/acceptance/accept-messages-statement.ts";
import type { Acceptor } from "#sending/acceptance/acceptor.ts";
import { emails } from "./permission.ts";
import { NewAttachment, readAttachments } from "./read-attachments.ts";
import {
  type PlatformSender,
  platformSenderOf,
  readBareAddress,
  readHeaderText,
  readMailSubject,
  readSender,
  saysNothing,
} from "./read-mail-fields.ts";
import { adviceForField } from "./unsupported-fields.ts";

/** Room for 20 MB of attachments in Base64 and a body. */
const BODY_LIMIT = 30 * 1024 * 1024;
const LONGEST_NAME = 200;

const Email = Type.Object(
  {
    to: Type.String({
      minLength: 3,
      description: "One recipient: `ada@example.com` or `Ada <ada@example.com>`.",
    }),
    subject: Type.String({
      minLength: 1,
      maxLength: LONGEST_SUBJECT,
      description: "The subject, without line breaks and not blank.",
    }),
    body: Type.String({
      minLength: 1,
      maxLength: LONGEST_BODY,
      description:
        "HTML or plain text; the format is detected. HTML gets a text part, plain text is sent as it is.",
    }),
    from_email: omittable(
      Type.String({
        description:
          "On a verified sending domain, or a verified sender. Default: the workspace's default sender, else the platform's.",
      }),
    ),
    from_name: omittable(
      Type.String({ maxLength: LONGEST_NAME, description: "Name in From; none when omitted." }),
    ),
    bounce_email: omittable(
      Type.String({
        description:
          "Gets copies of the message's delivery failure reports: on a verified sending domain, or a verified sender.",
      }),
    ),
    attachments: omittable(Type.Array(NewAttachment, { description: "Files in the message." })),
  },
  { $id: "Email" },
);

const Queued = Type.Object(
  {
    status: Type.Enum(["queued", "valid"], { description: "`valid` is the answer to a dry run." }),
    id: nullable(Type.String({ format: "uuid", description: "The message; null after a dry run." })),
  },
  { $id: "QueuedEmail" },
);

export function emailEndpoints(deps: {
  acceptor: Acceptor;
  clock: Clock;
  /** The sender of messages without from_email. Every workspace may also use it as from_email. */
  platformFrom: string | null;
}): Endpoint[] {
  const platform = platformSenderOf(deps.platformFrom);
  return [
    endpoint({
      id: "sendEmail",
      method: "POST",
      path: "/emails/send",
      summary: "Send one transactional email to one recipient",
      description:
        "Use it for receipts, password resets and other mail that one person has asked for. The answer comes after the message is stored safely; delivery follows in the background, and `GET /messages/{id}` or the events of webhooks tell what becomes of it. Send an `Idempotency-Key`, so that a repeated request sends nothing twice. Each accepted email counts in the plan's allowance.",
      needs: need(emails, "send"),
      unaudited: "messages are in the message log",
      query: { dry_run: flagField(false, "Check everything, send nothing; answered 200.", true) },
      body: Email,
      advise: adviceForField,
      answer: Queued,
      status: 201,
      message: "Email queued for delivery",
      idempotent: true,
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      bodyLimit: BODY_LIMIT,
      async handle(request) {
        const draft = readDraft(request, platform, deps.clock.now());
        if (request.query.dry_run) {
          await deps.acceptor.check(draft);
          return new DryRun({ status: "valid", id: null }, "The email would be accepted; nothing was sent");
        }
        const data = { status: "queued", id: draft.message.id } as const;
        const { idempotency } = request;
        await deps.acceptor.accept({
          ...draft,
          ...(idempotency && { idempotency: { held: idempotency, data } }),
        });
        return idempotency ? new ResponseStored(data) : data;
      },
    }),
  ];
}

/** Options of a message with open and click tracking. */
const tracked: MessageOptions = {
  headers: [],
  return_path_host: null,
  sending_ip: null,
  routing_rule_id: null,
  is_tracked: true,
};

type SendRequest = EndpointRequest<unknown, unknown, Static<typeof Email>>;

function readDraft(
  { body, caller, requestId }: SendRequest,
  platform: PlatformSender | null,
  now: Date,
): Draft {
  const to = parseMailbox(body.to);
  if (!to.ok) {
    const message = areSeveral(body.to) ? "one recipient per request; send a request for each" : to.message;
    throw invalid({ field: "to", message: `to: ${message}` });
  }
  const subject = readMailSubject(body.subject);
  const isHtml = looksLikeHtml(body.body);
  if (saysNothing(body.body, isHtml)) throw invalid({ field: "body", message: "body must not be blank" });
  const { fromEmail, sender } = readSender(body.from_email, platform, caller);
  const bounces = body.bounce_email == null ? null : readBareAddress(body.bounce_email, "bounce_email");
  return {
    sender,
    bouncesTo: bounces && { workspaceId: caller.workspaceId, ...bounces },
    priority: 0,
    retryHours: caller.retryHours,
    message: {
      workspaceId: caller.workspaceId,
      id: newId(),
      source: "api",
      originId: caller.actor.id,
      originName: caller.actor.name,
      fromEmail,
      fromName: body.from_name == null ? null : readHeaderText(body.from_name, "from_name"),
      toName: to.name,
      localpart: to.local,
      domain: to.domain,
      subject,
      html: isHtml ? body.body : null,
      text: isHtml ? null : body.body,
      attachments: readAttachments(body.attachments ?? []),
      ...(isHtml && caller.tracksTransactional && { particulars: tracked }),
      bounceEmail: bounces?.address ?? null,
      requestId,
      createdAt: now,
    },
  };
}

/** Only the first characters of `to` are searched for several addresses. */
const LONGEST_LOOKED_AT = 2_000;

/** Whether the text has several addresses, separated by commas or semicolons as in mail programs. */
function areSeveral(text: string): boolean {
  const parts = text.slice(0, LONGEST_LOOKED_AT).split(/[,;]/);
  return parts.filter((part) => part.includes("@")).length > 1;
}
