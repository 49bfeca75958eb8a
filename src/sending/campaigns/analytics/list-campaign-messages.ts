/** The messages of a campaign in the message log, in pages. */

import { findMessagePage } from "#messages/log-pages-store.ts";
import { type Found, searchMessages } from "#messages/log-search-store.ts";
import type { MessageStatus } from "#messages/message/status.ts";
import type { Page } from "#platform/database/page.ts";
import type { Queryable } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { countShown, findIdSpan, listMessageIds } from "./store.ts";

interface Filter {
  readonly status: MessageStatus | undefined;
  readonly email: string | undefined;
}

/** The message ids of a page, each with its sort key: the subscriber id, or with a filter the message id. */
interface FoundInOrder extends Omit<Found, "ids"> {
  readonly rows: readonly { readonly id: string; readonly place: string }[];
}

/** A page, newest first. */
export async function findCampaignMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  { status, email }: Filter,
  page: Page,
): Promise<FoundInOrder> {
  if (status === undefined && email === undefined) {
    const [recipients, total] = await Promise.all([
      listMessageIds(db, workspaceId, campaignId, page),
      countShown(db, workspaceId, campaignId),
    ]);
    const rows = recipients.map(({ id, subscriber_id: place }) => ({ id, place }));
    return { rows, total, since: null };
  }
  const span = await findIdSpan(db, workspaceId, campaignId);
  if (span === undefined) return { rows: [], total: 0, since: null };
  const filter = { source: "campaign", status, origin: { id: campaignId, ...span } } as const;
  if (email !== undefined) {
    const { ids, ...found } = await searchMessages(db, workspaceId, { ...filter, email }, page);
    return { ...found, rows: sortedByMessageId(ids) };
  }
  const [ids, total] = await Promise.all([
    findMessagePage(db, workspaceId, filter, page),
    countShown(db, workspaceId, campaignId, status),
  ]);
  return { rows: sortedByMessageId(ids), total, since: null };
}

function sortedByMessageId(ids: readonly string[]): FoundInOrder["rows"] {
  return ids.map((id) => ({ id, place: id }));
}
