-- The history. A row and what it cost are one transaction; until its answer is known it says `unknown`.
create table validations (
  workspace_id uuid not null,
  -- Version 7: the newest is the largest.
  id uuid not null,
  -- As it was given.
  email text not null,
  status text not null,
  risk_score smallint not null,
  -- Validations of the allowance: 0 for an address that no DNS had to be asked about.
  cost smallint not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('valid', 'invalid', 'catch-all', 'disposable', 'role-based', 'unknown')),
  check ((risk_score >= 0) and (risk_score <= 10))
);
-- What is too old goes once a day; rows come in the order of their time.
create index validations_by_age on validations using brin (created_at);

-- Answers by day (UTC) and status, so that nobody counts the history.
create table validation_days (
  workspace_id uuid not null,
  day date not null,
  status text not null,
  count bigint not null,
  primary key (workspace_id, day, status),
  foreign key (workspace_id) references workspaces (id)
) with (fillfactor = 50);

-- The parts of a bulk validation that are done: what a job that was killed does not do, and take, again.
create table validation_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  -- Places in the file of the addresses that were answered, and the rows of the result file, in the same order.
  places integer[] not null default '{}'::integer[],
  rows text[] not null default '{}',
  counts jsonb not null default '{}',
  -- Places of the addresses whose server asked to come again later.
  greylisted integer[] not null default '{}'::integer[],
  -- Places of the addresses that are looked at again: nobody could be asked, or the hour's cap was reached.
  put_back integer[] not null default '{}'::integer[],
  -- Why not all of it was answered: nothing covers more.
  stopped_by text,
  done_at timestamptz not null,
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);

create table blacklist_monitors (
  workspace_id uuid not null,
  id uuid not null,
  -- An IP address in canonical form, or a domain in lower-case A-labels.
  target text not null,
  target_type text not null,
  frequency_minutes integer not null,
  notify boolean not null,
  status text not null,
  -- The last run in which any zone answered.
  last_checked_at timestamptz,
  -- Null while paused.
  next_run_at timestamptz,
  -- A zone that did not answer keeps the state it had.
  last_listed_zones text[] not null default '{}',
  last_error text,
  -- Who runs it holds the highest number, until this moment.
  lease_number bigint not null default 0,
  leased_until timestamptz,
  created_at timestamptz not null,
  -- null: listed by no zone
  listed_since timestamptz,
  primary key (workspace_id, id),
  unique (workspace_id, target),
  foreign key (workspace_id) references workspaces (id),
  check (target_type in ('ip', 'domain')),
  check ((frequency_minutes >= 60) and (frequency_minutes <= 43200)),
  check (status in ('active', 'paused'))
);
create index blacklist_monitors_due on blacklist_monitors (next_run_at) where (status = 'active'::text);

create table blacklist_checks (
  workspace_id uuid not null,
  id uuid not null,
  -- Of a scheduled check; the monitor may be gone.
  monitor_id uuid,
  target text not null,
  target_type text not null,
  check_type text not null,
  status text not null,
  listed_count integer not null,
  total_checked integer not null,
  -- Units of the allowance.
  cost integer not null,
  -- Zone: status. json keeps the order of the zones.
  result json not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (target_type in ('ip', 'domain')),
  check (check_type in ('manual', 'scheduled')),
  check (status in ('clean', 'listed', 'error', 'skipped'))
);
create index blacklist_checks_by_time on blacklist_checks (workspace_id, created_at, id);
create index blacklist_checks_by_target on blacklist_checks (workspace_id, target, created_at, id);
create index blacklist_checks_by_monitor on blacklist_checks (workspace_id, monitor_id, created_at, id) where (monitor_id is not null);
create index blacklist_checks_by_age on blacklist_checks (created_at);
