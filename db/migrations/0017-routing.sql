-- Sending IPs, routing rules, and how far each address is warmed up.

create table sending_ips (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  ip inet not null,
  -- EHLO name; null: MAIL_HOSTNAME.
  hostname text,
  pool text,
  is_active boolean not null default true,
  -- Null: not being warmed up.
  warm_up_started_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

-- An address sends for one workspace.
create unique index sending_ips_by_ip on sending_ips (ip);

create table routing_rules (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  -- Lower goes first.
  priority integer not null,
  is_active boolean not null,
  -- False: for the campaigns alone that name it.
  is_automatic boolean not null,
  -- What it matches; empty matches everything.
  recipient_domains text[] not null,
  providers text[] not null,
  -- What it does, one of three.
  source_ip_id uuid,
  pool text,
  -- Sealed, for it holds a password.
  relay_url bytea,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, source_ip_id) references sending_ips (workspace_id, id),
  check (num_nonnulls(source_ip_id, pool, relay_url) = 1)
);

-- Workspaces that have either, with a number that rises whenever one of theirs is changed: delivery workers keep what
-- they have read, and see with each lease whether it is the newest.
create table routed_workspaces (
  workspace_id uuid primary key references workspaces (id),
  version integer not null,
  -- Up to which one the mail was made due that waited for an address.
  released_version integer not null default 0
);

create index routed_workspaces_unreleased on routed_workspaces (workspace_id) where released_version < version;

-- The address a waiting message should leave from: the one of its last attempt, because greylists know a retry by it,
-- or one that the machine which held the message does not have.
alter table delivery_queue add column source_ip inet;

-- Untried mail that waits for an address: a change of its workspace's routing makes it due.
create index delivery_queue_held_back on delivery_queue (workspace_id, message_id)
  where source_ip is not null and attempts = 0;

-- Of an attempt: the address of ours that it was made from.
alter table message_events add column source_ip inet;

-- Addresses of the machines that deliver.
create table delivery_addresses (
  ip inet primary key,
  seen_at timestamptz not null
);

-- Warm-up: what a source address may send to one lane on one day, and what became of it.
create table warm_up_lanes (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  lane text not null,
  -- Which warm-up it belongs to: a new one begins anew.
  started_at timestamptz not null,
  -- In UTC.
  day date not null,
  -- How many days of the plan lie behind it.
  step smallint not null,
  -- Given out to workers; what they have not used comes back.
  reserved integer not null,
  sent integer not null,
  -- Of these, put off by the receiver because of our reputation.
  deferred integer not null,
  primary key (workspace_id, sending_ip_id, lane),
  foreign key (workspace_id, sending_ip_id) references sending_ips (workspace_id, id) on delete cascade
);
