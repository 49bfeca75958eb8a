create table api_keys (
  workspace_id uuid not null,
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
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
-- Not unique: 238 random bits do not repeat, and a distributed table allows no unique index without its key.
create index api_keys_by_hash on api_keys (key_hash);

-- What API keys asked in the last seven days. The time of a request is that of its id. There are no foreign keys: rows
-- are written in bulk, and outlive their key.
create table api_requests (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  -- null: a path that does not exist
  operation text,
  status smallint not null,
  ms integer not null,
  request_id text not null,
  -- requests of the same kind before it that were not recorded
  left_out integer not null default 0,
  primary key (workspace_id, id)
);
create index api_requests_of_key on api_requests (workspace_id, key_id, id);
create index api_requests_by_time on api_requests (id);

create table idempotency_keys (
  workspace_id uuid not null,
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
  -- The advisory lock of the process that reserved an Idempotency-Key: while the lock is not held, that process is dead, and
  -- the key is free.
  holder bigint,
  primary key (workspace_id, path, key),
  foreign key (workspace_id) references workspaces (id)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Append only: events are inserted, and deleted when their time is over.
create function refuse_audit_update() returns trigger language plpgsql as $$
begin
  raise exception 'audit events are never changed';
end $$;

-- The audit log: who changed what. The time of an event is that of its id. Events of the installation itself, such as
-- sign-ins, have the nil UUID as their workspace. There are no foreign keys: events outlive what they name.
create table audit_events (
  workspace_id uuid not null,
  id uuid not null,
  actor_kind text not null,
  -- null: the command line, or nobody known
  actor_id uuid,
  actor_name text not null,
  operation text not null,
  resource_kind text not null,
  resource_id uuid,
  resource_name text,
  result text not null,
  -- of the refusal
  code text,
  changes jsonb not null,
  ip text,
  agent text,
  request_id text,
  -- as the caller gave it; null: none, or the operation takes none
  reason text,
  primary key (workspace_id, id),
  check (actor_kind in ('key', 'person', 'system', 'visitor')),
  check (result in ('done', 'refused'))
);
create index audit_events_by_actor on audit_events (workspace_id, actor_id, id);
create index audit_events_by_operation on audit_events (workspace_id, operation, id);
create index audit_events_by_time on audit_events (id);
create index audit_events_by_kind on audit_events (workspace_id, resource_kind, id);
create index audit_events_of_resource on audit_events (workspace_id, resource_id, id);
create index audit_events_by_result on audit_events (workspace_id, result, id);
create trigger audit_events_append_only before update on audit_events
  for each statement execute function refuse_audit_update();

-- Links that show one report, or the DNS records of one domain, to people without an account.
create table share_links (
  workspace_id uuid not null,
  id uuid not null,
  -- SHA-256; the token begins with the workspace's id
  token_hash bytea not null,
  kind text not null,
  resource_id uuid not null,
  -- of the resource, when the link was made
  name text not null,
  -- Argon2id; null: the link alone opens it
  password_hash text,
  -- name of the person or API key
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  view_count integer not null default 0,
  last_viewed_at timestamptz,
  primary key (workspace_id, id),
  unique (workspace_id, token_hash),
  foreign key (workspace_id) references workspaces (id),
  check (kind in ('campaign_report', 'dns_records'))
);

-- The secret keys of the installation, each as a one-way fingerprint. Those that are not retired are needed: something
-- that they sealed or signed may still be in use, so a machine starts with all of them or not at all.
create table secret_keys (
  fingerprint bytea not null,
  added_at timestamptz not null default now(),
  -- Processes whose first key it is renew this while they run.
  last_used_at timestamptz,
  retired_at timestamptz,
  primary key (fingerprint)
);

-- Which keys the running processes have, in the order of their rings: a key must not seal anything before all of them
-- can open it. A process renews its row while it runs and removes it when it stops.
create table secret_key_rings (
  process_id uuid not null,
  host text not null,
  pid integer not null,
  fingerprints bytea[] not null,
  seen_at timestamptz not null default now(),
  primary key (process_id)
);
