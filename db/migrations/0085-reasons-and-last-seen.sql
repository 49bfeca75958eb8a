alter table audit_events add column reason text; -- as the caller gave it; null: none, or the operation takes none
alter table workspace_members add column last_seen_at timestamptz; -- to the hour; null: not since this column was added
