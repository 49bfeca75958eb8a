/** What sends mail in bulk: campaigns and autoresponders. Their tables have the same columns, under names of their own. */
import { raw, type Sql } from "sql-template-tag";

export type Origin = "campaign" | "autoresponder";

export interface OriginTables {
  readonly origins: Sql;
  /** Its column with the list that is written to. */
  readonly listId: Sql;
  /** One row for each mail. */
  readonly recipients: Sql;
  readonly counters: Sql;
  /** The column of recipients and counters that names the origin. */
  readonly originId: Sql;
}

export const tablesOf: Readonly<Record<Origin, OriginTables>> = {
  campaign: {
    origins: raw("campaigns"),
    listId: raw("audience_list_id"),
    recipients: raw("campaign_recipients"),
    counters: raw("campaign_counters"),
    originId: raw("campaign_id"),
  },
  autoresponder: {
    origins: raw("autoresponders"),
    listId: raw("mailing_list_id"),
    recipients: raw("autoresponder_mails"),
    counters: raw("autoresponder_counters"),
    originId: raw("autoresponder_id"),
  },
};
