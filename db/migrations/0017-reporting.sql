-- Changes of the counters below, written with what they count and without a lock that others would wait for; folded into
-- the counters soon after (messages/counters). Figures are counters and notes together. There are three kinds:
-- * of messages: `quarter` is the quarter-hour in which the message was accepted. The statuses are a partition of all
--   messages by their present status, so that a move is -1 and +1.
-- * of bounces and complaints (hard_bounces to complaints): `quarter` is when they happened, and a bounce has a category.
-- * of an address of ours (source_ip is set): statuses of messages that left from it, for its counters alone.
create table report_notes (
  workspace_id uuid not null,
  id bigint generated always as identity not null,
  quarter timestamptz not null,
  source text,
  -- Nil for what has no origin.
  origin_id uuid,
  -- The recipient's, and the sender's.
  domain text,
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
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1);

-- By quarter-hour: the days of every time zone are made of these.
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

-- The same by eighths of a UTC day: of a long span, quarter-hours are read only where it is cut within an eighth.
create table report_eighths (
  workspace_id uuid not null,
  eighth timestamptz not null,
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
  primary key (workspace_id, eighth, source)
) with (fillfactor = 70);

-- Of all time, by campaign, autoresponder, API key or credential.
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

-- By the recipient's domain. Days are UTC, here and below.
create table report_domain_days (
  workspace_id uuid not null,
  day date not null,
  domain text not null,
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
  primary key (workspace_id, day, domain)
) with (fillfactor = 70);
create index report_domain_days_with_bounces on report_domain_days (workspace_id, day) include (domain, hard_bounces, soft_bounces, block_bounces) where (((hard_bounces + soft_bounces) + block_bounces) <> 0);

-- Weeks of them, by their Monday: a span of many days is read from these, but for the days before its first week.
create table report_domain_weeks (
  workspace_id uuid not null,
  week date not null,
  domain text not null,
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
  primary key (workspace_id, week, domain)
) with (fillfactor = 70);
create index report_domain_weeks_with_bounces on report_domain_weeks (workspace_id, week) include (domain, hard_bounces, soft_bounces, block_bounces) where (((hard_bounces + soft_bounces) + block_bounces) <> 0);

-- By the domain in From.
create table report_sender_days (
  workspace_id uuid not null,
  day date not null,
  from_domain text not null,
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
  primary key (workspace_id, day, from_domain)
) with (fillfactor = 70);

-- By the address of ours that messages left from.
create table report_ip_days (
  workspace_id uuid not null,
  day date not null,
  source_ip inet not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  primary key (workspace_id, day, source_ip)
) with (fillfactor = 70);

-- Bounces by what they were about.
create table report_category_days (
  workspace_id uuid not null,
  day date not null,
  bounce_type text not null,
  category text not null,
  bounces integer not null default 0,
  primary key (workspace_id, day, bounce_type, category)
) with (fillfactor = 70);

-- Campaigns, autoresponders and API keys (source api) that were deleted: their figures stay, under their names.
create table origin_names (
  workspace_id uuid not null,
  source text not null,
  id uuid not null,
  name text not null,
  -- Of a campaign: how it ended, and when it began.
  status text,
  sent_at timestamptz,
  primary key (workspace_id, source, id),
  foreign key (workspace_id) references workspaces (id),
  check (source in ('campaign', 'autoresponder', 'api'))
);

-- One row for each message that bounced, at once or late, with the id of the event that told it.
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
-- Newest first; and by domain, what of a window is no whole day.
create index bounces_by_time on bounces (workspace_id, created_at, id) include (domain);
-- Each filter of bounces and complaints has an index in the order of the lists, so that a page reads few rows.
create index bounces_by_domain on bounces (workspace_id, domain, created_at, id);
create index bounces_by_category on bounces (workspace_id, category, created_at, id);
create index bounces_by_code on bounces (workspace_id, smtp_code, created_at, id) where (smtp_code is not null);
create index bounces_by_campaign on bounces (workspace_id, campaign_id, created_at, id) where (campaign_id is not null);
-- The filters that 0091 left out: a type that is rare would be looked for in all bounces or complaints of the workspace.
create index bounces_by_type on bounces (workspace_id, bounce_type, created_at, id);

create table complaints (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  -- Of the report (RFC 5965 section 7.3): abuse, fraud, ...
  feedback_type text not null,
  -- Who sent the report; null when unknown.
  provider text,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);
create index complaints_by_time on complaints (workspace_id, created_at, id);
create index complaints_by_domain on complaints (workspace_id, domain, created_at, id);
create index complaints_by_campaign on complaints (workspace_id, campaign_id, created_at, id) where (campaign_id is not null);
create index complaints_by_type on complaints (workspace_id, feedback_type, created_at, id);

create table postmaster_domains (
  workspace_id uuid not null,
  domain text not null,
  -- When Google is to be asked next.
  due_at timestamptz not null,
  -- The account has the domain at Google; there may still be no figures.
  is_registered boolean not null default false,
  -- The newest day that Google has figures of, and what it has of that day: parts of 1.
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

-- One row for the installation: whether Google took the credentials when it last said anything about them.
create table postmaster_standing (
  only_row boolean not null default true,
  is_authorised boolean not null,
  told_at timestamptz not null,
  primary key (only_row),
  check (only_row)
);

-- Which mailbox provider has the mail of a domain, by its MX. It belongs to the installation, like the DNS it comes from.
-- `provider` is the name of a lane; null while the DNS gave no answer.
create table mailbox_domains (
  domain text not null,
  provider text,
  -- When it is looked up again.
  due_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (domain)
);
create index mailbox_domains_due on mailbox_domains (due_at);

-- Up to when the domains of a workspace are noted.
create table mailbox_domain_visits (
  workspace_id uuid not null,
  visited_at timestamptz not null,
  -- The first UTC day whose domains may be missing.
  unnoted_from date not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
