/** A copy of everything that is stored about one person, as JSON in pieces: it is never in memory as a whole. */
import { listSignupRequestsOf } from "#audience/signup-forms/store.ts";
import type { SubscriberRow } from "#audience/subscribers/store.ts";
import { describeSubscriber, type HistoryOf } from "#audience/subscribers/subscriber-detail.ts";
import { listSuppressionsOf } from "#audience/suppression-lists/entry-store.ts";
import { listValidationsOf } from "#hygiene/validations/store.ts";
import { listMessages } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listMessageIdsOf, listPersonActivities, MOST_MESSAGES_READ } from "./activities-store.ts";
import { shownActivity } from "./activity.ts";

/** Messages that are read at a time. */
const MESSAGES = 500;
/** Activities that are read at a time: each page reads all messages, so that few pages are faster. */
const ACTIVITIES = 5_000;

interface Dependencies {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly historyOf: HistoryOf;
}

export async function* personLines(
  { db, clock, historyOf }: Dependencies,
  workspaceId: WorkspaceId,
  person: SubscriberRow,
): AsyncGenerator<string> {
  const { id, email } = person;
  const subscriber = await describeSubscriber(db, workspaceId, id, historyOf);
  yield `{"exported_at":${JSON.stringify(clock.now())},\n"subscriber":${JSON.stringify(subscriber)}`;
  yield `,\n"suppression_entries":${JSON.stringify(await listSuppressionsOf(db, workspaceId, email))}`;
  yield `,\n"signup_requests":${JSON.stringify(await listSignupRequestsOf(db, workspaceId, email))}`;
  yield `,\n"validations":${JSON.stringify(await listValidationsOf(db, workspaceId, email))}`;
  yield ',\n"messages":[';
  const ids = await listMessageIdsOf(db, workspaceId, person, MOST_MESSAGES_READ);
  for (let from = 0; from < ids.length; from += MESSAGES) {
    const rows = await listMessages(db, workspaceId, ids.slice(from, from + MESSAGES));
    yield `${from === 0 ? "" : ","}\n${rows.map((row) => JSON.stringify(row)).join(",\n")}`;
  }
  yield '],\n"activities":[';
  for (let after: { readonly id: string; readonly place: string } | undefined; ; ) {
    const rows = await listPersonActivities(db, workspaceId, person, [], { limit: ACTIVITIES, after });
    const comma = after === undefined || rows.length === 0 ? "" : ",";
    yield `${comma}\n${rows.map((row) => JSON.stringify(shownActivity(row))).join(",\n")}`;
    after = rows.at(-1);
    if (rows.length < ACTIVITIES) break;
  }
  yield "]}\n";
}
