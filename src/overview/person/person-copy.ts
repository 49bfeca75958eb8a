/** A copy of everything that is stored about one person, as JSON in pieces: it is never in memory as a whole. */
import { listSignupRequestsOf } from "#audience/signup-forms/store.ts";
import type { SubscriberRow } from "#audience/subscribers/store.ts";
import { describeSubscriber, type HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import { listSuppressionsOf } from "#audience/suppression-lists/entry-store.ts";
import { listValidationsOf } from "#hygiene/validations/store.ts";
import { listReceivedFrom } from "#inbound/received/store.ts";
import { shownDetails } from "#messages/sent-email.ts";
import { listMessages, type MessageRow } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { listMessageIdsOf, listPersonActivities, MOST_MESSAGES_READ } from "./activities-store.ts";
import { shownActivity } from "./activity.ts";
import {
  mayReadPart,
  type PersonPart,
  partPermissions,
  permissionForKind,
  readableKinds,
} from "./readable-parts.ts";

/** Messages that are read at a time. */
const MESSAGES = 500;
/** Activities that are read at a time: each page reads all messages, so that few pages are faster. */
const ACTIVITIES = 5_000;

interface Dependencies {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly historyOf: HistoryOf;
}

/** Parts that the caller may not read are missing, and named. Messages and activities are those of the newest messages. */
export async function* personLines(
  { db, clock, historyOf }: Dependencies,
  { workspaceId, permissions }: Pick<Caller, "workspaceId" | "permissions">,
  person: SubscriberRow,
): AsyncGenerator<string> {
  const { id, email } = person;
  const subscriber = await describeSubscriber(db, workspaceId, id, historyOf);
  yield `{"exported_at":${JSON.stringify(clock.now())},\n"subscriber":${JSON.stringify(subscriber)}`;
  for (const [part, list] of Object.entries(smallParts)) {
    if (!mayReadPart(part as PersonPart, permissions)) continue;
    yield `,\n"${part}":${JSON.stringify(await list(db, workspaceId, email))}`;
  }
  const mayReadMessages = mayReadPart("messages", permissions);
  const found = mayReadMessages
    ? await listMessageIdsOf(db, workspaceId, person, MOST_MESSAGES_READ + 1)
    : [];
  const ids = found.slice(0, MOST_MESSAGES_READ);
  if (mayReadMessages) yield ',\n"messages":[';
  for (let from = 0; from < ids.length; from += MESSAGES) {
    const rows = await listMessages(db, workspaceId, ids.slice(from, from + MESSAGES));
    yield `${from === 0 ? "" : ","}\n${rows.map((row) => JSON.stringify(shownMessage(row))).join(",\n")}`;
  }
  if (mayReadMessages) yield "]";
  yield ',\n"activities":[';
  const kinds = readableKinds(permissions);
  for (let after: { readonly id: string; readonly place: string } | undefined; ; ) {
    const rows = await listPersonActivities(db, workspaceId, person, kinds, { limit: ACTIVITIES, after });
    const comma = after === undefined || rows.length === 0 ? "" : ",";
    yield `${comma}\n${rows.map((row) => JSON.stringify(shownActivity(row, permissions))).join(",\n")}`;
    after = rows.at(-1);
    if (rows.length < ACTIVITIES) break;
  }
  const leftOut = leftOutFor(permissions);
  const isComplete = leftOut.length === 0 && found.length <= MOST_MESSAGES_READ;
  yield `],\n"is_complete":${isComplete},\n"left_out":${JSON.stringify(leftOut)}}\n`;
}

/** A message with what POST /emails said of it under the names of the API. */
function shownMessage({ email_details: details, ...row }: MessageRow) {
  return { ...row, ...shownDetails(details), metadata: { ...details?.metadata } };
}

const smallParts = {
  suppression_entries: listSuppressionsOf,
  signup_requests: listSignupRequestsOf,
  validations: listValidationsOf,
  received_emails: listReceivedFrom,
} as const satisfies Partial<Record<PersonPart, unknown>>;

function leftOutFor(
  permissions: readonly string[],
): { readonly part: string; readonly permission: string }[] {
  const parts = Object.entries(partPermissions).flatMap(([part, permission]) =>
    mayReadPart(part as PersonPart, permissions) ? [] : [{ part, permission }],
  );
  const permission = permissionForKind("changed");
  return permission === undefined || readableKinds(permissions).includes("changed")
    ? parts
    : [...parts, { part: "activities of the kind changed", permission }];
}
