/** A campaign's part of the message log. */
import { type Found, searchMessages } from "../../../messages/log-search-store.ts";
import { findPage } from "../../../messages/log-store.ts";
import type { MessageStatus } from "../../../messages/states.ts";
import type { Page } from "../../../platform/database/page.ts";
import type { Queryable } from "../../../platform/database/pool.ts";
import type { WorkspaceId } from "../../../platform/ids.ts";
import { countShown, findIdSpan, listMessageIds } from "./store.ts";

interface Filter {
  readonly status: MessageStatus | undefined;
  readonly email: string | undefined;
}

/** A page, newest first. */
export async function findCampaignMessages(
  db: Queryable,
  workspaceId: WorkspaceId,
  campaignId: string,
  { status, email }: Filter,
  page: Page,
): Promise<Found> {
  if (status === undefined && email === undefined) {
    const [ids, total] = await Promise.all([
      listMessageIds(db, workspaceId, campaignId, page),
      countShown(db, workspaceId, campaignId),
    ]);
    return { ids, total, since: null };
  }
  const span = await findIdSpan(db, workspaceId, campaignId);
  if (span === undefined) return { ids: [], total: 0, since: null };
  const filter = { source: "campaign", status, origin: { id: campaignId, ...span } } as const;
  if (email !== undefined) return searchMessages(db, workspaceId, { ...filter, email }, page);
  const [ids, total] = await Promise.all([
    findPage(db, workspaceId, filter, page),
    countShown(db, workspaceId, campaignId, status),
  ]);
  return { ids, total, since: null };
}
