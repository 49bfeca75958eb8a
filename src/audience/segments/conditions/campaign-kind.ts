/**
 * Conditions on what a person did with the mail of a campaign. Its recipients are the rows that sending and tracking
 * write, so that a segment always agrees with the campaign's figures.
 */
import sql, { empty, type Sql } from "sql-template-tag";
import { isUuid, type WorkspaceId } from "#platform/ids.ts";
import type { BindingScope } from "./binding-scope.ts";
import { type EvaluatedMember, never, type StatementContext } from "./bound-rule.ts";
import { kind } from "./operator.ts";
import type { Receipt } from "./person.ts";
import type { ValueForm } from "./read-rule-value.ts";
import { notUnlessBroken, type ReferenceOperator } from "./reference-kinds.ts";

const oneCampaign: ValueForm = { type: "campaign", is_array: false };
const MOST_INDEX = 32_767;

/** The id of the campaign that a rule's value names; undefined for other values. */
export function readCampaignId(value: unknown): string | undefined {
  const id =
    typeof value === "object" && value !== null && "campaign_id" in value ? value.campaign_id : value;
  return typeof id === "string" && isUuid(id.trim()) ? id.trim().toLowerCase() : undefined;
}

/** Whether the person of the row `s` is a recipient of a campaign; the condition is on the row `r` and the joined table. */
function isRecipientSql(workspaceId: WorkspaceId, campaignId: string, condition: Sql, joined = empty): Sql {
  return sql`exists (
    select from campaign_recipients r ${joined}
    where r.workspace_id = ${workspaceId} and r.campaign_id = ${campaignId} and r.subscriber_id = s.id and ${condition})`;
}

/** A condition on the row `r` of campaign_recipients, and the same for what one person did. */
function recipient(condition: Sql, did: (receipt: Receipt) => boolean): ReferenceOperator {
  return {
    takes: oneCampaign,
    read(value, scope) {
      const id = typeof value === "string" ? readCampaignId(value) : undefined;
      if (id === undefined) return "must be the id of a campaign";
      // A deleted campaign matches no person.
      if (!scope.hasCampaign(id)) return never;
      return {
        sql: ({ workspaceId }) => isRecipientSql(workspaceId, id, condition),
        holds: ({ person }) => {
          const receipt = person.campaigns.get(id);
          return receipt !== undefined && did(receipt);
        },
      };
    },
  };
}

const wasSent = recipient(sql`true`, () => true);

const clickedLink: ReferenceOperator = {
  takes: { type: "campaign_link", is_array: false, minimum: 0, maximum: MOST_INDEX },
  read(value, scope) {
    const id = typeof value === "object" ? readCampaignId(value) : undefined;
    const index = typeof value === "object" && value !== null && "link" in value ? value.link : undefined;
    const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0 && index <= MOST_INDEX;
    if (id === undefined || !isIndex)
      return "must be { campaign_id, link }, where link is the index of a link";
    if (!scope.hasCampaign(id)) return never;
    return {
      sql: ({ workspaceId }) =>
        isRecipientSql(
          workspaceId,
          id,
          sql`r.first_clicked_at is not null and c.index = ${index}`,
          sql`join campaign_link_clicks c
            on c.workspace_id = r.workspace_id and c.campaign_id = r.campaign_id and c.message_id = r.message_id`,
        ),
      holds: ({ person }) => person.campaigns.get(id)?.links.has(index) ?? false,
    };
  },
};

export const campaignKind = kind<EvaluatedMember, StatementContext, BindingScope>("campaign", "a campaign", {
  was_sent: wasSent,
  was_not_sent: notUnlessBroken(wasSent),
  opened: recipient(sql`r.first_opened_at is not null`, ({ hasOpened }) => hasOpened),
  did_not_open: recipient(sql`r.first_opened_at is null`, ({ hasOpened }) => !hasOpened),
  clicked: recipient(sql`r.first_clicked_at is not null`, ({ hasClicked }) => hasClicked),
  did_not_click: recipient(sql`r.first_clicked_at is null`, ({ hasClicked }) => !hasClicked),
  unsubscribed: recipient(sql`r.unsubscribed_at is not null`, ({ hasUnsubscribed }) => hasUnsubscribed),
  did_not_unsubscribe: recipient(sql`r.unsubscribed_at is null`, ({ hasUnsubscribed }) => !hasUnsubscribed),
  clicked_link: clickedLink,
});
