-- The people of a bulk action, chosen when it starts, in batches. A batch is settled in the transaction that changes its
-- people, so that an interrupted job continues with the others.
create table bulk_action_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch int not null,
  subscriber_ids uuid[] not null,
  is_done boolean not null default false,
  changed int not null default 0,
  unchanged int not null default 0,
  -- People who could not be changed: an array of { id, reason }.
  refused jsonb not null default '[]',
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
