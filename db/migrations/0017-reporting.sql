-- Counter deltas: changes of the counters below. They are inserted without locks, in the transaction that causes them,
-- and a task adds them to the counters (src/messages/counters/). Reports read the sum of counters and deltas. There are
-- three kinds:
-- * Messages: `quarter` is the quarter-hour of acceptance. Each message counts in the column of its present status, so
--   a change of status is -1 in one column and +1 in another.
-- * Bounces and complaints (hard_bounces to complaints): `quarter` is when they happened. A bounce has a category.
-- * Source addresses (source_ip is set): statuses of the messages that were sent from the address.
create table report_notes (
  workspace_id uuid not null,
  id bigint generated always as identity not null,
  quarter timestamptz not null,
  source text,
  -- The nil UUID: no origin.
  origin_id uuid,
  -- The recipient's domain.
  domain text,
  -- The sender's domain.
  from_domain text,
  source_ip inet,
  bounce_type text,
  category text,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  unique_opens integer not null default 0,
  unique_clicks integer not null default 0,
  opens integer not null default 0,
  clicks integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  hard_bounces integer not null default 0,
  soft_bounces integer not null default 0,
  block_bounces integer not null default 0,
  complaints integer not null default 0,
  primary key (workspace_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1
);

-- Counters of a quarter-hour. Days of every time zone are sums of quarter-hours.
create table report_quarters (
  workspace_id uuid not null,
  quarter timestamptz not null,
  source text not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  unique_opens integer not null default 0,
  unique_clicks integer not null default 0,
  opens integer not null default 0,
  clicks integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  hard_bounces integer not null default 0,
  soft_bounces integer not null default 0,
  block_bounces integer not null default 0,
  complaints integer not null default 0,
  primary key (workspace_id, quarter, source)
) with (fillfactor = 70);

-- Counters of an eighth of a UTC day. Reports read quarter-hours only where a period begins or ends within an eighth.
create table report_eighths (
  workspace_id uuid not null,
  eighth timestamptz not null,
  source text not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  unique_opens bigint not null default 0,
  unique_clicks bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  hard_bounces bigint not null default 0,
  soft_bounces bigint not null default 0,
  block_bounces bigint not null default 0,
  complaints bigint not null default 0,
  primary key (workspace_id, eighth, source)
) with (fillfactor = 70);

-- Counters of a campaign, autoresponder, API key or SMTP credential, over all time.
create table report_origins (
  workspace_id uuid not null,
  source text not null,
  origin_id uuid not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  unique_opens bigint not null default 0,
  unique_clicks bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  hard_bounces bigint not null default 0,
  soft_bounces bigint not null default 0,
  block_bounces bigint not null default 0,
  complaints bigint not null default 0,
  primary key (workspace_id, source, origin_id)
) with (fillfactor = 70);

-- Counters of a recipient domain on a UTC day.
create table report_domain_days (
  workspace_id uuid not null,
  day date not null,
  domain text not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  unique_opens bigint not null default 0,
  unique_clicks bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  hard_bounces bigint not null default 0,
  soft_bounces bigint not null default 0,
  block_bounces bigint not null default 0,
  complaints bigint not null default 0,
  primary key (workspace_id, day, domain)
) with (fillfactor = 70);
create index report_domain_days_with_bounces
  on report_domain_days (workspace_id, day)
  include (domain, hard_bounces, soft_bounces, block_bounces)
  where hard_bounces + soft_bounces + block_bounces <> 0;

-- Counters of a recipient domain in a week, which is named by its Monday. Reports on long periods read whole weeks from
-- here, and the remaining days from report_domain_days.
create table report_domain_weeks (
  workspace_id uuid not null,
  week date not null,
  domain text not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  unique_opens bigint not null default 0,
  unique_clicks bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  hard_bounces bigint not null default 0,
  soft_bounces bigint not null default 0,
  block_bounces bigint not null default 0,
  complaints bigint not null default 0,
  primary key (workspace_id, week, domain)
) with (fillfactor = 70);
create index report_domain_weeks_with_bounces
  on report_domain_weeks (workspace_id, week)
  include (domain, hard_bounces, soft_bounces, block_bounces)
  where hard_bounces + soft_bounces + block_bounces <> 0;

-- Counters of a domain in From on a UTC day.
create table report_sender_days (
  workspace_id uuid not null,
  day date not null,
  from_domain text not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  unique_opens bigint not null default 0,
  unique_clicks bigint not null default 0,
  opens bigint not null default 0,
  clicks bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  hard_bounces bigint not null default 0,
  soft_bounces bigint not null default 0,
  block_bounces bigint not null default 0,
  complaints bigint not null default 0,
  primary key (workspace_id, day, from_domain)
) with (fillfactor = 70);

-- Counters of a source address on a UTC day.
create table report_ip_days (
  workspace_id uuid not null,
  day date not null,
  source_ip inet not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  primary key (workspace_id, day, source_ip)
) with (fillfactor = 70);

-- Bounces of a type and category on a UTC day.
create table report_category_days (
  workspace_id uuid not null,
  day date not null,
  bounce_type text not null,
  category text not null,
  bounces bigint not null default 0,
  primary key (workspace_id, day, bounce_type, category)
) with (fillfactor = 70);

-- A deleted campaign, autoresponder or API key (source api). Reports show its counters under this name.
create table origin_names (
  workspace_id uuid not null,
  source text not null,
  id uuid not null,
  name text not null,
  -- The last status of a campaign.
  status text,
  -- When the sending of a campaign started.
  sent_at timestamptz,
  primary key (workspace_id, source, id),
  foreign key (workspace_id) references workspaces (id),
  check (source in ('campaign', 'autoresponder', 'api'))
);

-- A message that bounced, in the SMTP conversation or by returned mail. The id is that of the event in message_events.
create table bounces (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  bounce_type text not null,
  category text not null,
  smtp_code smallint,
  enhanced_code text,
  error_message text not null,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  check (bounce_type in ('hard', 'soft', 'block'))
);
-- Lists of bounces, newest first, and counts by domain for the parts of a period that are no whole day.
create index bounces_by_time on bounces (workspace_id, created_at, id) include (domain);
-- Each filter of bounces and complaints has an index in the order of the lists, so a page reads few rows.
create index bounces_by_domain on bounces (workspace_id, domain, created_at, id);
create index bounces_by_category on bounces (workspace_id, category, created_at, id);
create index bounces_by_code on bounces (workspace_id, smtp_code, created_at, id) where smtp_code is not null;
create index bounces_by_campaign on bounces (workspace_id, campaign_id, created_at, id) where campaign_id is not null;
create index bounces_by_type on bounces (workspace_id, bounce_type, created_at, id);

-- A complaint about a message.
create table complaints (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  -- The type in the report (RFC 5965 section 7.3): abuse, fraud, ...
  feedback_type text not null,
  -- The sender of the report; null: unknown.
  provider text,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);
create index complaints_by_time on complaints (workspace_id, created_at, id);
create index complaints_by_domain on complaints (workspace_id, domain, created_at, id);
create index complaints_by_campaign on complaints (workspace_id, campaign_id, created_at, id)
  where campaign_id is not null;
create index complaints_by_type on complaints (workspace_id, feedback_type, created_at, id);

-- The newest statistics of a sending domain in Google Postmaster Tools.
create table postmaster_domains (
  workspace_id uuid not null,
  domain text not null,
  -- When the service requests them again.
  due_at timestamptz not null,
  -- Whether the account at Google has the domain. There may be no statistics yet.
  is_registered boolean not null default false,
  -- The newest day with statistics. Rates are fractions of 1.
  day date,
  spam_rate double precision,
  spf_success_rate double precision,
  dkim_success_rate double precision,
  dmarc_success_rate double precision,
  encryption_rate double precision,
  delivery_error_rate double precision,
  primary key (workspace_id, domain),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, domain) references sending_domains (workspace_id, domain) on delete cascade
);

-- The only row says whether Google accepted the credentials of the installation.
create table postmaster_standing (
  only_row boolean not null default true,
  is_authorised boolean not null,
  -- When Google last accepted or refused them.
  told_at timestamptz not null,
  primary key (only_row),
  check (only_row)
);

-- The mailbox provider of a recipient domain, by its MX records. The rows belong to the installation, because DNS is
-- the same for all workspaces.
create table mailbox_domains (
  domain text not null,
  -- Name of a lane; null: the DNS has not answered yet.
  provider text,
  -- When the domain is looked up again.
  due_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (domain)
);
create index mailbox_domains_due on mailbox_domains (due_at);

-- Up to which day the recipient domains of a workspace have been added to mailbox_domains.
create table mailbox_domain_visits (
  workspace_id uuid not null,
  visited_at timestamptz not null,
  -- The first UTC day whose domains may be missing.
  unnoted_from date not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
