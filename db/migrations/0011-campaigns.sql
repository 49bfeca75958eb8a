-- A campaign, with its content, its audience and the state of its sending.
create table campaigns (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject text not null,
  from_email text not null,
  from_name text,
  reply_to text,
  message_type text not null,
  -- The custom field with the phone number, for SMS.
  phone_field_name text,
  recipient_type text not null,
  -- Lists and segments have no foreign keys, because a campaign outlives them. Sending looks them up.
  mailing_list_id uuid,
  segment_id uuid,
  segment_conditions jsonb,
  -- The segments that select the audience: the segment of the campaign, or those that its conditions name.
  audience_segments uuid[] not null default '{}',
  html_content text,
  text_content text,
  -- Null: as the list has it. The same applies to clicks.
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  url_domain_id uuid,
  use_custom_headers boolean not null,
  custom_headers text,
  -- The source address; null: routing chooses it.
  virtual_mta_ip text,
  routing_rule_id uuid,
  bounce_email text,
  sender_email text,
  scheduled_at timestamptz,
  -- As in message_contents.
  attachments jsonb,
  -- Parts of the content that show nothing or cannot be sent: [{ field, line, column, message }].
  warnings jsonb not null default '[]',
  status text not null default 'draft',
  -- Rises with every change of a draft. Sending starts only with the revision that was checked.
  revision integer not null default 1,
  -- The columns from here to tracks_clicks are set when sending starts. They are the list of the recipients, the names of
  -- list and segment, the sender name and reply-to of the list as defaults, and whether opens and clicks are tracked.
  audience_list_id uuid,
  mailing_list_name text,
  default_from_name text,
  default_reply_to text,
  segment_name text,
  tracks_opens boolean,
  tracks_clicks boolean,
  -- People the campaign was sent to.
  total_recipients bigint not null default 0,
  -- The expected number of recipients when the campaign was last saved or sent.
  estimated_recipients bigint not null default 0,
  -- The cursor of the expansion: people up to this id are done.
  expanded_to uuid,
  -- When the expansion ended.
  expanded_at timestamptz,
  -- When the next step of the expansion may start. The campaign that has waited longest is first.
  expand_after timestamptz,
  -- Steps in a row that failed.
  expansion_failures smallint not null default 0,
  excluded_suppressed bigint not null default 0,
  excluded_unsubscribed bigint not null default 0,
  excluded_invalid bigint not null default 0,
  excluded_duplicate bigint not null default 0,
  -- Start of sending.
  sent_at timestamptz,
  completed_at timestamptz,
  paused_at timestamptz,
  pause_reason text,
  -- Values of the counters at the last resume. Auto-pause compares the counters with them.
  brake_sent bigint not null default 0,
  brake_bounced bigint not null default 0,
  brake_complained bigint not null default 0,
  brake_failures bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the campaign was deleted, if its sending had started. The row stays while the log has messages of it, because
  -- their links, web views and deferred deliveries need it.
  deleted_at timestamptz,
  -- Whether the expansion waits for the hourly cap of the workspace.
  waits_for_cap boolean not null default false,
  -- The document of a block editor for which html_content was made. json keeps the order of keys, and escaped
  -- characters that jsonb refuses. The service does not read it.
  design json,
  -- The attachments without content, with their sizes in bytes. An editor reads a draft every few seconds, and reading
  -- 20 MB of attachments for their names takes half a second. Null: the names are read from the attachments.
  attachment_files jsonb,
  -- A request for approval of the draft, for one revision. A change of the draft ends it, because the revision rises.
  approval_requested_at timestamptz,
  approval_requested_by text,
  approval_message text,
  approval_revision integer,
  -- The template whose content was copied. It may be deleted.
  template_id uuid,
  template_version integer,
  -- The source of html_content, if that was compiled from MJML.
  mjml text,
  -- The pictures in the HTML.
  media_ids uuid[] not null default '{}',
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (message_type in ('email', 'sms')),
  check (recipient_type in ('mailing_list', 'segment', 'custom')),
  check (status in ('draft', 'scheduled', 'sending', 'sent', 'paused', 'cancelled'))
) with (fillfactor = 70);
alter table campaigns alter column attachments set storage external;
-- The newest campaigns of each list.
create index campaigns_by_list on campaigns (workspace_id, audience_list_id, sent_at);
-- Campaigns of all workspaces that background tasks may have to process.
create index campaigns_at_work on campaigns (status) where status in ('scheduled', 'sending', 'paused');
-- Delivery workers look up recently cancelled campaigns with every lease.
create index campaigns_cancelled on campaigns (completed_at) where status = 'cancelled';
create index campaigns_paused on campaigns (workspace_id, paused_at) where status = 'paused';
create index campaigns_to_approve on campaigns (workspace_id, approval_requested_at)
  where status = 'draft' and approval_requested_at is not null;
create index campaigns_by_template on campaigns (workspace_id, template_id) where template_id is not null;
create index campaigns_with_media on campaigns using gin (media_ids) where media_ids <> '{}';

-- A person a campaign is sent to. The primary key ensures that a campaign is sent to a person once. Expansion inserts
-- rows in the order of subscriber_id, so message_id has the same order.
create table campaign_recipients (
  workspace_id uuid not null,
  campaign_id uuid not null,
  subscriber_id uuid not null,
  message_id uuid not null,
  -- Opens and clicks of people, without those of programs.
  first_opened_at timestamptz,
  first_clicked_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (workspace_id, campaign_id, subscriber_id)
) with (fillfactor = 90);
create unique index campaign_recipients_by_message on campaign_recipients (workspace_id, message_id);
create index campaign_recipients_by_subscriber on campaign_recipients (workspace_id, subscriber_id);
-- Serves the list of people who unsubscribed through a campaign. They are few, so the index is small, and opens and
-- clicks do not change it.
create index campaign_recipients_unsubscribed on campaign_recipients (workspace_id, campaign_id, subscriber_id)
  where unsubscribed_at is not null;

-- A tracked link of a campaign. `index` is part of its tracking URL.
create table campaign_links (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  -- The target, with merge tags if it contains any.
  url text not null,
  -- Whether the URL contains merge tags, so that it differs between recipients.
  is_personal boolean not null,
  click_count bigint not null default 0,
  unique_click_count bigint not null default 0,
  -- Where clicks lead after a change of the target; null: to url.
  target_url text,
  target_changed_at timestamptz,
  primary key (workspace_id, campaign_id, index)
) with (fillfactor = 50);

-- A recipient's first click on a link, so that each recipient is counted once.
create table campaign_link_clicks (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  message_id uuid not null,
  primary key (workspace_id, campaign_id, index, message_id)
);

-- Messages of a campaign by status, and events of them. The transaction that changes the messages updates them, so they
-- always equal a count of the log.
create table campaign_counters (
  workspace_id uuid not null,
  campaign_id uuid not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  -- Messages whose first attempt has ended.
  sent bigint not null default 0,
  -- Bounces because of an invalid address.
  hard_bounced bigint not null default 0,
  -- Failed messages after the last one that did not fail.
  failures_in_a_row bigint not null default 0,
  opens bigint not null default 0,
  unique_opens bigint not null default 0,
  clicks bigint not null default 0,
  unique_clicks bigint not null default 0,
  unsubscribed bigint not null default 0,
  machine_opens bigint not null default 0,
  machine_clicks bigint not null default 0,
  -- Events that the activity feed shows.
  activities bigint not null default 0,
  primary key (workspace_id, campaign_id)
) with (fillfactor = 50);

-- Messages of a campaign by status, for one recipient domain.
create table campaign_domains (
  workspace_id uuid not null,
  campaign_id uuid not null,
  domain text collate "C" not null,
  queued bigint not null default 0,
  deferred bigint not null default 0,
  delivered bigint not null default 0,
  bounced bigint not null default 0,
  failed bigint not null default 0,
  suppressed bigint not null default 0,
  cancelled bigint not null default 0,
  complained bigint not null default 0,
  primary key (workspace_id, campaign_id, domain)
) with (fillfactor = 50);

-- Events of a campaign in one hour.
create table campaign_hours (
  workspace_id uuid not null,
  campaign_id uuid not null,
  hour timestamptz not null,
  sent integer not null default 0,
  opens integer not null default 0,
  clicks integer not null default 0,
  unsubscribes integer not null default 0,
  complaints integer not null default 0,
  primary key (workspace_id, campaign_id, hour)
) with (fillfactor = 50);

-- How far the mail of a workspace (campaign_recipients and autoresponder_mails) has been read to recalculate the engagement
-- scores of its recipients.
create table scored_mail (
  workspace_id uuid not null,
  -- The id of the last message.
  scored_to uuid not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
