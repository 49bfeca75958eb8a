/** The message log over HTTP: one row for every message sent by whatever way, and the story of each. */
import { type Static, Type } from "typebox";
import type { Database } from "#platform/database/pool.ts";
import { notFound } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import { ListPage } from "#platform/http/request/list-page.ts";
import { choiceField, cursorFields } from "#platform/http/request/query.ts";
import { pageOf } from "#platform/http/response/paging.ts";
import { Id, NullableTimestamp, nullable, Times, Timestamp } from "#platform/shapes.ts";
import { findMessages, recipientField, SearchedSince } from "./find-messages.ts";
import { messageSources, messageStatuses } from "./message/status.ts";
import { reports } from "./resource.ts";
import { type EventRow, findMessage, listEvents, listMessages, type MessageRow } from "./store.ts";

const MessageLogRow = Type.Object(
  {
    id: Id,
    time: Type.Unsafe<Date>({ ...Timestamp, description: "When the service accepted it." }),
    localpart: Type.String(),
    domain: Type.String(),
    status: Type.Enum([...messageStatuses]),
    attempts: Type.Integer({ description: "SMTP attempts made." }),
    error_message: nullable(Type.String({ description: "The last refusal; null when all is well." })),
    source: Type.Enum([...messageSources]),
    origin_name: Type.String({ description: "Name of the campaign, API key or other origin." }),
    next_attempt_at: NullableTimestamp,
  },
  { $id: "MessageLogRow" },
);

const TlsNote = Type.Object(
  {
    version: nullable(Type.String({ description: "Such as TLSv1.3; null in clear text." })),
    cipher: nullable(Type.String()),
    verified: Type.Boolean({
      description: "The certificate was valid for the host, or DANE vouched for it.",
    }),
    policy: nullable(
      Type.Enum(["dane", "mta-sts", "mta-sts-testing"], {
        description:
          "Who demanded something of it: the host (RFC 7672) or the recipient's domain (RFC 8461).",
      }),
    ),
    policy_met: nullable(Type.Boolean({ description: "Null without a policy." })),
    clear_text_reason: nullable(
      Type.String({ description: "In clear text: why, such as how TLS had failed with this host." }),
    ),
  },
  { $id: "TlsNote" },
);

const TimelineEntry = Type.Object(
  {
    type: Type.String({
      description:
        "`queued`, the status that the message moved to, or what the recipient did: `opened`, `clicked`, `unsubscribed`; `machine_opened` and `machine_clicked` are programs.",
    }),
    time: Timestamp,
    detail: nullable(Type.String({ description: "What the other side said; where a clicked link led." })),
    attempt: nullable(Type.Integer()),
    mx_host: nullable(Type.String()),
    source_ip: nullable(Type.String({ description: "The address the attempt was made from." })),
    tls: nullable(TlsNote),
    code: nullable(Type.Integer({ description: "SMTP reply code." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code (RFC 3463)." })),
    times: Times,
    user_agent: nullable(Type.String({ description: "Of an open or a click." })),
    machine_sign: nullable(
      Type.String({
        description: "Why a program is taken to have done it: `agent`, `head`, `prefetch`, `early`, `sweep`.",
      }),
    ),
  },
  { $id: "TimelineEntry" },
);

const Message = Type.Object(
  {
    ...MessageLogRow.properties,
    to: Type.String(),
    from_email: Type.String(),
    subject: Type.String(),
    request_id: nullable(Type.String({ description: "X-Request-Id of the call that made it." })),
    timeline: Type.Array(TimelineEntry),
  },
  { $id: "Message" },
);

export function messageEndpoints({ db }: { db: Database }): Endpoint[] {
  return [
    endpoint({
      id: "listMessages",
      method: "GET",
      path: "/messages",
      mayTakeLong: "reading",
      summary: "Message log across all channels, newest first",
      needs: need(reports, "read"),
      query: {
        source: choiceField(messageSources, "Only messages that came this way."),
        email: recipientField,
        status: choiceField(messageStatuses, "Only messages in this state."),
        ...cursorFields(),
      },
      answer: Type.Object({ ...pageOf("messages", MessageLogRow).properties, searched_since: SearchedSince }),
      message: "Messages",
      async handle({ caller: { workspaceId }, query }) {
        const { source, status, email } = query;
        const walk = new ListPage(query, "listMessages", workspaceId, source, status, email);
        const { ids, total, since } = await findMessages(db, workspaceId, query, walk.page);
        const { rows, pagination } = walk.shown(ids, total, (one) => one);
        return {
          messages: (await listMessages(db, workspaceId, rows)).map(logRow),
          searched_since: since,
          pagination,
        };
      },
    }),
    endpoint({
      id: "getMessage",
      method: "GET",
      path: "/messages/{id}",
      summary: "One message with the timeline of its attempts and the replies they got",
      needs: need(reports, "read"),
      answer: Message,
      message: "Message",
      async handle({ caller, params }) {
        const message = await findMessage(db, caller.workspaceId, params.id);
        if (!message) throw notFound("Message");
        return describe(message, await listEvents(db, caller.workspaceId, params.id));
      },
    }),
  ];
}

/** A row of the log, without what only the single message shows. */
function logRow(message: MessageRow): Static<typeof MessageLogRow> {
  const { from_email: _from, subject: _subject, request_id: _request, ...row } = message;
  return row;
}

function describe(message: MessageRow, events: EventRow[]): Static<typeof Message> {
  const reply = {
    attempt: null,
    detail: null,
    mx_host: null,
    source_ip: null,
    tls: null,
    code: null,
    enhanced_code: null,
  };
  const engagement = { times: 1, user_agent: null, machine_sign: null };
  return {
    ...message,
    to: `${message.localpart}@${message.domain}`,
    timeline: [{ type: "queued", time: message.time, ...reply, ...engagement }, ...events],
  };
}
