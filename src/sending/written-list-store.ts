/** Which list a mail was written to, for the figures of lists: they go on when what sent the mail is deleted. */
import sql, { type Sql } from "sql-template-tag";

/**
 * A lateral relation with the column mailing_list_id, for a row `m` with the column workspace_id. A campaign stays as long
 * as its mail; the list of an autoresponder may have become another since, and is what the mail's content says.
 * @param campaignId of one that lives or is deleted; any other id finds nothing, here and below
 * @param messageId of an autoresponder's mail
 */
export const writtenList = (campaignId: Sql, messageId: Sql): Sql => sql`lateral (
  select c.audience_list_id as mailing_list_id from campaigns c
  where c.workspace_id = m.workspace_id and c.id = ${campaignId}
  union all
  select c.mailing_list_id from autoresponder_mails a
  join autoresponder_contents c on c.workspace_id = a.workspace_id and c.id = a.content_id
  where a.workspace_id = m.workspace_id and a.message_id = ${messageId})`;
