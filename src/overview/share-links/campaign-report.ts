/** The report of a campaign as a share link shows it: figures and links, nothing about single recipients. */
import type { Database } from "#platform/database/pool.ts";
import { type Html, html } from "#platform/http/response/html-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { listLinks } from "#sending/campaigns/analytics/store.ts";
import type { Campaign } from "#sending/campaigns/campaign.ts";
import type { LinkRow } from "#sending/campaigns/links/store.ts";
import { findCampaign } from "#sending/campaigns/store.ts";
import type { SharedReport } from "./report-layout.ts";
import { findTracking } from "./store.ts";

/** Links with the most clicks. */
const MOST_LINKS = 50;

export class CampaignReports {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Undefined when the campaign was deleted. */
  async find(workspaceId: WorkspaceId, id: string): Promise<SharedReport | undefined> {
    const [campaign, links, tracking] = await Promise.all([
      findCampaign(this.#db, workspaceId, id, "content"),
      listLinks(this.#db, workspaceId, id),
      findTracking(this.#db, workspaceId, id),
    ]);
    if (campaign === undefined || tracking === undefined) return undefined;
    return { title: campaign.name, body: bodyOf(campaign, links, tracking) };
  }
}

const whole = new Intl.NumberFormat("en");
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

function bodyOf(
  campaign: Campaign,
  links: readonly LinkRow[],
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
  return html`<p class="soft">${message_type === "sms" ? "SMS" : html`“${subject}”`}${sent}</p>
<dl class="figures">${figures.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<p class="soft">Opens and clicks are counted once for each recipient, and without those of programs.${untracked(tracking)}</p>
${linksOf(links)}`;
}

function untracked({ opens, clicks }: { readonly opens: boolean; readonly clicks: boolean }): string {
  if (opens && clicks) return "";
  if (opens) return " Clicks were not tracked.";
  return clicks ? " Opens were not tracked: only clicks show that a mail was read." : " Neither was tracked.";
}

function linksOf(links: readonly LinkRow[]): Html {
  if (links.length === 0) return html``;
  const sorted = links.toSorted((a, b) => b.click_count - a.click_count || a.index - b.index);
  const more = sorted.length - MOST_LINKS;
  return html`<h2 id="links">Links</h2>
<table aria-labelledby="links">
<thead><tr><th scope="col">Address</th><th scope="col" class="number">People</th><th scope="col" class="number">Clicks</th></tr></thead>
<tbody>${sorted.slice(0, MOST_LINKS).map(linkRow)}</tbody>
</table>
${more > 0 ? html`<p class="soft">And ${whole.format(more)} more.</p>` : ""}`;
}

const linkRow = ({ url, target_url, click_count, unique_click_count }: LinkRow): Html => html`
<tr><td>${target_url ?? url}</td><td class="number">${whole.format(unique_click_count)}</td><td class="number">${whole.format(click_count)}</td></tr>`;

function timeText(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone }).format(time);
}
