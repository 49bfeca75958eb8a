/** Reads a page of the message log by any filter. */
import type { Page } from "#platform/database/page.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { inOneSnapshot } from "#platform/database/snapshot-store.ts";
import { invalid } from "#platform/errors.ts";
import { choiceField, idField, type QueryField, textField, timeField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { described, nullable, Timestamp } from "#platform/shapes.ts";
import { countMessages } from "./log-counts-store.ts";
import { findMessagePage } from "./log-pages-store.ts";
import { MOST_SCANNED, type ScanFilter, type Scanned, scanMessages } from "./log-scan-store.ts";
import { MOST_SEARCHED, searchMessages } from "./log-search-store.ts";
import { messageSources, messageStatuses } from "./message/status.ts";

export const recipientField = textField(
  320,
  `A recipient's address, or a part of it, in any case. A whole address finds all of its messages; a part is searched in the newest ${MOST_SEARCHED.toLocaleString("en-US")} messages that match the other filters.`,
);

export const SearchedSince = nullable(
  described(Timestamp, "Messages older than this were not searched; null when all were."),
);

/** Three digits, or an enhanced status code (RFC 3463). */
const codeForm = /^(?:[2-5]\d\d|[245]\.\d{1,3}\.\d{1,3})$/;
const anyCode = textField(
  9,
  "An SMTP reply code such as 550, or an enhanced status code such as 5.1.1, of any attempt or bounce of the message.",
);
const codeField: QueryField<string | undefined> = {
  schema: anyCode.schema,
  read(text, name) {
    const code = anyCode.read(text, name);
    if (code === undefined || codeForm.test(code)) return code;
    const message = `${name} must be a reply code such as 550, or an enhanced status code such as 5.1.1`;
    throw invalid({ field: name, message });
  },
};

/** A name and a value of metadata, such as order=1042. */
const pair = textField(
  300,
  "A name and value of the metadata that POST /emails gave it, with = between them: order=1042.",
);
const pairField: QueryField<{ readonly name: string; readonly value: string } | undefined> = {
  schema: pair.schema,
  read(given, name) {
    const text = pair.read(given, name);
    if (text === undefined) return undefined;
    const at = text.indexOf("=");
    if (at > 0) return { name: text.slice(0, at), value: text.slice(at + 1) };
    throw invalid({ field: name, message: `${name} must be a name and a value, such as order=1042` });
  },
};

const searched = `Searched in ${MOST_SCANNED.toLocaleString("en-US")} messages a call: next_cursor continues the search.`;

/** Filters of the message log that read it until a maximum, and continue with the next cursor. */
const scanFields = {
  subject: textField(200, `A part of the subject, in any case. ${searched}`),
  domain: textField(253, `The recipient's domain, in any case and either script. ${searched}`),
  from_email: textField(320, `The sender's whole address, in any case. ${searched}`),
  origin_id: idField(`The campaign, autoresponder or API key that sent it. ${searched}`),
  code: codeField,
  tag: textField(50, "A tag that POST /emails gave it, in this spelling."),
  metadata: pairField,
  request_id: textField(100, `The X-Request-Id of the call that created it. ${searched}`),
  accepted_from: timeField("Only messages accepted at this time or later."),
  accepted_before: timeField("Only messages accepted before this time."),
};

export const messageFilterFields = {
  source: choiceField(messageSources, "Only messages of this channel."),
  email: recipientField,
  status: choiceField(messageStatuses, "Only messages with this status."),
  ...scanFields,
};

export type MessageFilter = {
  readonly [Name in keyof typeof messageFilterFields]?: ReturnType<
    (typeof messageFilterFields)[Name]["read"]
  >;
};

type ScanName = keyof typeof scanFields;
const scanNames = Object.keys(scanFields) as ScanName[];

/** The filter as texts, for cursors. */
export function filterTexts(filter: MessageFilter): (string | undefined)[] {
  const { source, status, email } = filter;
  const given = scanNames.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : `${name}=${textOf(value)}`;
  });
  return [source, status, email, ...given];
}

function textOf(value: string | Date | { readonly name: string; readonly value: string }): string {
  if (typeof value === "string") return value;
  return value instanceof Date ? value.toISOString() : `${value.name}=${value.value}`;
}

/**
 * Ids of a page, newest first. With source and status alone, counters give the total and the start of a deep page; every
 * other filter searches. Counters tell in which days the messages are, so all is read from one snapshot: a message that
 * changed its status in between would be missing, and the list would seem to end.
 */
export function findMessages(
  db: Database,
  workspaceId: WorkspaceId,
  filter: MessageFilter & Pick<ScanFilter, "span">,
  page: Page,
): Promise<Scanned> {
  return inOneSnapshot(db, (tx) => findInSnapshot(tx, workspaceId, filter, page));
}

async function findInSnapshot(
  tx: Queryable,
  workspaceId: WorkspaceId,
  filter: MessageFilter & Pick<ScanFilter, "span">,
  page: Page,
): Promise<Scanned> {
  const { email, source, status } = filter;
  if (scanNames.some((name) => filter[name] !== undefined)) {
    return scanMessages(tx, workspaceId, filter, page);
  }
  if (email !== undefined) {
    const found = await searchMessages(tx, workspaceId, { source, status, email }, page);
    return { ...found, searchedTo: null };
  }
  const ids = await findMessagePage(tx, workspaceId, { source, status }, page);
  const total = await countMessages(tx, workspaceId, { source, status });
  return { ids, total, since: null, searchedTo: null };
}
