/** Messages that are suppressed when they are accepted: announced by the statement that accepts them. */
import sql, { type Sql } from "sql-template-tag";

/**
 * A part for the `with` of that statement (sending/acceptance/acceptor.ts): `log` is the relation of the rows it wrote. Nobody looks at
 * receivers unless one of them is suppressed. The event has the id of the message, which is suppressed once.
 */
export function announceSuppressedSql(log: Sql): Sql {
  return sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select m.workspace_id, w.id, m.id, 'message.suppressed', json_build_object(
        'type', 'message.suppressed', 'timestamp', to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'data', json_build_object('message_id', m.id, 'to', m.localpart || '@' || m.domain, 'from_email', m.from_email,
          'source', m.source, 'origin_id', m.origin_id, 'origin_name', m.origin_name, 'attempts', 0,
          'detail', m.error_message, 'smtp_code', null, 'enhanced_code', null)),
      m.created_at, m.created_at
    from ${log} m
    join webhooks w on w.workspace_id = m.workspace_id and w.is_active and w.events && array['message.suppressed', '*']
    where m.status = 'suppressed' and m.source <> 'platform'`;
}
