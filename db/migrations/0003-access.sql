-- An API key of a workspace.
create table api_keys (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  -- SHA-256 of the secret. The secret itself is not stored.
  key_hash bytea not null,
  -- The first characters of the secret, by which people recognise a key.
  key_prefix text not null,
  is_active boolean not null default true,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
-- It is not unique: the 238 random bits of a secret do not repeat, and a table distributed by workspace_id can have no
-- unique index without that column.
create index api_keys_by_hash on api_keys (key_hash);

-- A request of an API key in the last seven days. Its time is in its id. There are no foreign keys, because rows are
-- written in bulk and outlive their key.
create table api_requests (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  -- Null: no operation has this path.
  operation text,
  status smallint not null,
  ms integer not null,
  request_id text not null,
  -- Requests of the same kind since the previous row that were not recorded, because there were too many.
  left_out integer not null default 0,
  primary key (workspace_id, id)
);
create index api_requests_of_key on api_requests (workspace_id, key_id, id);
create index api_requests_by_time on api_requests (id);

-- An Idempotency-Key with the answer of its first request. Requests that repeat the key get the same answer.
create table idempotency_keys (
  workspace_id uuid not null,
  path text not null,
  key text not null,
  -- Identifies the request that holds the key. A request whose reservation another one took over does not write its
  -- answer.
  token uuid not null,
  request_hash bytea not null,
  -- Null while the first request is running.
  answer_status smallint,
  answer_body text,
  -- From this time on, another request may take over the reservation of a request that has not answered.
  reserved_until timestamptz not null,
  created_at timestamptz not null default now(),
  -- The advisory lock of the process that reserved the key. If no process holds the lock, that process is dead and the
  -- key can be reserved again.
  holder bigint,
  primary key (workspace_id, path, key),
  foreign key (workspace_id) references workspaces (id)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);

-- Events are inserted, and deleted at the end of their retention. They are never changed.
create function refuse_audit_update() returns trigger language plpgsql as $$
begin
  raise exception 'audit events are never changed';
end $$;

-- An event of the audit log: an actor changed something, or was refused. Its time is in its id. Events of the
-- installation, such as sign-ins, have the nil UUID as workspace. There are no foreign keys, because events outlive
-- what they name.
create table audit_events (
  workspace_id uuid not null,
  id uuid not null,
  actor_kind text not null,
  -- Null: the command line, or an unknown actor.
  actor_id uuid,
  actor_name text not null,
  operation text not null,
  resource_kind text not null,
  resource_id uuid,
  resource_name text,
  result text not null,
  -- The error code of a refused operation.
  code text,
  changes jsonb not null,
  ip text,
  agent text,
  request_id text,
  -- The reason that the caller gave; null: none.
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

-- A share link: it shows one report, or the DNS records of one domain, to people without an account.
create table share_links (
  workspace_id uuid not null,
  id uuid not null,
  -- SHA-256 of the token. The token begins with the id of the workspace.
  token_hash bytea not null,
  kind text not null,
  resource_id uuid not null,
  -- Name of the resource when the link was made.
  name text not null,
  -- Argon2id; null: the link needs no password.
  password_hash text,
  -- Name of the person or API key.
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

-- A secret key of the installation, as a one-way fingerprint. Data that a key encrypted or signed may still be in use,
-- so a process starts only if it has all keys that are not retired.
create table secret_keys (
  fingerprint bytea not null,
  added_at timestamptz not null default now(),
  -- Processes renew it while this is the first key of their ring.
  last_used_at timestamptz,
  retired_at timestamptz,
  primary key (fingerprint)
);
