/** The pictures inside a campaign's mails, for the browser: attachments that its HTML refers to by their content id. */
import { imagesById } from "#mail/message/content-ids.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { FindImage, MailImage } from "#tracking/tracking-deps.ts";
import { findAttachments } from "./leased-store.ts";
import { findSentMail } from "./mail-again-store.ts";

/** Whoever opens the page asks for all of its pictures at once. */
const KEPT_MS = 60_000;
/** Campaigns whose pictures are in memory, 20 MB each at most. */
const MOST_KEPT = 2;

export function createMailImages(db: Database): FindImage {
  const kept = new AsyncCache<ReadonlyMap<string, MailImage>>({ ms: KEPT_MS, most: MOST_KEPT });
  return async ({ workspaceId, messageId }, contentId) => {
    const sent = await findSentMail(db, workspaceId, messageId);
    if (sent === undefined) return null;
    const { campaign_id: id } = sent;
    const images = await kept.get(id, () => readImages(db, workspaceId, id));
    return images.get(contentId) ?? null;
  };
}

async function readImages(
  db: Database,
  workspaceId: WorkspaceId,
  campaignId: string,
): Promise<Map<string, MailImage>> {
  const attachments = await findAttachments(db, workspaceId, campaignId);
  return imagesById(attachments, ({ content_type, content }) => ({
    type: content_type,
    content: Buffer.from(content, "base64"),
  }));
}
