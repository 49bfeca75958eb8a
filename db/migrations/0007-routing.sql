create table sending_ips (
  workspace_id uuid not null,
  id uuid not null,
  ip inet not null,
  -- EHLO name; null: MAIL_HOSTNAME.
  hostname text,
  pool text,
  is_active boolean not null default true,
  -- Null: not being warmed up.
  warm_up_started_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
-- An address sends for one workspace.
create unique index sending_ips_by_ip on sending_ips (ip);

create table routing_rules (
  workspace_id uuid not null,
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
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, source_ip_id) references sending_ips (workspace_id, id),
  check (num_nonnulls(source_ip_id, pool, relay_url) = 1)
);

-- Workspaces that have either, with a number that rises whenever one of theirs is changed: delivery workers keep what
-- they have read, and see with each lease whether it is the newest.
create table routed_workspaces (
  workspace_id uuid not null,
  version integer not null,
  -- Up to which one the mail was made due that waited for an address.
  released_version integer not null default 0,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
create index routed_workspaces_unreleased on routed_workspaces (workspace_id) where (released_version < version);

-- Addresses of the machines that deliver.
create table delivery_addresses (
  ip inet not null,
  seen_at timestamptz not null,
  primary key (ip)
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

-- What a sending IP in warm-up sent to each provider on each day. The row of today in warm_up_lanes decides; this one is kept.
create table warm_up_days (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  day date not null,
  lane text not null,
  -- Completed days of the plan.
  step smallint not null,
  sent integer not null,
  deferred integer not null,
  primary key (workspace_id, sending_ip_id, day, lane),
  foreign key (workspace_id, sending_ip_id) references sending_ips (workspace_id, id) on delete cascade
);
create index warm_up_days_by_day on warm_up_days (day);

-- The MTA-STS policies of recipient domains (RFC 8461), for all delivery machines: one holds for as long as it says, and
-- whoever restarts must not be led to believe that there never was one. They are about strangers and of no workspace.
create table sts_policies (
  domain text not null,
  -- That of the DNS record under which it was fetched.
  id text not null,
  mode text not null,
  mx text[] not null,
  max_age_seconds integer not null,
  fetched_at timestamptz not null,
  primary key (domain),
  check (mode in ('enforce', 'testing', 'none'))
);
