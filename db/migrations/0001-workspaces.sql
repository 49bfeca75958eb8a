-- Workspaces, their API keys, and what the platform keeps for its callers: idempotency and background jobs.

create table workspaces (
  id uuid primary key,
  name text not null,
  timezone text not null default 'UTC',
  plan text not null default 'free',
  -- Most messages an hour; null: no cap.
  hourly_cap integer check (hourly_cap > 0),
  is_suspended boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table api_keys (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  permissions text[] not null,
  -- SHA-256 of the secret; the secret itself is never stored.
  key_hash bytea not null,
  -- The first characters, to tell keys apart.
  key_prefix text not null,
  is_active boolean not null default true,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id)
);

-- Not unique: 238 random bits do not repeat, and a distributed table allows no unique index without its key.
create index api_keys_by_hash on api_keys (key_hash);

create table idempotency_keys (
  workspace_id uuid not null references workspaces (id),
  path text not null,
  key text not null,
  -- Of the request that holds the key: fences one that was overtaken.
  token uuid not null,
  request_hash bytea not null,
  -- Null while the first request is still running.
  answer_status smallint,
  answer_body text,
  -- A request that died leaves its reservation behind; it may be taken over after this moment.
  reserved_until timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, path, key)
);

create index idempotency_keys_by_age on idempotency_keys (created_at);

create table jobs (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  type text not null,
  status text not null default 'pending'
    check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled')),
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
  primary key (workspace_id, id)
);

create index jobs_by_expiry on jobs (expires_at);

-- The files that jobs read and leave, so that any machine goes on with a job, and hands out what it left.
create table job_file_parts (
  workspace_id uuid not null,
  job_id uuid not null,
  name text not null,
  -- From 0; all but the last have 1 MiB.
  number integer not null,
  -- Not compressed: pieces of it are read by themselves.
  octets bytea storage external not null,
  primary key (workspace_id, job_id, name, number),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);

-- Processes that run jobs say every few seconds that they live; what the silent ones held is given to others.
create table job_runners (
  -- The name Graphile Worker locks jobs under.
  id text primary key,
  seen_at timestamptz not null default now()
);
