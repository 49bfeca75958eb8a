/** What sends mail in bulk: campaigns and autoresponders. Their tables have the same columns, under names of their own. */
import { raw, type Sql } from "sql-template-tag";

export type Origin = "campaign" | "autoresponder";

export interface OriginTables {
  /** One row for each mail. */
  readonly recipients: Sql;
  readonly counters: Sql;
  /** The column of recipients and counters that names the origin. */
  readonly originId: Sql;
}

export const tablesOf: Readonly<Record<Origin, OriginTables>> = {
  campaign: {
    recipients: raw("campaign_recipients"),
    counters: raw("campaign_counters"),
    originId: raw("campaign_id"),
  },
  autoresponder: {
    recipients: raw("autoresponder_mails"),
    counters: raw("autoresponder_counters"),
    originId: raw("autoresponder_id"),
  },
};
