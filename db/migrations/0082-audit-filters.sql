-- Each filter of the audit log has an index in the order of the log, so that its first page reads few rows.
drop index audit_events_by_resource;
create index audit_events_by_kind on audit_events (workspace_id, resource_kind, id);
create index audit_events_of_resource on audit_events (workspace_id, resource_id, id);
create index audit_events_by_result on audit_events (workspace_id, result, id);

-- Sessions that were not used for long are deleted every hour.
create index sessions_by_use on sessions (seen_at);

alter table invitations add column invited_by_key uuid; -- an API key; null: a user, or unknown
