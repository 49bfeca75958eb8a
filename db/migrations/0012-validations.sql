-- What was asked about addresses, and what came of it.

-- The history. A row and what it cost are one transaction; until its answer is known it says `unknown`.
create table validations (
  workspace_id uuid not null references workspaces (id),
  -- Version 7: the newest is the largest.
  id uuid not null,
  -- As it was given.
  email text not null,
  status text not null
    check (status in ('valid', 'invalid', 'catch-all', 'disposable', 'role-based', 'unknown')),
  risk_score smallint not null check (risk_score between 0 and 10),
  -- Validations of the allowance: 0 for an address that no DNS had to be asked about.
  cost smallint not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

-- What is too old goes once a day; rows come in the order of their time.
create index validations_by_age on validations using brin (created_at);

-- Answers by day (UTC) and status, so that nobody counts the history.
create table validation_days (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  status text not null,
  count bigint not null,
  primary key (workspace_id, day, status)
)
with (fillfactor = 50);

-- The parts of a bulk validation that are done: what a job that was killed does not do, and take, again.
create table validation_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  -- Places in the file of the addresses that were answered, and the rows of the result file, in the same order.
  places integer[] not null default '{}',
  rows text[] not null default '{}',
  counts jsonb not null default '{}',
  -- Places of the addresses whose server asked to come again later.
  greylisted integer[] not null default '{}',
  -- Places of the addresses that are looked at again: nobody could be asked, or the hour's cap was reached.
  put_back integer[] not null default '{}',
  -- Why not all of it was answered: nothing covers more.
  stopped_by text,
  done_at timestamptz not null,
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
