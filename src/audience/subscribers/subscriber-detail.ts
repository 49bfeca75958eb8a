/** Everything about one person: the answer of GET /subscribers/{id}. */
import type { Queryable } from "#platform/database/pool.ts";
import { required } from "#platform/errors.ts";
import { fraction } from "#platform/fraction.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import {
  findMailStats,
  findSubscriber,
  listMemberships,
  type MailStats,
  type SubscriberRow,
} from "./store.ts";
import type { History, SubscriberDetail } from "./subscriber-shapes.ts";

/** Activity, bounces and suppressions of a person. Injected, because later wings know them. */
export type HistoryOf = (
  db: Queryable,
  workspaceId: WorkspaceId,
  person: Pick<SubscriberRow, "id" | "email">,
) => Promise<History>;

/** @throws ApiError NOT_FOUND */
export async function describeSubscriber(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: string,
  historyOf: HistoryOf,
): Promise<SubscriberDetail> {
  const person = required(await findSubscriber(db, workspaceId, id), "Subscriber");
  const [lists, mail, history] = await Promise.all([
    listMemberships(db, workspaceId, id),
    findMailStats(db, workspaceId, id),
    historyOf(db, workspaceId, person),
  ]);
  const { email, first_name, last_name, source, status, custom_fields, engagement_score } = person;
  return {
    id,
    email,
    first_name,
    last_name,
    source,
    status,
    custom_fields,
    created_at: person.created_at,
    updated_at: person.updated_at,
    lists,
    // The person may have been deleted since.
    stats: lifetimeOf(person, required(mail, "Subscriber"), lists),
    engagement_score,
    ...history,
  };
}

function lifetimeOf(
  person: SubscriberRow,
  mail: MailStats,
  lists: SubscriberDetail["lists"],
): SubscriberDetail["stats"] {
  return {
    sent: mail.sent_count,
    delivered: mail.delivered_count,
    bounced: mail.bounce_count,
    complained: mail.complaint_count,
    unsubscribed: lists.filter(({ status }) => status === "unsubscribed").length,
    opens: person.open_count,
    unique_opens: person.unique_open_count,
    clicks: person.click_count,
    unique_clicks: person.unique_click_count,
    open_rate: fraction(person.unique_open_count, mail.delivered_count),
    click_rate: fraction(person.unique_click_count, mail.delivered_count),
    first_sent_at: mail.first_sent_at,
    last_sent_at: mail.last_sent_at,
    last_opened_at: person.last_opened_at,
    last_clicked_at: person.last_clicked_at,
  };
}
