create table messages (
  workspace_id uuid not null,
  id uuid not null,
  source text not null,
  -- The campaign, API key, credential or autoresponder it came from; the name outlives the thing.
  origin_id uuid,
  origin_name text not null,
  from_email text not null,
  -- The recipient, as it is put on the envelope; the domain in lower-case A-labels.
  localpart text not null,
  domain text not null,
  subject text not null,
  status text not null default 'queued',
  attempts smallint not null default 0,
  error_message text,
  next_attempt_at timestamptz,
  -- X-Request-Id of the call that made it.
  request_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- From which status a message came: who counts by status has to know both, and asks the one statement that moved it.
  previous_status text,
  -- An SMS: it stands in the log under the email address of its person, and costs no email. The campaign may be gone before it.
  is_sms boolean not null default false,
  -- Which of our addresses a message left from, once no attempt is left to be made; null while that is open, or unknown.
  source_ip inet,
  -- What is put off counts with the address it was tried from, and is counted over when it leaves from another one.
  previous_source_ip inet,
  -- What the web view of a message shows of its recipient, as JSON, where the address of the web view does not carry it.
  shown text,
  -- Mail of POST /emails. `email_details` is what the log shows of it: the kind of recipient, tags, metadata, the time that it
  -- was scheduled for. Its messages have neighbouring ids (messages/message/email-id.ts), so that they need no index.
  email_details jsonb,
  primary key (workspace_id, id),
  check (source in ('campaign', 'autoresponder', 'api', 'smtp', 'platform')),
  check (status in ('queued', 'sending', 'delivered', 'deferred', 'bounced', 'failed', 'suppressed', 'cancelled', 'complained'))
) partition by range (id);
create table messages_default partition of messages default;
-- By source and status; several of either are merged.
create index messages_by_status on messages (workspace_id, source, status, id);
-- By the recipient's whole address, in any case. A random place in an index is what costs the most when a row comes in:
-- a message gets its place with its first outcome, and acceptance does not pay for it.
create index messages_by_address on messages (workspace_id, hashtext(lower(((localpart || '@'::text) || domain))), id) where (status <> 'queued'::text);

-- What has to be composed; kept for a shorter time than the log.
create table message_contents (
  workspace_id uuid not null,
  message_id uuid not null,
  from_name text,
  to_name text,
  -- One of the two may be null: the other part is generated when the message is composed.
  html text,
  text text,
  -- [{ filename, content_type, disposition, content_id, content (base64) }]
  attachments jsonb,
  bounce_email text,
  -- { headers: [[name, value]], return_path_host, sending_ip, routing_rule_id }, of a campaign's test
  particulars jsonb,
  submission_id uuid,
  primary key (workspace_id, message_id)
) partition by range (message_id);
alter table message_contents alter column attachments set storage external;
create table message_contents_default partition of message_contents default;

-- One row for each thing that happened to a message after it was accepted.
create table message_events (
  workspace_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  type text not null,
  time timestamptz not null,
  -- SMTP attempt that brought it; null for what arrives by other ways.
  attempt smallint,
  detail text,
  mx_host text,
  code smallint,
  enhanced_code text,
  -- Set for what happened to a campaign's messages, which is listed by campaign, newest first. Clicks are written down late
  -- (tracking/recorder.ts), so that the order of ids is not that of time.
  campaign_id uuid,
  -- Opens and clicks are events, too; those of programs have types of their own (machine_opened, machine_clicked).
  -- The index of the link that was followed.
  link_index smallint,
  -- How often it happened, where one commit recorded it more than once; null: once.
  times integer,
  -- What opened or followed it said of itself, and why we take it for a program (tracking/machine.ts).
  user_agent text,
  machine_sign text,
  -- Of an attempt: the address of ours that it was made from.
  source_ip inet,
  -- Of an attempt: what protected the conversation (messages/outcome.ts, TlsNote).
  tls jsonb,
  opening_id uuid,
  conversation text,
  primary key (workspace_id, message_id, id)
) partition by range (message_id);
create table message_events_default partition of message_events default;
create index message_events_by_campaign on message_events (workspace_id, campaign_id, type, "time", id) where (campaign_id is not null);

-- Finds messages by tag or metadata. `label` is the hash of one of them (messages/labels-store.ts).
create table message_labels (
  workspace_id uuid not null,
  label bigint not null,
  message_id uuid not null,
  primary key (workspace_id, label, message_id)
) partition by range (message_id);
create table message_labels_default partition of message_labels default;

-- The SMTP conversation of each attempt, kept as long as the log. `conversation` has the lines of the message's own
-- transaction (messages/message/conversation.ts). Those of the opening (greeting, EHLO, TLS) are stored once for each
-- workspace whose messages the connection carried: repeated for each message they would be two thirds of its size.
create table smtp_openings (
  workspace_id uuid not null,
  id uuid not null,
  lines text not null,
  primary key (workspace_id, id)
) partition by range (id);
create table smtp_openings_default partition of smtp_openings default;

-- What a workspace stores is bounded by its plan. Contents of messages are noted with the emails that the meter takes,
-- and added up by the month whose partition they are in; everything else is measured where it is.
create table content_months (
  workspace_id uuid not null,
  -- The first day of the month, UTC.
  month date not null,
  bytes bigint not null,
  primary key (workspace_id, month),
  foreign key (workspace_id) references workspaces (id)
);
create index content_months_by_age on content_months (month);

-- Previews of mails, for the minutes in which their addresses work. Unlogged: they are written with every change in an editor,
-- and after a crash of the database an editor makes new ones.
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

-- Capture mode: what would have left the machine, for the local inbox.
create table captured_messages (
  workspace_id uuid not null,
  message_id uuid not null,
  -- The address in the From header; the two below are the envelope's.
  from_email text not null,
  mail_from text not null,
  rcpt_to text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamptz not null default now(),
  primary key (workspace_id, message_id)
);
create index captured_messages_by_age on captured_messages (message_id);

create table delivery_queue (
  workspace_id uuid not null,
  message_id uuid not null,
  -- 0 transactional and platform, 1 bulk. Lower goes first.
  priority smallint not null,
  domain text not null,
  -- Size of the content: a worker leases no more than it has memory for.
  bytes integer not null,
  -- When it may be leased. A lease moves it to its own deadline, so that a lapsed lease is simply due again.
  due_at timestamptz not null,
  expires_at timestamptz not null,
  -- SMTP attempts made.
  attempts smallint not null default 0,
  -- Rises with every lease and fences a late worker: only the holder of the newest may settle.
  lease_number integer not null default 0,
  -- The delivery process that holds it; null while waiting.
  leased_by uuid,
  -- The line that a message waits in: its campaign, or nil for all that is of none. Workers take from every line that is not
  -- halted, so that a million messages of a paused campaign are in nobody's way.
  campaign_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  -- The address a waiting message should leave from: the one of its last attempt, because greylists know a retry by it,
  -- or one that the machine which held the message does not have.
  source_ip inet,
  -- When the lease began under which the first attempt was made. Until then each lease sets it anew: it is the Date of the
  -- message, which later attempts keep. Null in a message that was tried before: its Date is when it was accepted.
  first_attempt_at timestamptz,
  primary key (workspace_id, message_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index delivery_queue_leases on delivery_queue (leased_by) where (leased_by is not null);
-- Untried mail that waits for an address: a change of its workspace's routing makes it due.
create index delivery_queue_held_back on delivery_queue (workspace_id, message_id) where ((source_ip is not null) and (attempts = 0));
create index delivery_queue_due on delivery_queue (priority, workspace_id, campaign_id, due_at);

-- One row while the whole installation sends nothing: no mail, no SMS, no webhook deliveries.
create table sending_hold (
  only_row boolean not null default true,
  held_at timestamptz not null default now(),
  -- The moment of the backup, if a restore has held the sending.
  backup_at timestamptz,
  primary key (only_row),
  check (only_row)
);
