-- Background jobs take turns: one row for each kind of job of a workspace that has jobs to run. A runner leases the row
-- that has waited longest, runs one job of it for a while, and puts the row back behind the others.
create table job_turns (
  workspace_id uuid not null references workspaces (id),
  type text not null,
  -- When the turn is due. The smallest one is served first.
  due_at timestamptz not null,
  lease_id uuid,
  runner_id text,
  leased_at timestamptz,
  primary key (workspace_id, type)
);
create index job_turns_waiting on job_turns (due_at) where lease_id is null;
create index job_turns_leased on job_turns (runner_id) where lease_id is not null;

alter table jobs
  -- When the job may run next, among those of its kind in the workspace.
  add column due_at timestamptz not null default now(),
  -- Runs since the job was last put back in order; those that died with their process included.
  add column attempts smallint not null default 0,
  -- Of the upload. Among the jobs of a workspace small ones go first, as long as no large one has waited for long.
  add column input_bytes bigint not null default 0;
create index jobs_open on jobs (workspace_id, type, due_at, id) where status in ('pending', 'processing');

insert into job_turns (workspace_id, type, due_at)
select distinct workspace_id, type, now() from jobs where status in ('pending', 'processing');

-- Jobs had places in Graphile Worker's queue before; only recurring tasks keep theirs.
do $$
begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    delete from graphile_worker._private_jobs where key is not null and key not like 'every:%';
  end if;
end $$;
