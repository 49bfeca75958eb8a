-- Of an attempt: what protected the conversation (messages/outcome.ts, TlsNote).
alter table message_events add column tls jsonb;

-- A line of the queue is what waits of one campaign, or of a workspace outside of campaigns; every lease takes of each.
drop index delivery_queue_due;
create index delivery_queue_due on delivery_queue (priority, workspace_id, campaign_id, due_at);
