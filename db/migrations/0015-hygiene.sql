-- A validation of an address. The row is written with its charge, and has the status `unknown` until the result is
-- found.
create table validations (
  workspace_id uuid not null,
  -- UUID of version 7, so ids are in the order of time.
  id uuid not null,
  -- As the caller gave it.
  email text not null,
  status text not null,
  risk_score smallint not null,
  -- Validations that are charged: 0 if no DNS look-up was needed.
  cost smallint not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('valid', 'invalid', 'catch-all', 'disposable', 'role-based', 'unknown')),
  check (risk_score between 0 and 10)
);
-- Serves the daily removal of old rows. BRIN suffices, because rows are inserted in the order of time.
create index validations_by_age on validations using brin (created_at);

-- Validations of a UTC day by status. Statistics read them instead of the history.
create table validation_days (
  workspace_id uuid not null,
  day date not null,
  status text not null,
  count bigint not null,
  primary key (workspace_id, day, status),
  foreign key (workspace_id) references workspaces (id)
) with (fillfactor = 50);

-- A batch of a bulk validation that is done. An interrupted job neither validates nor charges its addresses again.
create table validation_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  -- Places in the file of the addresses with results. `rows` are their rows of the result file, in the same order.
  places integer[] not null default '{}',
  rows text[] not null default '{}',
  counts jsonb not null default '{}',
  -- Places of the addresses whose server greylists. They are checked once more.
  greylisted integer[] not null default '{}',
  -- Places of the addresses to retry, because the rate limit of the provider or the hourly cap was reached.
  put_back integer[] not null default '{}',
  -- The limit of the account that stopped the batch; null: none.
  stopped_by text,
  done_at timestamptz not null,
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);

-- A target that is checked against blacklists at intervals.
create table blacklist_monitors (
  workspace_id uuid not null,
  id uuid not null,
  -- An IP address in canonical form, or a domain in lower-case A-labels.
  target text not null,
  target_type text not null,
  frequency_minutes integer not null,
  notify boolean not null,
  status text not null,
  -- The last run in which a zone answered.
  last_checked_at timestamptz,
  -- Null while paused.
  next_run_at timestamptz,
  -- The zones that list the target. A zone that does not answer keeps its previous state.
  last_listed_zones text[] not null default '{}',
  last_error text,
  -- Rises with every lease. Only the holder of the newest lease may write a result, until leased_until.
  lease_number bigint not null default 0,
  leased_until timestamptz,
  created_at timestamptz not null,
  -- Null: no zone lists the target.
  listed_since timestamptz,
  primary key (workspace_id, id),
  unique (workspace_id, target),
  foreign key (workspace_id) references workspaces (id),
  check (target_type in ('ip', 'domain')),
  check (frequency_minutes between 60 and 43200),
  check (status in ('active', 'paused'))
);
create index blacklist_monitors_due on blacklist_monitors (next_run_at) where status = 'active';

-- A check of a target against blacklists, by hand or by a monitor.
create table blacklist_checks (
  workspace_id uuid not null,
  id uuid not null,
  -- The monitor of a scheduled check. It may be deleted.
  monitor_id uuid,
  target text not null,
  target_type text not null,
  check_type text not null,
  status text not null,
  listed_count integer not null,
  total_checked integer not null,
  -- Units that are charged.
  cost integer not null,
  -- Status by zone. json keeps the order of the zones.
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
create index blacklist_checks_by_monitor on blacklist_checks (workspace_id, monitor_id, created_at, id)
  where monitor_id is not null;
create index blacklist_checks_by_age on blacklist_checks (created_at);
