-- Blacklist checks: what was asked, by hand or on a schedule, and the targets that are watched.

create table blacklist_monitors (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- An IP address in canonical form, or a domain in lower-case A-labels.
  target text not null,
  target_type text not null check (target_type in ('ip', 'domain')),
  frequency_minutes integer not null check (frequency_minutes between 60 and 43200),
  notify boolean not null,
  status text not null check (status in ('active', 'paused')),
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
  primary key (workspace_id, id),
  unique (workspace_id, target)
);

create index blacklist_monitors_due on blacklist_monitors (next_run_at) where status = 'active';

create table blacklist_checks (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Of a scheduled check; the monitor may be gone.
  monitor_id uuid,
  target text not null,
  target_type text not null check (target_type in ('ip', 'domain')),
  check_type text not null check (check_type in ('manual', 'scheduled')),
  status text not null check (status in ('clean', 'listed', 'error', 'skipped')),
  listed_count integer not null,
  total_checked integer not null,
  -- Units of the allowance.
  cost integer not null,
  -- Zone: status. json keeps the order of the zones.
  result json not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

create index blacklist_checks_by_time on blacklist_checks (workspace_id, created_at, id);
create index blacklist_checks_by_target on blacklist_checks (workspace_id, target, created_at, id);
create index blacklist_checks_by_monitor on blacklist_checks (workspace_id, monitor_id, created_at, id)
  where monitor_id is not null;
create index blacklist_checks_by_age on blacklist_checks (created_at);

-- Where the service writes to about what a workspace ought to know; null: nowhere.
alter table workspaces add column notify_email text;
