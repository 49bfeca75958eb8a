/** Mail to several recipients: POST /emails, batches of it, its messages, and its cancellation. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Static, Type } from "typebox";
import { recipientTypes } from "#messages/message/email-details.ts";
import type { OnMoved } from "#messages/message/outcome.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { ApiError, invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ResponseStored, storeResponseIn } from "#platform/http/idempotency/idempotency.ts";
import { bodyReader } from "#platform/http/request/validate.ts";
import { failure } from "#platform/http/response/envelope.ts";
import { DOCUMENTED_AS, described, Id, NullableTimestamp, nullable } from "#platform/shapes.ts";
import type { Acceptor } from "#sending/acceptance/acceptor.ts";
import type { Refusals } from "#sending/acceptance/commit-each.ts";
import { emails } from "#sending/emails/permission.ts";
import { platformSenderOf } from "#sending/emails/read-mail-fields.ts";
import { adviceForMail } from "#sending/emails/unsupported-fields.ts";
import type { MailTexts } from "#sending/templates/rendering/render-templates.ts";
import type { MailWithTemplate, TemplateRenderer } from "#sending/templates/rendering/template-renderer.ts";
import { MediaAttachments } from "./attach-media.ts";
import { cancelEmail } from "./cancel-email.ts";
import { templateOf, withTemplate } from "./mail-from-template.ts";
import { MOST_RECIPIENTS, NewMail } from "./new-mail.ts";
import { type MailReading, type ReadMail, readMail } from "./read-mail.ts";
import { textsIn } from "./read-mailboxes.ts";

const BODY_LIMIT = 30 * 1024 * 1024;
const MOST_MAILS = 500;
/** Of all mails of a batch: more would take PostgreSQL too long. */
const MOST_IN_BATCH = 2_500;
/** Emails of a batch that are read in one turn of the event loop: a millisecond or two if all have 50 recipients. */
const READ_AT_ONCE = 10;

const MailMessage = Type.Object(
  {
    id: described(Id, "Id of the message, for `GET /messages/{id}`."),
    to: Type.String({ description: "The recipient's address." }),
    recipient_type: Type.Enum([...recipientTypes], { description: "Which field named the recipient." }),
  },
  { $id: "MessageOfEmail" },
);

const AcceptedMail = Type.Object(
  {
    id: described(Id, "Id of the email, for `GET /emails/{id}`; also that of its first message."),
    status: Type.Literal("queued", {
      description: "Always `queued`: `GET /emails/{id}` tells what follows.",
    }),
    scheduled_at: described(NullableTimestamp, "When it is sent, in UTC; null: at once."),
    messages: Type.Array(MailMessage, {
      description: "One message for each recipient; an address that is named twice gets one.",
    }),
  },
  { $id: "AcceptedEmail" },
);

const BatchResult = Type.Object(
  {
    success: Type.Boolean({ description: "Whether the email was accepted." }),
    data: nullable(described(AcceptedMail, "The accepted email; null if it was refused.")),
    error: nullable(Type.String({ description: "Why it was refused; null if it was accepted." })),
    code: nullable(Type.String({ description: "Code of the error, as of `POST /emails`." })),
    details: Type.Array(
      Type.Object({
        field: Type.String({ description: "The field, such as to[1]." }),
        message: Type.String({ description: "What is wrong with it." }),
      }),
      { description: "The fields at fault; empty if no field is." },
    ),
    warnings: Type.Array(
      Type.Object({
        field: Type.String({ description: "The field." }),
        message: Type.String({ description: "Why it was ignored." }),
      }),
      { description: "Unknown fields that were ignored." },
    ),
  },
  { $id: "BatchedEmail" },
);
type Result = Static<typeof BatchResult>;

const Batch = Type.Object(
  {
    emails: Type.Array(Type.Unsafe<unknown>({ [DOCUMENTED_AS]: { $ref: "#/components/schemas/NewEmail" } }), {
      minItems: 1,
      maxItems: MOST_MAILS,
      description: `The emails, at most ${MOST_MAILS}, with at most ${MOST_IN_BATCH.toLocaleString("en")} recipients in all.`,
    }),
  },
  { $id: "EmailBatch" },
);

const BatchAnswer = Type.Object(
  {
    accepted: Type.Integer({ description: "Emails that were accepted." }),
    refused: Type.Integer({ description: "Emails that were refused." }),
    results: Type.Array(BatchResult, { description: "One for each email, in the order of the request." }),
  },
  { $id: "EmailBatchAnswer" },
);

const CancelledEmail = Type.Object(
  {
    id: described(Id, "Id of the email."),
    cancelled: Type.Array(Id, { description: "Messages that are not sent any more." }),
    not_cancelled: Type.Array(Id, { description: "Messages that had ended or are being sent." }),
  },
  { $id: "CancelledEmail" },
);

export interface MailDeps {
  readonly db: Database;
  readonly acceptor: Acceptor;
  readonly templates: TemplateRenderer;
  readonly clock: Clock;
  /** The sender of mail without from_email. */
  readonly platformFrom: string | null;
  readonly onMoved: OnMoved;
}

const readItem = bodyReader(NewMail, { answer: AcceptedMail, advise: adviceForMail });

export function emailToManyEndpoints(deps: MailDeps): Endpoint[] {
  const { db, acceptor, templates, clock, platformFrom, onMoved } = deps;
  const platform = platformSenderOf(platformFrom);
  const media = new MediaAttachments(db);
  return [
    endpoint({
      id: "createEmail",
      method: "POST",
      path: "/emails",
      mayTakeLong: "working aside",
      summary: "Send one email to one or several recipients, now or later",
      description:
        "One email with to, cc and bcc, your own header fields, HTML and text or a template, files, tags and metadata. Each recipient gets a message of their own, with its own state, suppression check and place in the allowance; all messages show the same To and Cc, and have the same Message-ID. The email is accepted for all recipients or, with an error, for none. With `scheduled_at` it waits: recipients that are suppressed until then get nothing, and `POST /emails/{id}/cancel` calls it back. Send an `Idempotency-Key`, so that a repeated request sends nothing twice.",
      needs: need(emails, "send"),
      unaudited: "messages are in the message log",
      body: NewMail,
      advise: adviceForMail,
      answer: AcceptedMail,
      status: 201,
      message: "Email queued for delivery",
      idempotent: true,
      errors: ["PLAN_LIMIT_REACHED", "INSUFFICIENT_BALANCE"],
      bodyLimit: BODY_LIMIT,
      async handle({ body, caller, requestId, idempotency }) {
        return media.attach(caller.workspaceId, [body], "attachments", async (pictures) => {
          const named = templateOf(body);
          const [rendered = null] = named === null ? [] : await templates.render(caller, [named]);
          const written = withTemplate(body, rendered);
          const mail = readMail(written, { caller, requestId, platform, now: clock.now(), pictures });
          const data = answerOf(mail);
          const [first, ...rest] = mail.drafts;
          if (first === undefined) throw new Error("a mail without recipients");
          const held = idempotency && { idempotency: { held: idempotency, data } };
          await acceptor.acceptTogether([{ ...first, ...held }, ...rest]);
          return idempotency ? new ResponseStored(data) : data;
        });
      },
    }),
    endpoint({
      id: "createEmailBatch",
      method: "POST",
      path: "/emails/batch",
      mayTakeLong: "working aside",
      summary: "Send up to 500 emails in one request",
      description:
        "Each email is judged for itself, and the answer has a result for each: a wrong address, a sender that is not yours or a used-up allowance refuses that email and no other. All accepted emails are stored in one transaction, and the answer comes after it. The allowance goes to the emails in their order. With an `Idempotency-Key` a repeated request gets the same answer and sends nothing twice.",
      needs: need(emails, "send"),
      unaudited: "messages are in the message log",
      body: Batch,
      answer: BatchAnswer,
      message: ({ accepted, refused }) => `${accepted} emails queued for delivery, ${refused} refused`,
      idempotent: true,
      bodyLimit: BODY_LIMIT,
      async handle({ body, caller, requestId, idempotency }) {
        const recipients = body.emails.reduce<number>((sum, given) => sum + recipientsIn(given), 0);
        if (recipients > MOST_IN_BATCH) {
          const message = `emails must have at most ${MOST_IN_BATCH} recipients in all, and have ${recipients}`;
          throw invalid({ field: "emails", message });
        }
        const items = await readItems(body.emails);
        const given = items.flatMap((item) => item.body ?? []);
        return media.attach(caller.workspaceId, given, "emails", async (pictures) => {
          const named = items.flatMap(({ template }) => template ?? []);
          const rendered = await templates.render(caller, named);
          const reading = { caller, requestId, platform, now: clock.now(), pictures };
          await writeItems(items, rendered.values(), reading);
          const mails = items.flatMap(({ mail }) => mail ?? []);
          if (mails.length === 0) return batchAnswer(items, []);
          const refusals = await acceptor.acceptEach(
            mails.map(({ drafts }) => drafts),
            async (tx, found) => {
              await storeResponseIn(tx, idempotency, batchAnswer(items, found));
            },
          );
          const data = batchAnswer(items, refusals);
          return idempotency ? new ResponseStored(data) : data;
        });
      },
    }),
    endpoint({
      id: "cancelEmail",
      method: "POST",
      path: "/emails/{id}/cancel",
      summary: "Cancel an email that waits, for all its recipients",
      description:
        "Messages that still wait end as `cancelled`; those that are being sent, or have ended, stay as they are. The price of a message is refunded if no mail server was asked to take it. 409 if none of them waits. `POST /messages/{id}/cancel` cancels the message of one recipient.",
      needs: need(emails, "send"),
      outward: "nothing",
      answer: CancelledEmail,
      errors: ["CONFLICT"],
      message: "The email is cancelled",
      handle: ({ caller, params: { id } }) => cancelEmail({ db, clock, onMoved }, caller.workspaceId, id),
    }),
  ];
}

/** The addresses that an email names, none of them read; 0 for one that is refused because they are too many. */
function recipientsIn(given: unknown): number {
  const fields: Readonly<Record<string, unknown>> =
    typeof given === "object" && given !== null ? { ...given } : {};
  const named = recipientTypes.reduce((sum, type) => sum + textsIn(fields[type]), 0);
  return named > MOST_RECIPIENTS ? 0 : named;
}

async function readItems(given: readonly unknown[]): Promise<BatchItem[]> {
  const items: BatchItem[] = [];
  for (const [at, one] of given.entries()) {
    if (at > 0 && at % READ_AT_ONCE === 0) await nextTurn();
    items.push(new BatchItem(one));
  }
  return items;
}

/** @param rendered templates of the items that name one, in their order */
async function writeItems(
  items: readonly BatchItem[],
  rendered: Iterator<MailTexts | ApiError>,
  context: MailReading,
): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % READ_AT_ONCE === 0) await nextTurn();
    item.write(item.template === null ? null : (rendered.next().value ?? null), context);
  }
}

/** One email of a batch: read and written, or refused with an error. */
class BatchItem {
  readonly template: MailWithTemplate | null = null;
  /** Null if it has not the shape of an email. */
  readonly body: Static<typeof NewMail> | null = null;
  readonly #warnings: Result["warnings"] = [];
  #mail: ReadMail | null = null;
  #refusal: ApiError | null = null;

  constructor(given: unknown) {
    try {
      this.body = readItem(given, { onIgnored: (one) => void this.#warnings.push(one) });
      this.template = templateOf(this.body);
    } catch (fault) {
      this.#refuse(fault);
    }
  }

  /** Null until it is written, and for an email that was refused. */
  get mail(): ReadMail | null {
    return this.#mail;
  }

  /** @param rendered its template; null without one */
  write(rendered: MailTexts | ApiError | null, context: MailReading): void {
    if (this.#refusal !== null || this.body === null) return;
    try {
      this.#mail = readMail(withTemplate(this.body, rendered), context);
    } catch (fault) {
      this.#refuse(fault);
    }
  }

  /** @param refused the reason of the acceptor; null if it accepted the mail */
  result(refused: ApiError | null): Result {
    const refusal = this.#refusal ?? refused;
    const warnings = this.#warnings;
    if (refusal === null && this.#mail !== null) {
      return { success: true, data: answerOf(this.#mail), error: null, code: null, details: [], warnings };
    }
    const { error, code, details = [] } = failure(refusal ?? new ApiError("INTERNAL_ERROR"));
    return { success: false, data: null, error, code, details: [...details], warnings };
  }

  #refuse(fault: unknown): void {
    if (!(fault instanceof ApiError)) throw fault;
    this.#refusal = fault;
  }
}

/** @param refusals of the items that were read, in their order */
function batchAnswer(items: readonly BatchItem[], refusals: Refusals): Static<typeof BatchAnswer> {
  const left = refusals.values();
  const results = items.map((item) => item.result(item.mail === null ? null : (left.next().value ?? null)));
  const accepted = results.filter(({ success }) => success).length;
  return { accepted, refused: results.length - accepted, results };
}

function answerOf({ id, scheduledAt, recipients, drafts }: ReadMail): Static<typeof AcceptedMail> {
  return {
    id,
    status: "queued",
    scheduled_at: scheduledAt,
    messages: drafts.map(({ message }, place) => ({
      id: message.id,
      to: `${message.localpart}@${message.domain}`,
      recipient_type: recipients[place]?.type ?? "to",
    })),
  };
}
