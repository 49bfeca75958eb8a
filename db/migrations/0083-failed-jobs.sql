-- The notices about failed jobs read the newest ones of each permission, so that they read few rows whatever the caller may
-- see. Jobs are kept for seven days, so the table is small.
drop index jobs_failed;
create index jobs_failed on jobs (workspace_id, permission, completed_at, id) where status = 'failed';
