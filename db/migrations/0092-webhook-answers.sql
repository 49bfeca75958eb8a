-- What the receiver answered last: { content_type, body, is_cut }.
alter table webhook_deliveries add column answer jsonb;

-- The deliveries of one event, in the order of the list.
create index webhook_deliveries_by_type on webhook_deliveries (workspace_id, webhook_id, type, id);
