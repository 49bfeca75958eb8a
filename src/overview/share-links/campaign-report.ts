/** The report of a campaign as a share link shows it: figures and links, nothing about single recipients. */
import { textWithoutValues } from "#mail/merge-tags/text-without-values.ts";
import type { Database } from "#platform/database/pool.ts";
import { type Html, html } from "#platform/http/response/html-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { shortenedText } from "#platform/shorten.ts";
import { type CountedLink, listMostClicked } from "#sending/campaigns/analytics/store.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import type { SharedReport } from "./report-layout.ts";
import { findTracking } from "./store.ts";

/** Links with the most clicks. */
const MOST_LINKS = 50;
/** Characters of an address that are shown. */
const MOST_CHARACTERS = 300;

/** Undefined when the campaign was deleted. */
export async function readCampaignReport(
  db: Database,
  workspaceId: WorkspaceId,
  id: string,
): Promise<SharedReport | undefined> {
  const [campaign, links, tracking] = await Promise.all([
    findCampaign(db, workspaceId, id, "content"),
    listMostClicked(db, workspaceId, id, MOST_LINKS),
    findTracking(db, workspaceId, id),
  ]);
  if (campaign === undefined || tracking === undefined) return undefined;
  return { title: campaign.name, body: bodyOf(campaign, links, tracking) };
}

const whole = new Intl.NumberFormat("en");
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

function bodyOf(
  campaign: Campaign,
  links: readonly CountedLink[],
  tracking: { readonly opens: boolean; readonly clicks: boolean },
): Html {
  const { subject, message_type, sent_at, timezone } = campaign;
  const engaged = (count: number, rate: number) => `${whole.format(count)} (${percent.format(rate)})`;
  const figures: (readonly [string, string])[] = [
    ["Recipients", whole.format(campaign.total_recipients)],
    ["Delivered", whole.format(campaign.delivered_count)],
    ...(tracking.opens || tracking.clicks
      ? [["Opened", engaged(campaign.unique_open_count, campaign.open_rate)] as const]
      : []),
    ...(tracking.clicks
      ? [["Clicked", engaged(campaign.unique_click_count, campaign.click_rate)] as const]
      : []),
    ["Unsubscribed", engaged(campaign.unsubscribe_count, campaign.unsubscribe_rate)],
    ["Bounced", engaged(campaign.bounce_count, campaign.bounce_rate)],
    ["Marked as spam", engaged(campaign.complaint_count, campaign.complaint_rate)],
  ];
  const sent = sent_at === null ? "" : html`, sent on ${timeText(sent_at, timezone)}`;
  return html`<p class="soft">${message_type === "sms" ? "SMS" : html`“${textWithoutValues(subject)}”`}${sent}</p>
<dl class="figures">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="soft">Opens and clicks are counted once for each recipient, and without those of programs.${untracked(tracking)}</p>
${linksOf(links)}`;
}

function untracked({ opens, clicks }: { readonly opens: boolean; readonly clicks: boolean }): string {
  if (opens && clicks) return "";
  if (opens) return " Clicks were not tracked.";
  return clicks ? " Opens were not tracked: only clicks show that a mail was read." : " Neither was tracked.";
}

function linksOf(links: readonly CountedLink[]): Html {
  const [first] = links;
  if (first === undefined) return html``;
  const more = first.link_count - links.length;
  return html`<h2 id="links">Links</h2>
<table aria-labelledby="links">
<thead><tr><th scope="col">Address</th><th scope="col" class="number">People</th><th scope="col" class="number">Clicks</th></tr></thead>
<tbody>${links.map(linkRow)}</tbody>
</table>
${more > 0 ? html`<p class="soft">And ${whole.format(more)} more.</p>` : ""}`;
}

const linkRow = (link: CountedLink): Html => html`
<tr><td>${addressOf(link)}</td><td class="number">${whole.format(link.unique_click_count)}</td><td class="number">${whole.format(link.click_count)}</td></tr>`;

function addressOf({ url, target_url, is_personal }: CountedLink): string {
  const address = target_url ?? (is_personal ? textWithoutValues(url) : url);
  return shortenedText(address, MOST_CHARACTERS);
}

function timeText(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone }).format(time);
}
