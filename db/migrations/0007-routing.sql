-- A source address of a workspace.
create table sending_ips (
  workspace_id uuid not null,
  id uuid not null,
  ip inet not null,
  -- EHLO name; null: MAIL_HOSTNAME.
  hostname text,
  pool text,
  is_active boolean not null default true,
  -- Null: no warm-up.
  warm_up_started_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
-- An address belongs to one workspace.
create unique index sending_ips_by_ip on sending_ips (ip);

-- A rule that selects the source address, pool or relay for messages of a workspace.
create table routing_rules (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  -- Rules with lower values are tried first.
  priority integer not null,
  is_active boolean not null,
  -- False: the rule applies only to campaigns that name it.
  is_automatic boolean not null,
  -- Recipient domains and mailbox providers that the rule matches. Empty arrays match every recipient.
  recipient_domains text[] not null,
  providers text[] not null,
  -- The rule sets one of source_ip_id, pool and relay_url.
  source_ip_id uuid,
  pool text,
  -- Encrypted, because it contains a password.
  relay_url bytea,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, source_ip_id) references sending_ips (workspace_id, id),
  check (num_nonnulls(source_ip_id, pool, relay_url) = 1)
);

-- A workspace with sending IPs or routing rules. Delivery workers cache these and compare the version with each lease.
create table routed_workspaces (
  workspace_id uuid not null,
  -- Rises with every change of the sending IPs and routing rules of the workspace.
  version integer not null,
  -- The version up to which messages that waited for a source address were made due.
  released_version integer not null default 0,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
create index routed_workspaces_unreleased on routed_workspaces (workspace_id) where released_version < version;

-- A source address of a running delivery process.
create table delivery_addresses (
  ip inet not null,
  seen_at timestamptz not null,
  primary key (ip)
);

-- The warm-up of a source address in one lane: the quota of the present day and how much of it is used.
create table warm_up_lanes (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  lane text not null,
  -- Start of the warm-up that the row belongs to. A new warm-up starts the counts again.
  started_at timestamptz not null,
  -- UTC day.
  day date not null,
  -- Completed days of the warm-up plan.
  step smallint not null,
  -- Quota that workers hold. They return what they do not use.
  reserved integer not null,
  sent integer not null,
  -- Sent messages that the receiver deferred because of the sender's reputation.
  deferred integer not null,
  primary key (workspace_id, sending_ip_id, lane),
  foreign key (workspace_id, sending_ip_id) references sending_ips (workspace_id, id) on delete cascade
);

-- What a source address in warm-up sent to one lane on one day. It is kept as history; the quota of the present day is
-- in warm_up_lanes.
create table warm_up_days (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  day date not null,
  lane text not null,
  -- Completed days of the warm-up plan.
  step smallint not null,
  sent integer not null,
  deferred integer not null,
  primary key (workspace_id, sending_ip_id, day, lane),
  foreign key (workspace_id, sending_ip_id) references sending_ips (workspace_id, id) on delete cascade
);
create index warm_up_days_by_day on warm_up_days (day);

-- The MTA-STS policy of a recipient domain (RFC 8461), shared by all delivery workers. A policy is valid for its
-- max_age. It is stored so that a restart does not lose it, which would allow a downgrade attack. Policies belong to no
-- workspace.
create table sts_policies (
  domain text not null,
  -- The id in the DNS record under which the policy was fetched.
  id text not null,
  mode text not null,
  mx text[] not null,
  max_age_seconds integer not null,
  fetched_at timestamptz not null,
  primary key (domain),
  check (mode in ('enforce', 'testing', 'none'))
);
