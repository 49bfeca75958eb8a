/**
 * The SMTP conversation of an attempt as it is stored: one record a line, with the milliseconds since the record before
 * (the first: since 1970) in base 36, the side that sent it, and the text. Half the size of JSON, and written for each message.
 */
import type { TranscriptLine } from "#smtp-client/transcript.ts";

/** The opening of a connection, stored once for each workspace whose messages the connection carried. */
export interface StoredOpening {
  /** UUID of version 7, of the time of the connection. */
  readonly id: string;
  /** Records of the lines (encodeConversation). */
  readonly lines: string;
}

/** The conversation of one attempt. */
export interface SmtpConversation {
  /** Shared by all messages of the connection. */
  readonly opening: StoredOpening;
  /** Records of the message's own transaction; "" without one. */
  readonly lines: string;
}

const MARKS = { client: ">", server: "<", connection: "*" } as const satisfies Record<
  TranscriptLine["from"],
  string
>;
const SPEAKERS = new Map(Object.entries(MARKS).map(([from, mark]) => [mark, from as TranscriptLine["from"]]));

const RECORD = /^(-?[0-9a-z]*)([<>*])(.*)$/s;

/** The texts have no line feed: a transcript escapes control characters. */
export function encodeConversation(lines: readonly TranscriptLine[]): string {
  let records = "";
  let before = 0;
  for (const { time, from, text } of lines) {
    const delta = time - before;
    records += `${records === "" ? "" : "\n"}${delta === 0 ? "" : delta.toString(36)}${MARKS[from]}${text}`;
    before = time;
  }
  return records;
}

/** The opposite of encodeConversation; null and "" have no lines. */
export function decodeConversation(records: string | null): TranscriptLine[] {
  let time = 0;
  return (records ?? "").split("\n").flatMap((record) => {
    const [, delta = "", mark = "", text = ""] = RECORD.exec(record) ?? [];
    const from = SPEAKERS.get(mark as (typeof MARKS)[keyof typeof MARKS]);
    if (from === undefined) return [];
    time += delta === "" ? 0 : Number.parseInt(delta, 36);
    return { time, from, text };
  });
}
