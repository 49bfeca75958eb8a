create table campaigns (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject text not null,
  from_email text not null,
  from_name text,
  reply_to text,
  message_type text not null,
  phone_field_name text,
  recipient_type text not null,
  -- No foreign keys on lists and segments: a campaign outlives them, and a list is looked for when it is sent.
  mailing_list_id uuid,
  segment_id uuid,
  segment_conditions jsonb,
  -- Segments that say who gets it: the one it goes to, or those that its conditions name.
  audience_segments uuid[] not null default '{}',
  html_content text,
  text_content text,
  -- Null: as the list has it.
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  url_domain_id uuid,
  use_custom_headers boolean not null,
  custom_headers text,
  virtual_mta_ip text,
  routing_rule_id uuid,
  bounce_email text,
  sender_email text,
  scheduled_at timestamptz,
  -- As in message_contents.
  attachments jsonb,
  -- What of the content will show nothing, or cannot be sent: [{ field, line, column, message }].
  warnings jsonb not null default '[]',
  status text not null default 'draft',
  -- Rises with every change of a draft: it is sent as it was checked, or not at all.
  revision integer not null default 1,
  -- What dispatch found: the list whose members are written to, the names of list and segment, the list's sender name and
  -- reply-to, which hold where the campaign has none, and whether is tracked.
  audience_list_id uuid,
  mailing_list_name text,
  default_from_name text,
  default_reply_to text,
  segment_name text,
  tracks_opens boolean,
  tracks_clicks boolean,
  -- As many as were written to; and how many that would be, as far as it was known when it was written or sent.
  total_recipients integer not null default 0,
  estimated_recipients integer not null default 0,
  -- The people of the audience up to this id have been dealt with; all of them at expanded_at.
  expanded_to uuid,
  expanded_at timestamptz,
  -- When the next step may be made; whoever has waited longest is first. And how many failed in a row.
  expand_after timestamptz,
  expansion_failures smallint not null default 0,
  excluded_suppressed integer not null default 0,
  excluded_unsubscribed integer not null default 0,
  excluded_invalid integer not null default 0,
  excluded_duplicate integer not null default 0,
  -- Begin of dispatch.
  sent_at timestamptz,
  completed_at timestamptz,
  paused_at timestamptz,
  pause_reason text,
  -- Counters at the last resume: the brake judges by what came after it.
  brake_sent integer not null default 0,
  brake_bounced integer not null default 0,
  brake_complained integer not null default 0,
  brake_failures integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A campaign that had begun when it was deleted is out of everybody's sight, and its row stays while the log has messages of
  -- it: the links of its mails, the mail in the browser and what is deferred are made of it.
  deleted_at timestamptz,
  -- Whether the next step of a campaign's expansion waits for its workspace's hourly cap.
  waits_for_cap boolean not null default false,
  -- The document of a block editor, from which it makes html_content. It is stored as text (json, not jsonb), because the
  -- service does not interpret it: the order of keys stays, and a text may hold any escaped character.
  design json,
  -- The attachments without their content, with their sizes in bytes. An editor reads a draft every few seconds; reading 20 MB of
  -- attachments for their names takes half a second. Null in campaigns that were stored before: then they are read.
  attachment_files jsonb,
  -- Someone asks for approval of a draft in one revision. A change of the draft ends it, because the revision rises.
  approval_requested_at timestamptz,
  approval_requested_by text,
  approval_message text,
  approval_revision integer,
  -- Campaigns and steps of autoresponders have a copy of the content of a template. The columns say where it was taken from;
  -- the template may be deleted since. mjml is the source of html_content, where that was made from MJML.
  template_id uuid,
  template_version integer,
  mjml text,
  -- The pictures that the HTML shows.
  media_ids uuid[] not null default '{}',
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (message_type in ('email', 'sms')),
  check (recipient_type in ('mailing_list', 'segment', 'custom')),
  check (status in ('draft', 'scheduled', 'sending', 'sent', 'paused', 'cancelled'))
) with (fillfactor = 70);
alter table campaigns alter column attachments set storage external;
-- The newest of each list, and what uses it.
create index campaigns_by_list on campaigns (workspace_id, audience_list_id, sent_at);
-- Those with which something may have to be done, of all workspaces.
create index campaigns_at_work on campaigns (status) where (status = any (array['scheduled'::text, 'sending'::text, 'paused'::text]));
-- Workers ask at every look at the queue which were cancelled a moment ago.
create index campaigns_cancelled on campaigns (completed_at) where (status = 'cancelled'::text);
create index campaigns_paused on campaigns (workspace_id, paused_at) where (status = 'paused'::text);
create index campaigns_to_approve on campaigns (workspace_id, approval_requested_at) where ((status = 'draft'::text) and (approval_requested_at is not null));
create index campaigns_by_template on campaigns (workspace_id, template_id) where (template_id is not null);
create index campaigns_with_media on campaigns using gin (media_ids) where (media_ids <> '{}');

-- One row for each person a campaign is sent to: the primary key is what "exactly once" rests on. Made by expansion, in
-- the order of subscriber_id, which is therefore also the order of message_id.
create table campaign_recipients (
  workspace_id uuid not null,
  campaign_id uuid not null,
  subscriber_id uuid not null,
  message_id uuid not null,
  -- What people did, and not their programs.
  first_opened_at timestamptz,
  first_clicked_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (workspace_id, campaign_id, subscriber_id)
) with (fillfactor = 90);
create unique index campaign_recipients_by_message on campaign_recipients (workspace_id, message_id);
create index campaign_recipients_by_subscriber on campaign_recipients (workspace_id, subscriber_id);
-- The list of those who unsubscribed through a campaign reads them alone. They are few, so the index is small, and no
-- opening or click changes it.
create index campaign_recipients_unsubscribed on campaign_recipients (workspace_id, campaign_id, subscriber_id) where (unsubscribed_at is not null);

-- The tracked links of a campaign, at the index that is in their addresses.
create table campaign_links (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  -- With its merge tags, if it has any: then where it leads is a matter of the recipient.
  url text not null,
  is_personal boolean not null,
  click_count integer not null default 0,
  unique_click_count integer not null default 0,
  -- Where clicks on a tracked link lead since its target was changed; null: to its url.
  target_url text,
  target_changed_at timestamptz,
  primary key (workspace_id, campaign_id, index)
) with (fillfactor = 50);

-- Who clicked on which link, to count each person once.
create table campaign_link_clicks (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  message_id uuid not null,
  primary key (workspace_id, campaign_id, index, message_id)
);

-- A campaign's messages by the status they are stored with, and what was done with them. Moved in the transaction that
-- moves the messages, so that they are at every commit what a count of the log would give.
create table campaign_counters (
  workspace_id uuid not null,
  campaign_id uuid not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  -- Messages whose first attempt is over.
  sent integer not null default 0,
  -- Bounces for which the address is at fault.
  hard_bounced integer not null default 0,
  -- Messages that failed since one did not.
  failures_in_a_row integer not null default 0,
  opens integer not null default 0,
  unique_opens integer not null default 0,
  clicks integer not null default 0,
  unique_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  -- Events that the feed of activities shows.
  activities integer not null default 0,
  primary key (workspace_id, campaign_id)
) with (fillfactor = 50);

-- The same by the recipients' domain.
create table campaign_domains (
  workspace_id uuid not null,
  campaign_id uuid not null,
  domain text collate "C" not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  primary key (workspace_id, campaign_id, domain)
) with (fillfactor = 50);

-- What each hour brought.
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
