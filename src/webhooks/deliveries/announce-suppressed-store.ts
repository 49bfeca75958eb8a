import sql, { type Sql } from "sql-template-tag";
import type { WebhookEvent } from "#webhooks/event-catalogue.ts";
import { jsonObjectSql, messageFieldsSql } from "#webhooks/message-fields-store.ts";
import { requestTurnsSql } from "./turns-store.ts";

const data: Readonly<Record<keyof WebhookEvent<"message.suppressed">["data"], Sql>> = {
  ...messageFieldsSql,
  attempts: sql`0`,
  detail: sql`m.error_message`,
  smtp_code: sql`null`,
  enhanced_code: sql`null`,
};

/**
 * Writes message.suppressed events: parts of the `with` of the acceptance statement (sending/acceptance/acceptor.ts),
 * for messages that are suppressed when they are accepted. Webhooks are looked up only if there is one. The event has the
 * id of its message, which is suppressed once.
 * @param log the relation of the rows that the statement has written
 */
export function announceSuppressedSql(log: Sql): Sql {
  return sql`announced as (
      insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
      select m.workspace_id, w.id, m.id, 'message.suppressed', json_build_object(
          'type', 'message.suppressed', 'timestamp', to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'data', ${jsonObjectSql(data)}),
        m.created_at, m.created_at
      from ${log} m
      join webhooks w on w.workspace_id = m.workspace_id and w.is_active and w.events && array['message.suppressed', '*']
      where m.status = 'suppressed' and m.source <> 'platform'
      returning workspace_id, next_attempt_at
    ), requested as (${requestTurnsSql(sql`announced`)})`;
}
