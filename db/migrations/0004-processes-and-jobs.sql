-- The running processes of the installation, and for what their lanes wait: shown to the operator. Each process writes its
-- row every few seconds, so the table is not in the WAL; after a crash of PostgreSQL it begins empty.
create unlogged table running_processes (
  id uuid not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  node_version text not null,
  waits jsonb not null default '[]',
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (id)
);

create table jobs (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  status text not null default 'pending',
  -- The permission that lets a key see this job: the read form of the endpoint that started it.
  permission text not null,
  input jsonb not null default '{}',
  total bigint,
  processed bigint not null default 0,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  skipped bigint not null default 0,
  counts jsonb not null default '{}',
  result jsonb,
  error text,
  -- Names of files in job_file_parts.
  result_file text,
  errors_file text,
  -- Rises whenever a runner takes the job up, and fences a late one: only the newest may write.
  run_number integer not null default 0,
  cancel_requested boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  -- When the job may run next, among those of its kind in the workspace.
  due_at timestamptz not null default now(),
  attempts smallint not null default 0,
  input_bytes bigint not null default 0,
  -- What a job is about, for people who find it in a list: a label of theirs, who started it, the uploaded file, and the
  -- list, segment or campaign, as they were called then. Null in jobs of earlier versions.
  label text,
  actor_kind text,
  actor_id uuid,
  actor_name text,
  file_name text,
  resource_kind text,
  resource_id uuid,
  resource_name text,
  -- The refused rows as they were uploaded, to be corrected and uploaded again.
  error_rows_file text,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled'))
);
create index jobs_by_expiry on jobs (expires_at);
create index jobs_open on jobs (workspace_id, type, due_at, id) where (status = any (array['pending'::text, 'processing'::text]));
-- Jobs are kept for seven days, so the table is small.
create index jobs_of_resource on jobs (workspace_id, resource_id, id) where (resource_id is not null);
create index jobs_of_actor on jobs (workspace_id, actor_id, id) where (actor_id is not null);
create index jobs_failed on jobs (workspace_id, permission, completed_at, id) where (status = 'failed'::text);

-- Background jobs take turns: one row for each kind of job of a workspace that has jobs to run. A runner leases the row
-- that has waited longest, runs one job of it for a while, and puts the row back behind the others.
create table job_turns (
  workspace_id uuid not null,
  type text not null,
  -- When the turn is due. The smallest one is served first.
  due_at timestamptz not null,
  lease_id uuid,
  runner_id text,
  leased_at timestamptz,
  primary key (workspace_id, type),
  foreign key (workspace_id) references workspaces (id)
);
create index job_turns_waiting on job_turns (due_at) where (lease_id is null);
create index job_turns_leased on job_turns (runner_id) where (lease_id is not null);

-- The files that jobs read and leave, so that any machine goes on with a job, and hands out what it left.
create table job_file_parts (
  workspace_id uuid not null,
  job_id uuid not null,
  name text not null,
  -- From 0; all but the last have 1 MiB.
  number integer not null,
  -- Not compressed: pieces of it are read by themselves.
  octets bytea not null,
  primary key (workspace_id, job_id, name, number),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
alter table job_file_parts alter column octets set storage external;

-- Processes that run jobs say every few seconds that they live; what the silent ones held is given to others.
create table job_runners (
  -- The name Graphile Worker locks jobs under.
  id text not null,
  seen_at timestamptz not null default now(),
  primary key (id)
);

-- The people of a bulk action, chosen when it starts, in batches. A batch is settled in the transaction that changes its
-- people, so that an interrupted job continues with the others.
create table bulk_action_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  subscriber_ids uuid[] not null,
  is_done boolean not null default false,
  changed integer not null default 0,
  unchanged integer not null default 0,
  -- People who could not be changed: an array of { id, reason }.
  refused jsonb not null default '[]',
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
