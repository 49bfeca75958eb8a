/** The message log over HTTP: one row for each message of any channel, and the timeline of each. */
import { type Static, Type } from "typebox";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { cursorFields } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/pagination.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, Id, nullable, Times, Timestamp } from "#platform/shapes.ts";
import { filterTexts, findMessages, messageFilterFields, SearchedSince } from "./find-messages.ts";
import type { ScanFilter } from "./log-scan-store.ts";
import { decodeConversation } from "./message/conversation.ts";
import { Metadata, recipientTypes, Tags } from "./message/email-details.ts";
import { emailIdOf } from "./message/email-id.ts";
import { messageSources, messageStatuses } from "./message/status.ts";
import { reports } from "./permission.ts";
import { EmailRecipient, emailRecipientOf, sentEmailEndpoint, shownDetails } from "./sent-email.ts";
import {
  type EventRow,
  findMessage,
  listEvents,
  listMessages,
  listMessagesOfEmail,
  type MessageRow,
} from "./store.ts";

const MessageLogRow = Type.Object(
  {
    id: described(Id, "Id of the message."),
    time: described(Timestamp, "When the service accepted it."),
    localpart: Type.String({ description: "The recipient's address before the @." }),
    domain: Type.String({ description: "The recipient's address after the @." }),
    status: Type.Enum([...messageStatuses], { description: "State of the message." }),
    attempts: Type.Integer({ description: "Delivery attempts made." }),
    error_message: nullable(Type.String({ description: "The last error; null without one." })),
    source: Type.Enum([...messageSources], { description: "What it was sent by." }),
    origin_id: nullable(
      described(Id, "Id of the campaign, autoresponder or API key that sent it; null for other origins."),
    ),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    from_email: Type.String({ description: "The sender's address." }),
    subject: Type.String({
      description:
        "The subject; of a campaign or autoresponder the template, with its merge tags. `GET /messages/{id}/content` has the rendered one.",
    }),
    next_attempt_at: nullable(
      described(Timestamp, "When it is tried next, in UTC; null unless it is deferred."),
    ),
    scheduled_at: nullable(
      described(Timestamp, "The time that POST /emails gave for its first attempt, in UTC; null: at once."),
    ),
    tags: Tags,
  },
  { $id: "MessageLogRow" },
);

const TlsNote = Type.Object(
  {
    version: nullable(Type.String({ description: "Such as TLSv1.3; null in clear text." })),
    cipher: nullable(Type.String({ description: "The cipher suite; null if unknown." })),
    verified: Type.Boolean({
      description: "The certificate was valid for the host, or matched its DANE record.",
    }),
    policy: nullable(
      Type.Enum(["dane", "mta-sts", "mta-sts-testing"], {
        description:
          "The TLS policy that applied: of the host (DANE, RFC 7672) or of the recipient's domain (MTA-STS, RFC 8461).",
      }),
    ),
    policy_met: nullable(Type.Boolean({ description: "Null without a policy." })),
    clear_text_reason: nullable(
      Type.String({
        description: "Why the message was sent in clear text, such as how TLS failed with this host.",
      }),
    ),
  },
  { $id: "TlsNote" },
);

const ConversationLine = Type.Object(
  {
    time: described(Timestamp, "When it was written or arrived, in UTC, to the millisecond."),
    from: Type.Enum(["client", "server", "connection"], {
      description:
        "`client`: the service; `server`: the mail server; `connection`: what happened to the connection, such as its TLS or a timeout.",
    }),
    text: Type.String({
      description:
        "One line without its line end, at most 500 characters. Control characters and octets that are not UTF-8 are escaped, such as \\x00. Text in parentheses stands for what is not shown: the message, credentials.",
    }),
  },
  { $id: "ConversationLine" },
);

const TimelineEntry = Type.Object(
  {
    type: Type.String({
      description:
        "`queued`, the status that the message moved to, or what the recipient did: `opened`, `clicked`, `unsubscribed`, `replied`; `machine_opened` and `machine_clicked` for programs.",
    }),
    time: described(Timestamp, "When it happened, in UTC."),
    detail: nullable(
      Type.String({
        description:
          "The reply of the server, the target of a clicked link, or the id of the received mail that answers.",
      }),
    ),
    attempt: nullable(
      Type.Integer({ description: "Number of the attempt, from 1; null if it is not an attempt." }),
    ),
    mx_host: nullable(Type.String({ description: "The mail server; null if none was involved." })),
    source_ip: nullable(Type.String({ description: "The address the attempt was made from." })),
    tls: nullable(
      described(TlsNote, "How the session was encrypted; null if it was not, or there was none."),
    ),
    code: nullable(Type.Integer({ description: "SMTP reply code." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    conversation: nullable(
      Type.Array(ConversationLine, {
        description:
          "The SMTP conversation of the attempt: how its connection was opened, then the commands and replies for this message, some 8 kB at most. Null for what is not an SMTP attempt, if no host could be looked up, and in capture mode.",
      }),
    ),
    times: Times,
    user_agent: nullable(Type.String({ description: "Of opens and clicks." })),
    machine_sign: nullable(
      Type.String({
        description:
          "Why an open or click is attributed to a program: `agent`, `head`, `prefetch`, `early`, `sweep`.",
      }),
    ),
  },
  { $id: "TimelineEntry" },
);

const Message = Type.Object(
  {
    ...MessageLogRow.properties,
    metadata: Metadata,
    email: nullable(
      Type.Object(
        {
          id: described(Id, "Id of the email, for `GET /emails/{id}`."),
          recipient_type: Type.Enum([...recipientTypes], { description: "Which field named the recipient." }),
          messages: Type.Array(EmailRecipient, {
            description: "The messages to all recipients of the email, this one among them.",
          }),
        },
        {
          $id: "EmailOfMessage",
          description: "The email of POST /emails that it belongs to; null for other mail.",
        },
      ),
    ),
    to: Type.String({ description: "The recipient's address." }),
    request_id: nullable(Type.String({ description: "X-Request-Id of the API call that created it." })),
    timeline: Type.Array(TimelineEntry, { description: "What happened to it, oldest first." }),
  },
  { $id: "Message" },
);

export interface MessageEndpointDeps {
  readonly db: Database;
  /** Finds ids that the messages of an origin are within; undefined when it knows none. */
  readonly spanOfOrigin: (
    db: Database,
    workspaceId: WorkspaceId,
    originId: string,
  ) => Promise<ScanFilter["span"]>;
}

export function messageEndpoints({ db, spanOfOrigin }: MessageEndpointDeps): Endpoint[] {
  return [
    endpoint({
      id: "listMessages",
      method: "GET",
      path: "/messages",
      mayTakeLong: "reading",
      summary: "Message log across all channels, newest first",
      description:
        "One row for each message of campaigns, autoresponders, API and SMTP. Combine the filters to find one; `searched_since` says how far back a search has looked. For long lists follow `pagination.next_cursor`.",
      needs: need(reports, "read"),
      isEveryday: true,
      query: { ...messageFilterFields, ...cursorFields() },
      answer: Type.Object({ ...pageOf("messages", MessageLogRow).properties, searched_since: SearchedSince }),
      message: "Messages",
      async handle({ caller: { workspaceId }, query }) {
        const walk = new ListPage(query, "listMessages", workspaceId, ...filterTexts(query));
        const { origin_id } = query;
        const span = origin_id === undefined ? undefined : await spanOfOrigin(db, workspaceId, origin_id);
        const found = await findMessages(db, workspaceId, { ...query, span }, walk.page);
        const { rows, pagination } = walk.shown(found.ids, found.total, (one) => one, {
          restAfter: found.searchedTo,
        });
        return {
          messages: (await listMessages(db, workspaceId, rows)).map(logRow),
          searched_since: found.since,
          pagination,
        };
      },
    }),
    endpoint({
      id: "getMessage",
      method: "GET",
      path: "/messages/{id}",
      summary: "One message with the timeline of its attempts and the replies they got",
      description:
        "Everything that is known about one message: each attempt with the server's reply and the SMTP conversation line by line, opens, clicks and complaints. The log is kept as long as the installation's settings say.",
      needs: need(reports, "read"),
      isEveryday: true,
      answer: Message,
      message: "Message",
      async handle({ caller, params }) {
        const message = await findMessage(db, caller.workspaceId, params.id);
        if (!message) throw notFound("Message");
        const { workspaceId } = caller;
        const [events, siblings] = await Promise.all([
          listEvents(db, workspaceId, params.id),
          message.email_details ? listMessagesOfEmail(db, workspaceId, emailIdOf(params.id)) : [],
        ]);
        return describe(message, events, siblings);
      },
    }),
    sentEmailEndpoint(db),
  ];
}

function entryOf({ opening, conversation, ...event }: EventRow): Static<typeof TimelineEntry> {
  const lines = [...decodeConversation(opening), ...decodeConversation(conversation)];
  const shown = lines.map(({ time, ...line }) => ({ time: new Date(time), ...line }));
  return { ...event, conversation: shown.length === 0 ? null : shown };
}

/** A row of the log, without the fields that only a single message shows. */
function logRow(message: MessageRow): Static<typeof MessageLogRow> {
  const { request_id: _request, email_details, ...row } = message;
  return { ...row, ...shownDetails(email_details) };
}

function describe(
  message: MessageRow,
  events: EventRow[],
  siblings: readonly MessageRow[],
): Static<typeof Message> {
  const { email_details: details, request_id } = message;
  const reply = {
    attempt: null,
    detail: null,
    mx_host: null,
    source_ip: null,
    tls: null,
    code: null,
    enhanced_code: null,
    conversation: null,
  };
  const engagement = { times: 1, user_agent: null, machine_sign: null };
  return {
    ...logRow(message),
    metadata: { ...details?.metadata },
    email: details && {
      id: emailIdOf(message.id),
      recipient_type: details.recipient_type,
      messages: siblings.map(emailRecipientOf),
    },
    to: `${message.localpart}@${message.domain}`,
    request_id,
    timeline: [{ type: "queued", time: message.time, ...reply, ...engagement }, ...events.map(entryOf)],
  };
}
