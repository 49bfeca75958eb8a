-- What a job is about, for people who find it in a list: a label of theirs, who started it, the uploaded file, and the
-- list, segment or campaign, as they were called then. Null in jobs of earlier versions.
alter table jobs
  add column label text,
  add column actor_kind text,
  add column actor_id uuid,
  add column actor_name text,
  add column file_name text,
  add column resource_kind text,
  add column resource_id uuid,
  add column resource_name text,
  -- The refused rows as they were uploaded, to be corrected and uploaded again.
  add column error_rows_file text;

-- Jobs are kept for seven days, so the table is small.
create index jobs_of_resource on jobs (workspace_id, resource_id, id) where resource_id is not null;
create index jobs_of_actor on jobs (workspace_id, actor_id, id) where actor_id is not null;
