-- Reports: the counters under them, and the records of bounces and complaints.

-- Which of our addresses a message left from, once no attempt is left to be made; null while that is open, or unknown.
alter table messages add column source_ip inet;

-- Changes of the counters below, written with what they count and without a lock that others would wait for; folded into
-- the counters soon after (messages/counters). Figures are counters and notes together. There are three kinds:
-- * of messages: `quarter` is the quarter-hour in which the message was accepted. The statuses are a partition of all
--   messages by their present status, so that a move is -1 and +1.
-- * of bounces and complaints (hard_bounces to complaints): `quarter` is when they happened, and a bounce has a category.
-- * of an address of ours (source_ip is set): statuses of messages that left from it, for its counters alone.
create table report_notes (
  workspace_id uuid not null,
  id bigint generated always as identity,
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
)
-- Rows live for seconds: what they leave behind is swept up often.
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1);

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
)
with (fillfactor = 70);

-- The same by eighths of a UTC day: of a long span, quarter-hours are read only where it is cut within an eighth.
create table report_eighths (like report_quarters including all)
with (fillfactor = 70);
alter table report_eighths rename column quarter to eighth;

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
)
with (fillfactor = 70);

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
)
with (fillfactor = 70);

-- Weeks of them, by their Monday: a span of many days is read from these, but for the days before its first week.
create table report_domain_weeks (like report_domain_days including all)
with (fillfactor = 70);
alter table report_domain_weeks rename column day to week;

-- Where mail bounced, how often: read without the rest of the row.
create index report_domain_days_with_bounces on report_domain_days (workspace_id, day)
  include (domain, hard_bounces, soft_bounces, block_bounces)
  where hard_bounces + soft_bounces + block_bounces <> 0;
create index report_domain_weeks_with_bounces on report_domain_weeks (workspace_id, week)
  include (domain, hard_bounces, soft_bounces, block_bounces)
  where hard_bounces + soft_bounces + block_bounces <> 0;

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
)
with (fillfactor = 70);

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
)
with (fillfactor = 70);

-- Bounces by what they were about.
create table report_category_days (
  workspace_id uuid not null,
  day date not null,
  bounce_type text not null,
  category text not null,
  bounces integer not null default 0,
  primary key (workspace_id, day, bounce_type, category)
)
with (fillfactor = 70);

-- One row for each message that bounced, at once or late, with the id of the event that told it.
create table bounces (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  bounce_type text not null check (bounce_type in ('hard', 'soft', 'block')),
  category text not null,
  smtp_code smallint,
  enhanced_code text,
  error_message text not null,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

-- Newest first; and by domain, what of a window is no whole day.
create index bounces_by_time on bounces (workspace_id, created_at, id) include (domain);

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

-- Campaigns, autoresponders and API keys (source api) that were deleted: their figures stay, under their names.
create table origin_names (
  workspace_id uuid not null references workspaces (id),
  source text not null check (source in ('campaign', 'autoresponder', 'api')),
  id uuid not null,
  name text not null,
  -- Of a campaign: how it ended, and when it began.
  status text,
  sent_at timestamptz,
  primary key (workspace_id, source, id)
);
