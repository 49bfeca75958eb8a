/**
 * The web view ("view in browser") of a campaign's or an autoresponder's mail: rendered from the same content, with the
 * values that the mail showed, which come from its link or from the message log (web-view-values.ts). For mail sent before
 * either kept them, the recipient's present values are used.
 */

import { imagesById, replaceContentIds } from "#mail/message/replace-content-ids.ts";
import { AsyncCache } from "#platform/cache.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { changedTargets } from "#sending/campaigns/links/store.ts";
import type { CompiledContent } from "#sending/content/compile.ts";
import { compileForWorkspace } from "#sending/content/compile-for-workspace.ts";
import { type RecipientValues, renderContent } from "#sending/content/render.ts";
import type { MailLinks } from "#tracking/link-tokens.ts";
import type { FindImage, MailImage, RenderMail } from "#tracking/tracking-deps.ts";
import type { CampaignMailDeps } from "./deps.ts";
import { findSentCampaignMail, type SentMail } from "./find-sent-mail-store.ts";
import { type CampaignToSend, findAttachments, findCampaignToSend } from "./presend-store.ts";
import { mailValues, readShown } from "./web-view-values.ts";

/** Compiling takes milliseconds, and most web views of a campaign are opened within hours of each other. */
const KEPT_MS = 10 * 60_000;
const MOST_KEPT = 16;

interface Compiled {
  readonly campaign: CampaignToSend;
  readonly content: CompiledContent;
}

/** How a sent message and its content are found. */
export interface SentMails {
  readonly findSentMail: typeof findSentCampaignMail;
  readonly findContent: typeof findCampaignToSend;
  /** The links whose target was changed since the mail was sent, by index. */
  readonly findTargets: typeof changedTargets;
}
export const ofCampaigns: SentMails = {
  findSentMail: findSentCampaignMail,
  findContent: findCampaignToSend,
  findTargets: changedTargets,
};

/** The returned function answers null when the message or its content no longer exists. */
export function createWebView(
  { db, linkBase }: Pick<CampaignMailDeps, "db" | "linkBase">,
  sentMails = ofCampaigns,
): RenderMail {
  const compiled = new AsyncCache<Compiled | null>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (answer) => answer !== null,
  });
  const compile = async (workspaceId: WorkspaceId, id: string, zone?: string): Promise<Compiled | null> => {
    const campaign = await sentMails.findContent(db, workspaceId, id);
    if (campaign === undefined) return null;
    const place = { listId: campaign.audience_list_id, timezone: zone ?? campaign.timezone };
    const compilation = await compileForWorkspace(db, workspaceId, campaign, place);
    return compilation.ok ? { campaign, content: compilation.content } : null;
  };
  return async ({ workspaceId, messageId }, carried, linksAt) => {
    const sent = await sentMails.findSentMail(db, workspaceId, messageId);
    if (sent === undefined) return null;
    const { campaign_id: id, address } = sent;
    const json = carried ?? sent.shown;
    const shown = json === null ? null : readShown(json, address);
    const zone = shown?.timezone;
    const [found, targets] = await Promise.all([
      compiled.get(`${id} ${zone ?? ""}`, () => compile(workspaceId, id, zone)),
      sentMails.findTargets(db, workspaceId, id),
    ]);
    if (found === null) return null;
    const { campaign, content } = found;
    const links = withTargets(linksAt(await linkBase(workspaceId, campaign.url_domain_id)), targets);
    const mail = renderContent(content, shown?.values ?? presentValues(sent, campaign), links);
    if (!mail.ok) return null;
    const html = mail.html && campaign.has_attachments ? withImages(mail.html, links.view) : mail.html;
    return { html, text: mail.text };
  };
}

/** The links of the page lead where the links of the mail lead now. */
function withTargets(links: MailLinks, targets: ReadonlyMap<number, string>): MailLinks {
  return {
    ...links,
    tracked: (index, target, isPersonal) => links.tracked(index, targets.get(index) ?? target, isPersonal),
  };
}

function presentValues(sent: SentMail, campaign: CampaignToSend): RecipientValues {
  const { address, email, first_name, last_name, custom_fields } = sent;
  const person = { email: email ?? address, first_name, last_name, custom_fields: custom_fields ?? {} };
  return mailValues(campaign, person);
}

/** Points `cid:` images of the HTML to URLs below the web view. */
function withImages(html: string, view: string): string {
  const quotes = /['()]/g;
  const encoded = (id: string) =>
    encodeURIComponent(id).replace(quotes, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return replaceContentIds(html, (id) => `${view}/${encoded(id)}`);
}

/** A web view requests all of its images at once. */
const IMAGES_KEPT_MS = 60_000;
/** Campaigns whose images are cached, up to 20 MB each. */
const MOST_IMAGES_KEPT = 2;

/** Finds the inline images of campaign mail by their content id. */
export function createWebViewImages(db: Database): FindImage {
  const kept = new AsyncCache<ReadonlyMap<string, MailImage>>({ ms: IMAGES_KEPT_MS, most: MOST_IMAGES_KEPT });
  return async ({ workspaceId, messageId }, contentId) => {
    const sent = await findSentCampaignMail(db, workspaceId, messageId);
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
