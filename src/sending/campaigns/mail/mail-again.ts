/**
 * A campaign's or an autoresponder's mail once more, for the browser and for links whose target is a matter of the recipient: of the same
 * content and the person's values as they are now.
 */
import { replaceContentIds } from "../../../mail/message/content-ids.ts";
import type { WorkspaceId } from "../../../platform/ids.ts";
import { Answers } from "../../../platform/remember.ts";
import type { MailLinks } from "../../../tracking/tokens.ts";
import { compileFor } from "../content/campaign-content.ts";
import type { CompiledContent } from "../content/compile.ts";
import { renderContent } from "../content/render.ts";
import type { CampaignMailDeps } from "./leased-mail.ts";
import { type CampaignToSend, findCampaignToSend } from "./leased-store.ts";
import { findSentMail } from "./mail-again-store.ts";

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
) {
  const compiled = new Answers<Compiled | null>({
    ms: KEPT_MS,
    most: MOST_KEPT,
    isKept: (answer) => answer !== null,
  });
  const compile = async (workspaceId: WorkspaceId, id: string): Promise<Compiled | null> => {
    const campaign = await sentMails.findContent(db, workspaceId, id);
    if (campaign === undefined) return null;
    const { audience_list_id: listId, timezone } = campaign;
    const compilation = await compileFor(db, workspaceId, campaign, { listId, timezone });
    return compilation.ok ? { campaign, content: compilation.content } : null;
  };
  return async (
    { workspaceId, messageId }: { readonly workspaceId: WorkspaceId; readonly messageId: string },
    linksAt: (base: string) => MailLinks,
  ): Promise<{ readonly html: string | null; readonly text: string | null } | null> => {
    const sent = await sentMails.findSentMail(db, workspaceId, messageId);
    if (sent === undefined) return null;
    const { campaign_id: id, custom_fields, ...person } = sent;
    const found = await compiled.get(id, () => compile(workspaceId, id));
    if (found === null) return null;
    const { campaign, content } = found;
    const links = linksAt(await linkBase(workspaceId, campaign.url_domain_id));
    const list = { list_name: campaign.mailing_list_name, campaign_name: campaign.name };
    const mail = renderContent(content, { ...person, ...list, custom_fields: custom_fields ?? {} }, links);
    if (!mail.ok) return null;
    const html = mail.html && campaign.has_attachments ? withImages(mail.html, links.view) : mail.html;
    return { html, text: mail.text };
  };
}

/** Pictures that the mail brought with it lie beside its page. */
function withImages(html: string, view: string): string {
  const quotes = /['()]/g;
  const encoded = (id: string) =>
    encodeURIComponent(id).replace(quotes, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return replaceContentIds(html, (id) => `${view}/${encoded(id)}`);
}
