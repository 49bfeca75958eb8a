/**
 * A campaign's or an autoresponder's mail once more, for the browser: of the same content and of the values that the mail
 * showed, which its address carries or the message log keeps (shown-values.ts). Mail that was sent before either did so is
 * made of the person's present values.
 */

import { replaceContentIds } from "#mail/message/content-ids.ts";
import { Answers } from "#platform/cache.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { compileFor } from "#sending/content/campaign-content.ts";
import type { CompiledContent } from "#sending/content/compile.ts";
import { type RecipientValues, renderContent } from "#sending/content/render.ts";
import type { RenderMail } from "#tracking/tracking-deps.ts";
import type { CampaignMailDeps } from "./deps.ts";
import { type CampaignToSend, findCampaignToSend } from "./leased-store.ts";
import { findSentMail, type SentMail } from "./mail-again-store.ts";
import { mailValues, readShown } from "./shown-values.ts";

/** Compiling takes milliseconds, and a campaign's mails are looked at in the same hours. */
const KEPT_MS = 10 * 60_000;
const MOST_KEPT = 16;

interface Compiled {
  readonly campaign: CampaignToSend;
  readonly content: CompiledContent;
}

/** Where a mail and its content are found: those of campaigns, unless others are given. */
export interface SentMails {
  readonly findSentMail: typeof findSentMail;
  readonly findContent: typeof findCampaignToSend;
}
const ofCampaigns: SentMails = { findSentMail, findContent: findCampaignToSend };

/** The answer is null when the mail or its campaign is not there any more. */
export function createMailAgain(
  { db, linkBase }: Pick<CampaignMailDeps, "db" | "linkBase">,
  sentMails = ofCampaigns,
): RenderMail {
  const compiled = new Answers<Compiled | null>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (answer) => answer !== null,
  });
  const compile = async (workspaceId: WorkspaceId, id: string, zone?: string): Promise<Compiled | null> => {
    const campaign = await sentMails.findContent(db, workspaceId, id);
    if (campaign === undefined) return null;
    const place = { listId: campaign.audience_list_id, timezone: zone ?? campaign.timezone };
    const compilation = await compileFor(db, workspaceId, campaign, place);
    return compilation.ok ? { campaign, content: compilation.content } : null;
  };
  return async ({ workspaceId, messageId }, carried, linksAt) => {
    const sent = await sentMails.findSentMail(db, workspaceId, messageId);
    if (sent === undefined) return null;
    const { campaign_id: id, address } = sent;
    const json = carried ?? sent.shown;
    const shown = json === null ? null : readShown(json, address);
    const zone = shown?.timezone;
    const found = await compiled.get(`${id} ${zone ?? ""}`, () => compile(workspaceId, id, zone));
    if (found === null) return null;
    const { campaign, content } = found;
    const links = linksAt(await linkBase(workspaceId, campaign.url_domain_id));
    const mail = renderContent(content, shown?.values ?? presentValues(sent, campaign), links);
    if (!mail.ok) return null;
    const html = mail.html && campaign.has_attachments ? withImages(mail.html, links.view) : mail.html;
    return { html, text: mail.text };
  };
}

function presentValues(sent: SentMail, campaign: CampaignToSend): RecipientValues {
  const { address, email, first_name, last_name, custom_fields } = sent;
  const person = { email: email ?? address, first_name, last_name, custom_fields: custom_fields ?? {} };
  return mailValues(campaign, person);
}

/** Pictures that the mail brought with it lie beside its page. */
function withImages(html: string, view: string): string {
  const quotes = /['()]/g;
  const encoded = (id: string) =>
    encodeURIComponent(id).replace(quotes, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return replaceContentIds(html, (id) => `${view}/${encoded(id)}`);
}
