/** Received mail over HTTP: lists, readable parts, attachments, source, deletion. */
import { Readable } from "node:stream";
import type { Static } from "typebox";
import { comparableAddress, tagOf } from "#inbound/routes/address-pattern.ts";
import type { Database } from "#platform/database/pool.ts";
import { notFound, required } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields, idField, maybeField, textField, timeField } from "#platform/http/request/query.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import { MIB } from "#platform/limits/limit.ts";
import { Deleted } from "#platform/shapes.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { receivedEmails } from "./permission.ts";
import type { ReadAttachment } from "./read-attachment-in-thread.ts";
import { removeReceivedEmail } from "./remove-store.ts";
import { ReceivedEmailRowShape, ReceivedEmailShape } from "./shapes.ts";
import {
  countReceivedEmails,
  findReceivedAttachments,
  findReceivedEmail,
  listReceivedEmails,
  MOST_RECEIVED_SEARCHED,
  type ReceivedEmailRow,
  readReceivedSource,
} from "./store.ts";

export interface ReceivedEmailDeps {
  readonly db: Database;
  readonly readAttachment: ReadAttachment;
  /** Days for which received mail is kept; null: forever. */
  readonly keptDays: number | null;
}

/** A source is read in parts, because a client may take long to receive 40 MB. */
const SOURCE_PART_BYTES = MIB;

const filters = {
  route_id: idField("Only mail that took this inbound route."),
  from: textField(320, "Only mail with this whole address in From, in any case."),
  to: textField(320, "Only mail that was sent to this whole address, in any case; a tag counts."),
  subject: textField(
    200,
    `A part of the subject, in any case. Searched in the newest ${MOST_RECEIVED_SEARCHED.toLocaleString("en-US")} mails that match the other filters.`,
  ),
  is_spam: maybeField("Only mail that counts as spam, or only other mail."),
  in_reply_to_message_id: idField("Only answers to this message."),
  received_from: timeField("Only mail that arrived at this time or later."),
  received_before: timeField("Only mail that arrived before this time."),
};

export function receivedEmailEndpoints({ db, readAttachment, keptDays }: ReceivedEmailDeps): Endpoint[] {
  const reads = need(receivedEmails, "read");
  return [
    endpoint({
      id: "listReceivedEmails",
      method: "GET",
      path: "/received-emails",
      mayTakeLong: "reading",
      summary: "List the mail that inbound routes have received, newest first",
      description:
        "Mail of routes with `keep`. Combine the filters to find one; for long lists follow `pagination.next_cursor`.",
      needs: reads,
      query: { ...filters, ...cursorFields() },
      answer: pageOf("received_emails", ReceivedEmailRowShape),
      message: "Received mail",
      async handle({ caller: { workspaceId }, query }) {
        const { received_from: since, received_before: before, is_spam: isSpam, ...texts } = query;
        const { route_id: routeId, in_reply_to_message_id: inReplyTo, from, to, subject } = texts;
        const filter = { routeId, from, to, subject, isSpam, inReplyTo, since, before };
        const given = Object.values(filter).map((value) =>
          value instanceof Date ? value.toISOString() : value?.toString(),
        );
        const walk = new ListPage(query, "listReceivedEmails", workspaceId, ...given);
        const [found, { total, isExact }] = await Promise.all([
          listReceivedEmails(db, workspaceId, filter, walk.page),
          countReceivedEmails(db, workspaceId, filter),
        ]);
        const { rows, pagination } = walk.shown(found, total, ({ id }) => id, { isTotalExact: isExact });
        return { received_emails: rows, pagination };
      },
    }),
    endpoint({
      id: "getReceivedEmail",
      method: "GET",
      path: "/received-emails/{id}",
      summary: "One received mail: addresses, text, HTML, header fields, attachments, authentication",
      description:
        "Everything in it was written by its sender: `authentication.dmarc` says whether that is who From says. Attachments are downloaded one by one.",
      needs: reads,
      answer: ReceivedEmailShape,
      message: "Received mail",
      async handle({ caller, params }) {
        const row = required(await findReceivedEmail(db, caller.workspaceId, params.id), "Received mail");
        return describe(row, keptDays);
      },
    }),
    endpoint({
      id: "downloadReceivedAttachment",
      method: "GET",
      path: "/received-emails/{id}/attachments/{attachment_id}",
      mayTakeLong: "working aside",
      summary: "Download an attachment of a received mail",
      description:
        "The decoded file, always as application/octet-stream, so that no browser runs it. It was not scanned for viruses.",
      needs: reads,
      answer: fileShape("application/octet-stream", "The decoded file."),
      errors: ["CONFLICT", "RATE_LIMIT_EXCEEDED"],
      async handle({ caller: { workspaceId }, params }) {
        const attachments = required(
          await findReceivedAttachments(db, workspaceId, params.id),
          "Received mail",
        );
        const place = attachments.findIndex(({ id }) => id === params.attachment_id);
        const attachment = required(attachments[place], "Attachment");
        const load = () => readReceivedSource(db, workspaceId, params.id);
        const content = required((await readAttachment(workspaceId, load, place)) ?? undefined, "Attachment");
        return new FileAnswer(attachment.filename, Readable.from([Buffer.from(content)]));
      },
    }),
    endpoint({
      id: "downloadReceivedSource",
      method: "GET",
      path: "/received-emails/{id}/source",
      mayTakeLong: "reading",
      summary: "The source of a received mail, a file that mail programs open",
      description: "A file in the format of RFC 5322 (.eml), octet by octet as it arrived.",
      needs: reads,
      answer: fileShape("message/rfc822", "The mail with all header fields, as it arrived."),
      async handle({ caller, params }) {
        const read = (offset: number) =>
          readReceivedSource(db, caller.workspaceId, params.id, { offset, most: SOURCE_PART_BYTES });
        const first = required(await read(0), "Received mail");
        return new FileAnswer(`${params.id}.eml`, Readable.from(partsFrom(first, read)));
      },
    }),
    endpoint({
      id: "deleteReceivedEmail",
      method: "DELETE",
      path: "/received-emails/{id}",
      summary: "Delete a received mail with its attachments, and free its storage",
      description: "What webhooks were told of it stays in their deliveries until these are removed.",
      needs: need(receivedEmails, "write"),
      answer: Deleted,
      message: "Received mail deleted",
      handle: ({ caller, params: { id } }) =>
        db.transaction(async (tx) => {
          if (!(await removeReceivedEmail(tx, caller.workspaceId, id))) throw notFound("Received mail");
          return { id, deleted: true } as const;
        }),
    }),
  ];
}

/** @throws Error when the mail is deleted before its end was read */
async function* partsFrom(
  first: Buffer,
  read: (offset: number) => Promise<Buffer | undefined>,
): AsyncGenerator<Buffer> {
  let part: Buffer | undefined = first;
  for (let offset = 0; ; part = await read(offset)) {
    if (part === undefined) throw new Error("the received mail was deleted during its download");
    if (part.length > 0) yield part;
    if (part.length < SOURCE_PART_BYTES) return;
    offset += part.length;
  }
}

function describe(row: ReceivedEmailRow, keptDays: number | null): Static<typeof ReceivedEmailShape> {
  const { details, authentication, from, ...rest } = row;
  const { to = [], cc = [], reply_to = [], headers = [], attachments = [], cut = [] } = details ?? {};
  return {
    ...rest,
    tag: tagOf(comparableAddress(row.recipient).local_part),
    from,
    to: [...to],
    cc: [...cc],
    reply_to: [...reply_to],
    date: details?.date ? new Date(details.date) : null,
    headers: [...headers],
    attachments: [...attachments],
    cut: [...cut],
    authentication: authentication && { ...authentication, dkim: [...authentication.dkim] },
    expires_at: keptDays === null ? null : new Date(row.received_at.getTime() + keptDays * DAY_MS),
  };
}
