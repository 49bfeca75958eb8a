/** Reads a page of the message log by any filter. */
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { textField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable, Timestamp } from "#platform/shapes.ts";
import type { LogFilter } from "./log-filter-store.ts";
import { countMessages, findMessagePage } from "./log-pages-store.ts";
import { type Found, MOST_SEARCHED, searchMessages } from "./log-search-store.ts";

export const recipientField = textField(
  320,
  `A recipient's address, or a part of it, in any case. A whole address finds all of its messages; a part is searched in the newest ${MOST_SEARCHED.toLocaleString("en-US")} messages that match the other filters.`,
);

export const SearchedSince = nullable({
  ...Timestamp,
  description: "Messages older than this were not searched; null when all were.",
});

/** Ids of a page, newest first. Without a recipient, counters give the total and the start of a deep page. */
export async function findMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  filter: LogFilter & { readonly email: string | undefined },
  page: Page,
): Promise<Found> {
  const { email, source, status } = filter;
  if (email !== undefined) return searchMessages(db, workspaceId, { source, status, email }, page);
  const [ids, total] = await Promise.all([
    findMessagePage(db, workspaceId, { source, status }, page),
    countMessages(db, workspaceId, { source, status }),
  ]);
  return { ids, total, since: null };
}
