-- The message log: a message to one recipient, with its present status. The tables of the log are partitioned by day
-- (src/messages/partitions/create-partitions.ts). The default partition takes rows of days without a partition.
create table messages (
  workspace_id uuid not null,
  id uuid not null,
  source text not null,
  -- The campaign, API key, SMTP credential or autoresponder that the message came from.
  origin_id uuid,
  -- Its name, which is kept after it is deleted.
  origin_name text not null,
  from_email text not null,
  -- The recipient as in the envelope. The domain is in lower-case A-labels.
  localpart text not null,
  domain text not null,
  subject text not null,
  status text not null default 'queued',
  attempts smallint not null default 0,
  error_message text,
  next_attempt_at timestamptz,
  -- X-Request-Id of the call that created the message.
  request_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The status before the last change. Statements that change a status return both, for the counters by status.
  previous_status text,
  -- Whether the message is an SMS. Its address is the person's email address, and it is not charged as an email.
  is_sms boolean not null default false,
  -- The source address of the last attempt; null if it is unknown, or the message has not been attempted.
  source_ip inet,
  -- The source address before the last change. When a deferred message is sent from another address, the counters of
  -- both addresses change.
  previous_source_ip inet,
  -- The values that the web view of the message shows, as JSON; null if the URL of the web view contains them.
  shown text,
  -- For mail of POST /emails: kind of recipient, tags, metadata and scheduled time, as the log shows them. The messages
  -- of one mail have neighbouring ids (src/messages/message/email-id.ts), so no index is needed.
  email_details jsonb,
  primary key (workspace_id, id),
  check (source in ('campaign', 'autoresponder', 'api', 'smtp', 'platform')),
  check (
    status in (
      'queued', 'sending', 'delivered', 'deferred', 'bounced', 'failed', 'suppressed', 'cancelled',
      'complained'
    )
  )
) partition by range (id);
create table messages_default partition of messages default;
-- Serves filters by source and status. The results for several values are merged.
create index messages_by_status on messages (workspace_id, source, status, id);
-- Finds the whole address in any case. Rows enter the index with their first outcome: inserting at a random place of an
-- index is slow, and acceptance does without it.
create index messages_by_address on messages (workspace_id, hashtext(lower(localpart || '@' || domain)), id)
  where status <> 'queued';

-- The content from which a message is composed. It is kept for a shorter time than the log.
create table message_contents (
  workspace_id uuid not null,
  message_id uuid not null,
  from_name text,
  to_name text,
  -- HTML or text may be null. Composing generates a missing text.
  html text,
  text text,
  -- [{ filename, content_type, disposition, content_id, content (base64) }]
  attachments jsonb,
  bounce_email text,
  -- Options of this message, such as header fields, tracking, return path host, sending IP and routing rule.
  particulars jsonb,
  -- The row of submissions with the content, if the message came by SMTP.
  submission_id uuid,
  primary key (workspace_id, message_id)
) partition by range (message_id);
alter table message_contents alter column attachments set storage external;
create table message_contents_default partition of message_contents default;

-- An event of a message after its acceptance, such as an attempt, an open or a click. Events of programs have types of
-- their own (machine_opened, machine_clicked).
create table message_events (
  workspace_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  type text not null,
  time timestamptz not null,
  -- The number of the attempt that caused the event; null for other events.
  attempt smallint,
  detail text,
  mx_host text,
  code smallint,
  enhanced_code text,
  -- Set for messages of campaigns, whose events are listed by campaign and time. Clicks are recorded with a delay
  -- (src/tracking/engagement-recorder.ts), so the order of ids is not that of time.
  campaign_id uuid,
  -- The index of the clicked link.
  link_index smallint,
  -- How many times the event happened, if one transaction recorded several; null: once.
  times integer,
  -- The User-Agent of an open or click.
  user_agent text,
  -- Why an open or click is attributed to a program (src/tracking/bot-detection.ts).
  machine_sign text,
  -- The source address of an attempt.
  source_ip inet,
  -- TLS of an attempt (TlsNote in src/smtp-client/tls.ts).
  tls jsonb,
  -- The row of smtp_openings with the beginning of the conversation.
  opening_id uuid,
  -- The lines of the message's own SMTP transaction (src/messages/message/conversation.ts).
  conversation text,
  primary key (workspace_id, message_id, id)
) partition by range (message_id);
create table message_events_default partition of message_events default;
create index message_events_by_campaign on message_events (workspace_id, campaign_id, type, time, id)
  where campaign_id is not null;

-- A tag or a metadata pair of a message, to find messages by it. `label` is its hash (src/messages/labels-store.ts).
create table message_labels (
  workspace_id uuid not null,
  label bigint not null,
  message_id uuid not null,
  primary key (workspace_id, label, message_id)
) partition by range (message_id);
create table message_labels_default partition of message_labels default;

-- The beginning of an SMTP connection (greeting, EHLO, TLS), kept as long as the log. It is stored once for each
-- workspace whose messages the connection carried: repeated in every message, it would be two thirds of the size of the
-- conversations.
create table smtp_openings (
  workspace_id uuid not null,
  id uuid not null,
  lines text not null,
  primary key (workspace_id, id)
) partition by range (id);
create table smtp_openings_default partition of smtp_openings default;

-- Octets of the message contents that a workspace has stored on one day, which count as its storage. They are added up
-- from meter_entries. Other stored data is measured in its own table.
create table content_days (
  workspace_id uuid not null,
  -- UTC.
  day date not null,
  bytes bigint not null,
  primary key (workspace_id, day),
  foreign key (workspace_id) references workspaces (id)
);
create index content_days_by_age on content_days (day);

-- A rendered preview of a mail, for the minutes in which its URL works. The table is unlogged: every change in an
-- editor writes a row, and after a crash of PostgreSQL editors render again.
create unlogged table content_previews (
  workspace_id uuid not null,
  id uuid not null,
  light text not null,
  dark text not null,
  expires_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index content_previews_by_end on content_previews (expires_at);

-- A message that capture mode did not send. The local inbox shows it.
create table captured_messages (
  workspace_id uuid not null,
  message_id uuid not null,
  -- The address in the From header field. mail_from and rcpt_to are those of the envelope.
  from_email text not null,
  mail_from text not null,
  rcpt_to text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamptz not null default now(),
  primary key (workspace_id, message_id)
);
create index captured_messages_by_age on captured_messages (message_id);

-- A message that waits for delivery, or is leased by a delivery worker.
create table delivery_queue (
  workspace_id uuid not null,
  message_id uuid not null,
  -- 0: transactional and platform mail, 1: bulk mail. Lower values are sent first.
  priority smallint not null,
  domain text not null,
  -- Size of the content. A worker leases no more than its memory allows.
  bytes integer not null,
  -- When the message may be leased. A lease sets it to the end of the lease, so a message whose lease has ended is due
  -- again.
  due_at timestamptz not null,
  expires_at timestamptz not null,
  -- SMTP attempts made.
  attempts smallint not null default 0,
  -- Rises with every lease. Only the holder of the newest lease may settle the message.
  lease_number integer not null default 0,
  -- The delivery process that holds the lease; null while the message waits.
  leased_by uuid,
  -- The line that the message waits in: its campaign, or the nil UUID outside of campaigns. Workers lease from every
  -- line that is not paused, so the messages of a paused campaign do not delay others.
  campaign_id uuid not null default '00000000-0000-0000-0000-000000000000',
  -- The source address that the message must be sent from. It is that of the last attempt, because greylisting
  -- recognises a retry by it, or one that the machine of the last lease does not have.
  source_ip inet,
  -- Start of the lease of the first attempt. Each lease sets it until an attempt is made. It is the Date of the
  -- message, which later attempts keep. Without it the Date is the time of acceptance.
  first_attempt_at timestamptz,
  primary key (workspace_id, message_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delivery_queue_leases on delivery_queue (leased_by) where leased_by is not null;
-- Messages without an attempt that wait for a source address. A change of the workspace's routing makes them due.
create index delivery_queue_held_back on delivery_queue (workspace_id, message_id)
  where source_ip is not null and attempts = 0;
create index delivery_queue_due on delivery_queue (priority, workspace_id, campaign_id, due_at);

-- The sending hold. While the row exists, the installation sends no mail, no SMS and no webhook deliveries.
create table sending_hold (
  only_row boolean not null default true,
  held_at timestamptz not null default now(),
  -- The time of the backup, if a restore began the hold.
  backup_at timestamptz,
  primary key (only_row),
  check (only_row)
);
