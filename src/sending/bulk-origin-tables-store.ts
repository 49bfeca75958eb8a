/** Campaigns and autoresponders as origins of bulk mail: their tables have the same columns, under different names. */
import sql, { raw, type Sql } from "sql-template-tag";

export type BulkOrigin = "campaign" | "autoresponder";

/** A table of counters, with the column by which its rows are found. */
export interface CounterTable {
  readonly counters: Sql;
  /** The column of the campaign, autoresponder or step. */
  readonly originId: Sql;
}

export interface OriginTables extends CounterTable {
  /** One row for each message; it has the column `originId`, too. */
  readonly recipients: Sql;
}

export const tablesOf: Readonly<Record<BulkOrigin, OriginTables>> = {
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

/** The counters of the steps of autoresponders. They are locked after those of the autoresponders. */
export const stepCounters: CounterTable = {
  counters: raw("autoresponder_step_counters"),
  originId: raw("step_id"),
};

/**
 * The mailing list that a message was sent to, for the counters of lists. A lateral relation with the column
 * mailing_list_id, for a row `m` with the column workspace_id. A campaign row exists as long as its mail does. An
 * autoresponder may have been moved to another list since, so its list is read from the content of the mail.
 * @param campaignId an id of any other kind finds no row
 * @param messageId of an autoresponder's message; any other id finds no row
 */
export const listOfMailSql = (campaignId: Sql, messageId: Sql): Sql => sql`lateral (
  select c.audience_list_id as mailing_list_id from campaigns c
  where c.workspace_id = m.workspace_id and c.id = ${campaignId}
  union all
  select c.mailing_list_id from autoresponder_mails a
  join autoresponder_contents c on c.workspace_id = a.workspace_id and c.id = a.content_id
  where a.workspace_id = m.workspace_id and a.message_id = ${messageId})`;
