-- The filters that 0091 left out: a type that is rare would be looked for in all bounces or complaints of the workspace.
create index bounces_by_type on bounces (workspace_id, bounce_type, created_at, id);
create index complaints_by_type on complaints (workspace_id, feedback_type, created_at, id);
