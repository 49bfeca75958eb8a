-- The running processes of the installation, and for what their lanes wait: shown to the operator. Each process writes its
-- row every few seconds, so the table is not in the WAL; after a crash of PostgreSQL it begins empty.
create unlogged table running_processes (
  id uuid primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  node_version text not null,
  waits jsonb not null default '[]',
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
