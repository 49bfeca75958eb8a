create table autoresponders (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  -- No foreign key: it outlives its list, which is looked for when it is activated.
  mailing_list_id uuid not null,
  from_email text not null,
  from_name text,
  reply_to text,
  -- Null: as the list has it.
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  trigger_type text not null,
  -- Of a date: the custom field, whether it comes again every year, and the time of the workspace's zone (HH:MM).
  date_field text,
  is_yearly boolean not null default false,
  at text,
  status text not null default 'inactive',
  -- Rises when the list or the trigger is changed: series that began before end.
  generation integer not null default 1,
  -- When it was active, as it is now: whoever joined meanwhile is written to. Those up to scanned_to have been looked at,
  -- and what lies before is cut off when it is activated.
  active_times tstzmultirange not null default '{}'::tstzmultirange,
  scanned_to timestamptz,
  -- Days of the workspace's zone up to this one have been dealt with.
  day_done date,
  activated_at timestamptz,
  deactivated_at timestamptz,
  -- Null when a person did it; otherwise what made the service do it.
  deactivation_reason text,
  -- Why people whose time has come wait: what the account does not cover.
  waiting_reason text,
  -- How long it was inactive in between. It has a clock of its own, which stands still meanwhile.
  stood_still interval not null default '00:00:00'::interval,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (trigger_type in ('subscribed', 'date')),
  check (status in ('inactive', 'active'))
);
create index autoresponders_active on autoresponders (mailing_list_id) where (status = 'active'::text);
-- Workers ask at every look at the queue whose mail has to wait.
create index autoresponders_stopped on autoresponders (id) where ((status = 'inactive'::text) and (activated_at is not null));

-- A step keeps its id as long as it exists, wherever it stands: people who wait for it are found by it.
create table autoresponder_steps (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  id uuid not null,
  -- From 1 on; null: removed, and whoever waits for it goes on with the successor, if there is one.
  position smallint,
  successor_id uuid,
  delay_minutes integer not null,
  content_id uuid not null,
  primary key (workspace_id, autoresponder_id, id)
);

-- What a step says. Never changed: a step that is written anew has a new one, and mail that was sent keeps its own.
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
create index autoresponder_contents_with_media on autoresponder_contents using gin (media_ids) where (media_ids <> '{}');

-- Its tracked links, at the index that is in their addresses.
create table autoresponder_links (
  workspace_id uuid not null,
  content_id uuid not null,
  index smallint not null,
  url text not null,
  is_personal boolean not null,
  primary key (workspace_id, content_id, index)
);

-- One person's way through a series. The occasion is the moment of joining, or the day (its midnight in UTC).
create table autoresponder_runs (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  occasion timestamptz not null,
  generation integer not null,
  -- When the person joined the list; somebody who joined later has left in between.
  member_since timestamptz not null,
  -- By the autoresponder's own clock. Both are null when the series is over for the person.
  next_step_id uuid,
  due_at timestamptz,
  primary key (workspace_id, autoresponder_id, subscriber_id, occasion)
) with (fillfactor = 80);
create index autoresponder_runs_due on autoresponder_runs (workspace_id, autoresponder_id, due_at) where (due_at is not null);
-- Lists and counts the people whose next mail is that of a step.
create index autoresponder_runs_waiting on autoresponder_runs (workspace_id, autoresponder_id, next_step_id, due_at, subscriber_id) where (due_at is not null);

-- One row for each mail: the primary key is what "exactly once" rests on.
create table autoresponder_mails (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  occasion timestamptz not null,
  step_id uuid not null,
  message_id uuid not null,
  content_id uuid not null,
  -- What people did, and not their programs.
  first_opened_at timestamptz,
  first_clicked_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (workspace_id, autoresponder_id, subscriber_id, occasion, step_id)
) with (fillfactor = 90);
create unique index autoresponder_mails_by_message on autoresponder_mails (workspace_id, message_id);
-- A content that no step and no mail has any more is removed.
create index autoresponder_mails_by_content on autoresponder_mails (workspace_id, content_id);
create index autoresponder_mails_by_subscriber on autoresponder_mails (workspace_id, subscriber_id);

-- Moved by the statements that move the campaigns' own.
create table autoresponder_counters (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  sent integer not null default 0,
  hard_bounced integer not null default 0,
  failures_in_a_row integer not null default 0,
  opens integer not null default 0,
  unique_opens integer not null default 0,
  clicks integer not null default 0,
  unique_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  activities integer not null default 0,
  primary key (workspace_id, autoresponder_id)
) with (fillfactor = 50);

-- Figures of each step of an autoresponder. They are updated together with those of the autoresponder.
create table autoresponder_step_counters (
  workspace_id uuid not null,
  step_id uuid not null,
  autoresponder_id uuid not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  sent integer not null default 0,
  hard_bounced integer not null default 0,
  failures_in_a_row integer not null default 0,
  opens integer not null default 0,
  unique_opens integer not null default 0,
  clicks integer not null default 0,
  unique_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  activities integer not null default 0,
  primary key (workspace_id, step_id)
) with (fillfactor = 50);
