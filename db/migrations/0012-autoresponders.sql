-- An autoresponder: a series of mails that starts when a person joins a list, or on a date.
create table autoresponders (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  -- There is no foreign key, because an autoresponder outlives its list. Activation looks the list up.
  mailing_list_id uuid not null,
  from_email text not null,
  from_name text,
  reply_to text,
  -- Null: as the list has it. The same applies to clicks.
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  trigger_type text not null,
  -- Date trigger: the custom field, whether it recurs every year, and the time (HH:MM) in the workspace's zone.
  date_field text,
  is_yearly boolean not null default false,
  at text,
  status text not null default 'inactive',
  -- Rises when the list or the trigger changes. Runs of an earlier generation end.
  generation integer not null default 1,
  -- The periods in which it is active, as far as the scan for new members still reads them. People who join in one of
  -- them get the series.
  active_times tstzmultirange not null default '{}',
  -- People who joined before this time have been processed. Earlier periods are removed at activation.
  scanned_to timestamptz,
  -- Date trigger: days up to this one, in the workspace's zone, have been processed.
  day_done date,
  activated_at timestamptz,
  deactivated_at timestamptz,
  -- Why the service deactivated it; null: a person did.
  deactivation_reason text,
  -- The limit of the account because of which due mails wait; null: none.
  waiting_reason text,
  -- Total time for which it has been inactive. Delays count in its own time, which stops while it is inactive.
  stood_still interval not null default '00:00:00',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (trigger_type in ('subscribed', 'date')),
  check (status in ('inactive', 'active'))
);
create index autoresponders_active on autoresponders (mailing_list_id) where status = 'active';
-- Delivery workers look up inactive autoresponders with every lease, because their mail waits.
create index autoresponders_stopped on autoresponders (id) where status = 'inactive' and activated_at is not null;

-- A step of an autoresponder. It keeps its id when its position changes, because runs refer to it.
create table autoresponder_steps (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  id uuid not null,
  -- From 1. Null: the step was removed, and runs that wait for it continue with the successor, if there is one.
  position smallint,
  successor_id uuid,
  delay_minutes integer not null,
  content_id uuid not null,
  primary key (workspace_id, autoresponder_id, id)
);

-- The content of a step, which never changes. An edited step gets a new one, and sent mails keep theirs.
create table autoresponder_contents (
  workspace_id uuid not null,
  id uuid not null,
  autoresponder_id uuid not null,
  mailing_list_id uuid not null,
  subject text not null,
  html_content text,
  text_content text,
  tracks_opens boolean not null,
  tracks_clicks boolean not null,
  -- Merge tags that show nothing: [{ field, line, column, message }].
  warnings jsonb not null,
  template_id uuid,
  template_version integer,
  mjml text,
  design json,
  media_ids uuid[] not null default '{}',
  primary key (workspace_id, id)
);
create index autoresponder_contents_by_autoresponder on autoresponder_contents (workspace_id, autoresponder_id);
create index autoresponder_contents_with_media on autoresponder_contents using gin (media_ids) where media_ids <> '{}';

-- A tracked link of a content. `index` is part of its tracking URL.
create table autoresponder_links (
  workspace_id uuid not null,
  content_id uuid not null,
  index smallint not null,
  url text not null,
  is_personal boolean not null,
  primary key (workspace_id, content_id, index)
);

-- A run: one person's progress through an autoresponder.
create table autoresponder_runs (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  -- When the person joined, or the day of a date trigger as its midnight in UTC.
  occasion timestamptz not null,
  generation integer not null,
  -- When the person joined the list. If the membership has a later date, the person left in between and the run ends.
  member_since timestamptz not null,
  -- The next step, and when it is due in the autoresponder's own time. Both are null when the run has ended.
  next_step_id uuid,
  due_at timestamptz,
  primary key (workspace_id, autoresponder_id, subscriber_id, occasion)
) with (fillfactor = 80);
create index autoresponder_runs_due on autoresponder_runs (workspace_id, autoresponder_id, due_at)
  where due_at is not null;
-- Serves lists and counts of people by their next step.
create index autoresponder_runs_waiting
  on autoresponder_runs (workspace_id, autoresponder_id, next_step_id, due_at, subscriber_id)
  where due_at is not null;

-- A mail of a step to a person. The primary key ensures that each step is sent once in a run.
create table autoresponder_mails (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  occasion timestamptz not null,
  step_id uuid not null,
  message_id uuid not null,
  content_id uuid not null,
  -- Opens and clicks of people, without those of programs.
  first_opened_at timestamptz,
  first_clicked_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (workspace_id, autoresponder_id, subscriber_id, occasion, step_id)
) with (fillfactor = 90);
create unique index autoresponder_mails_by_message on autoresponder_mails (workspace_id, message_id);
-- Serves the removal of contents that no step and no mail uses.
create index autoresponder_mails_by_content on autoresponder_mails (workspace_id, content_id);
create index autoresponder_mails_by_subscriber on autoresponder_mails (workspace_id, subscriber_id);

-- Counters of an autoresponder, as in campaign_counters. The same statements update them.
create table autoresponder_counters (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  sent bigint not null default 0,
  hard_bounced bigint not null default 0,
  failures_in_a_row bigint not null default 0,
  opens bigint not null default 0,
  unique_opens bigint not null default 0,
  clicks bigint not null default 0,
  unique_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  activities bigint not null default 0,
  primary key (workspace_id, autoresponder_id)
) with (fillfactor = 50);

-- Counters of a step of an autoresponder. They are updated with those of the autoresponder.
create table autoresponder_step_counters (
  workspace_id uuid not null,
  step_id uuid not null,
  autoresponder_id uuid not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  sent bigint not null default 0,
  hard_bounced bigint not null default 0,
  failures_in_a_row bigint not null default 0,
  opens bigint not null default 0,
  unique_opens bigint not null default 0,
  clicks bigint not null default 0,
  unique_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  activities bigint not null default 0,
  primary key (workspace_id, step_id)
) with (fillfactor = 50);
