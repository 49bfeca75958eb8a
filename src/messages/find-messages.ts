/** What readers of the message log may ask for, and how it is found. */
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { textField } from "#platform/http/request/query.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { nullable, Timestamp } from "#platform/shapes.ts";
import type { LogFilter } from "./log-filter-store.ts";
import { type Found, MOST_SEARCHED, searchMessages } from "./log-search-store.ts";
import { countMessages, findMessagePage } from "./log-store.ts";

export const recipientField = textField(
  320,
  `Only recipients whose address contains this, in any case, among the newest ${MOST_SEARCHED.toLocaleString("en-US")} messages that the other filters leave; and all that went to the one whose whole address it is.`,
);

export const SearchedSince = nullable({
  ...Timestamp,
  description: "Older messages were not searched for parts of addresses; null when all were.",
});

/** A page, newest first. */
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
