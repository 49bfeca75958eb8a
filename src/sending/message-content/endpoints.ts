/** The content of sent messages over HTTP: readable parts, and the source. */
import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import { domainOf } from "#mail/address.ts";
import { type Endpoint, endpoint, need, type Resource } from "#platform/http/endpoint.ts";
import { FileAnswer, fileShape } from "#platform/http/response/file-answer.ts";
import { described, Id, NullableTimestamp, nullable } from "#platform/shapes.ts";
import type { ParsedMessage, ParseSentMessage } from "./parse-sent-message.ts";
import { readSentMessage, type SentMessageDeps, type ShownMessage } from "./read-sent-message.ts";

/** Its own permission, because contents may hold what only their recipients should read. */
const messageContent: Resource = {
  name: "message_content",
  label: "Contents of sent messages",
  group: "Reporting",
};

const HeaderLine = Type.Object(
  {
    name: Type.String({ description: "Name of the header field, as it is written in the message." }),
    value: Type.String({ description: "Its value, unfolded to one line and otherwise unchanged." }),
  },
  { $id: "MessageHeader" },
);

const ContentAttachment = Type.Object(
  {
    filename: Type.String({ description: "File name; `unnamed` if the part has none." }),
    content_type: Type.String({ description: "Media type, in lower case and without parameters." }),
    content_id: nullable(
      Type.String({
        description: "The HTML shows the file as `cid:` and this id; null if it has no Content-ID.",
      }),
    ),
    size: Type.Integer({ description: "Octets of the decoded file." }),
  },
  { $id: "MessageAttachment" },
);

const Authentication = Type.Object(
  {
    return_path: Type.String({ description: "The envelope sender, whose domain SPF checks." }),
    spf_aligned: Type.Boolean({
      description:
        "Whether the domain of `return_path` is the From domain, or below it: SPF then counts for DMARC.",
    }),
    dkim_domain: nullable(
      Type.String({ description: "The domain (`d=`) of our signature; null if there is none." }),
    ),
    dkim_selector: nullable(
      Type.String({ description: "The selector (`s=`) of our signature; null if there is none." }),
    ),
    dkim_aligned: Type.Boolean({
      description: "Whether `dkim_domain` is the From domain: DKIM then counts for DMARC.",
    }),
  },
  { $id: "MessageAuthentication" },
);

const MessageContent = Type.Object(
  {
    id: Id,
    is_rebuilt: Type.Boolean({
      description:
        "False: these are the octets as they were composed for sending. True: the message was composed again from its stored content by the code that sends, with a new signature.",
    }),
    html: nullable(
      Type.String({
        description:
          "The HTML part as it was sent, with tracked links; null without one. Show it only in a sandbox.",
      }),
    ),
    text: nullable(Type.String({ description: "The text part; null without one." })),
    headers: Type.Array(HeaderLine, {
      description: "Header fields in the order of the message, with our DKIM-Signature.",
    }),
    authentication: described(Authentication, "How the message was authenticated when it was sent."),
    attachments: Type.Array(ContentAttachment, { description: "Attached and embedded files." }),
    size: Type.Integer({ description: "Octets of the whole message." }),
    expires_at: Type.Unsafe<Date | null>({
      ...NullableTimestamp,
      description:
        "When the content is no longer shown (the setting MESSAGE_CONTENT_DAYS); null if contents are kept forever.",
    }),
  },
  { $id: "MessageContent" },
);

export interface MessageContentDeps extends SentMessageDeps {
  readonly parse: ParseSentMessage;
}

export function messageContentEndpoints(deps: MessageContentDeps): Endpoint[] {
  return [
    endpoint({
      id: "getMessageContent",
      method: "GET",
      path: "/messages/{id}/content",
      mayTakeLong: "reading",
      summary: "The content of a message as it was sent: HTML, text, headers, attachments",
      description:
        "`is_rebuilt` says whether the octets were stored or composed again by the code that sends. 410 after the days that the setting MESSAGE_CONTENT_DAYS keeps contents.",
      needs: need(messageContent, "read"),
      isEveryday: true,
      answer: MessageContent,
      errors: ["FORBIDDEN", "CONFLICT", "GONE"],
      message: "Message content",
      async handle({ caller, params }) {
        const sent = await readSentMessage(deps, caller.workspaceId, params.id);
        return describe(params.id, sent, await deps.parse(sent.raw));
      },
    }),
    endpoint({
      id: "downloadMessageSource",
      method: "GET",
      path: "/messages/{id}/source",
      mayTakeLong: "reading",
      summary: "The source of a message as it was sent, a file that mail programs open",
      description:
        "A file in the format of RFC 5322 (.eml). 410 after the days that the setting MESSAGE_CONTENT_DAYS keeps contents.",
      needs: need(messageContent, "read"),
      answer: fileShape(
        "message/rfc822",
        "The message with all header fields. Whether it was composed again is in `is_rebuilt` of its content.",
      ),
      errors: ["FORBIDDEN", "CONFLICT", "GONE"],
      async handle({ caller, params }) {
        const { raw } = await readSentMessage(deps, caller.workspaceId, params.id);
        return new FileAnswer(`${params.id}.eml`, Readable.from([raw]));
      },
    }),
  ];
}

function describe(
  id: string,
  { raw, isRebuilt, mailFrom, expiresAt }: ShownMessage,
  parsed: ParsedMessage,
): Static<typeof MessageContent> {
  return {
    id,
    is_rebuilt: isRebuilt,
    html: parsed.html,
    text: parsed.text,
    headers: [...parsed.headers],
    authentication: authenticationOf(parsed, mailFrom),
    attachments: [...parsed.attachments],
    size: raw.length,
    expires_at: expiresAt,
  };
}

/** Our signature is the first DKIM-Signature: a submitted message may have others below it. */
function authenticationOf({ headers }: ParsedMessage, mailFrom: string): Static<typeof Authentication> {
  const fieldOf = (wanted: string) => headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";
  const tag = (name: string) =>
    new RegExp(`(?:^|;)\\s*${name}=([^;\\s]+)`).exec(fieldOf("dkim-signature"))?.[1] ?? null;
  const from = domainOf(fieldOf("from").replace(/[>\s]+$/, "")).toLowerCase();
  const returnDomain = domainOf(mailFrom).toLowerCase();
  const dkimDomain = tag("d");
  return {
    return_path: mailFrom,
    spf_aligned: returnDomain === from || returnDomain.endsWith(`.${from}`),
    dkim_domain: dkimDomain,
    dkim_selector: tag("s"),
    dkim_aligned: dkimDomain?.toLowerCase() === from,
  };
}
