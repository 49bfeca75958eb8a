import sql, { type Sql } from "sql-template-tag";

/**
 * Writes message.suppressed events: a part of the `with` of the acceptance statement (sending/acceptance/acceptor.ts),
 * for messages that are suppressed when they are accepted. Webhooks are looked up only if there is one. The event has the
 * id of its message, which is suppressed once.
 * @param log the relation of the rows that the statement has written
 */
export function announceSuppressedSql(log: Sql): Sql {
  return sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, type, body, next_attempt_at, created_at)
    select m.workspace_id, w.id, m.id, 'message.suppressed', json_build_object(
        'type', 'message.suppressed', 'timestamp', to_char(m.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'data', json_build_object('message_id', m.id, 'to', m.localpart || '@' || m.domain, 'from_email', m.from_email,
          'source', m.source, 'origin_id', m.origin_id, 'origin_name', m.origin_name,
          -- The id of the mail (messages/message/email-id.ts).
          'email_id', case when m.email_details is not null then left(m.id::text, 34) || '00' end,
          'tags', coalesce(m.email_details -> 'tags', '[]'), 'metadata', coalesce(m.email_details -> 'metadata', '{}'),
          'attempts', 0,
          'detail', m.error_message, 'smtp_code', null, 'enhanced_code', null)),
      m.created_at, m.created_at
    from ${log} m
    join webhooks w on w.workspace_id = m.workspace_id and w.is_active and w.events && array['message.suppressed', '*']
    where m.status = 'suppressed' and m.source <> 'platform'`;
}
