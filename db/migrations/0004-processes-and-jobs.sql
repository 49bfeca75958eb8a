-- A running process of the installation. It renews its row every few seconds while it runs, and removes it when it stops.
-- The table is logged: after a crash of PostgreSQL, a migration and a new secret key still wait for these processes.
create table running_processes (
  id uuid not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  node_version text not null,
  -- Of its secret keys, in the order of its ring: a key encrypts nothing before all processes can decrypt it. Null: its
  -- parent process has the same keys.
  key_fingerprints bytea[],
  -- The delivery lanes that wait, the foremost of them, as the operator sees them.
  waits jsonb not null default '[]',
  -- How many lanes and sites send nothing now, all of them, by lane name.
  paused_lanes jsonb not null default '{}',
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (id)
);

-- A job that a caller has started, with its progress and result. Jobs are kept for seven days.
create table jobs (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  status text not null default 'pending',
  -- The permission that is needed to see the job: the read permission of the endpoint that started it.
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
  -- Rises when a runner starts the job. Only the run with the highest number may write, so a late run changes nothing.
  run_number integer not null default 0,
  cancel_requested boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz,
  -- When the job may run next, among those of its type in the workspace.
  due_at timestamptz not null default now(),
  -- Runs since the last progress. At the limit the job fails.
  attempts smallint not null default 0,
  -- Size of the input. Jobs with large inputs run later.
  input_bytes bigint not null default 0,
  -- This and the following columns describe the job in lists: the caller's label, the actor, the uploaded file, and the
  -- list, segment or campaign, with their names at the start.
  label text,
  actor_kind text,
  actor_id uuid,
  actor_name text,
  file_name text,
  resource_kind text,
  resource_id uuid,
  resource_name text,
  -- The file with the refused rows as they were uploaded, so that a person can correct them and upload them again.
  error_rows_file text,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled'))
);
create index jobs_by_expiry on jobs (expires_at);
create index jobs_open on jobs (workspace_id, type, due_at, id) where status in ('pending', 'processing');
-- The table is small, so these indexes cost little.
create index jobs_of_resource on jobs (workspace_id, resource_id, id) where resource_id is not null;
create index jobs_of_actor on jobs (workspace_id, actor_id, id) where actor_id is not null;
create index jobs_failed on jobs (workspace_id, permission, completed_at, id) where status = 'failed';

-- The place of one type of job of a workspace in the order of execution. A runner leases the row with the smallest
-- due_at, runs one job of it for a while, and puts the row behind the others.
create table job_turns (
  workspace_id uuid not null,
  type text not null,
  -- The row with the smallest time is leased first.
  due_at timestamptz not null,
  lease_id uuid,
  runner_id text,
  leased_at timestamptz,
  primary key (workspace_id, type),
  foreign key (workspace_id) references workspaces (id)
);
create index job_turns_waiting on job_turns (due_at) where lease_id is null;
create index job_turns_leased on job_turns (runner_id) where lease_id is not null;

-- A part of a file that a job reads or writes. Files are in the database so that any machine can continue a job and
-- serve its result.
create table job_file_parts (
  workspace_id uuid not null,
  job_id uuid not null,
  name text not null,
  -- From 0. Every part but the last has 1 MiB.
  number integer not null,
  -- Not compressed, because byte ranges of a part are read.
  octets bytea not null,
  primary key (workspace_id, job_id, name, number),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
alter table job_file_parts alter column octets set storage external;

-- A process that runs jobs. It renews its row every few seconds. The jobs of a process that stops doing so are given to
-- other processes.
create table job_runners (
  -- The name under which Graphile Worker locks jobs.
  id text not null,
  seen_at timestamptz not null default now(),
  primary key (id)
);

-- A batch of the people of a bulk action, chosen when the action starts. The transaction that changes the people marks
-- the batch as done, so an interrupted job continues with the others.
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
