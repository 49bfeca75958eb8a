-- The message log and, apart from it, the narrow hot queue. Ids are UUIDs of version 7, which begin with the time:
-- partitioning by id is partitioning by month, and a look-up by id finds its partition without a date.

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  source text not null check (source in ('campaign', 'autoresponder', 'api', 'smtp', 'platform')),
  -- The campaign, API key, credential or autoresponder it came from; the name outlives the thing.
  origin_id uuid,
  origin_name text not null,
  from_email text not null,
  -- The recipient, as it is put on the envelope; the domain in lower-case A-labels.
  localpart text not null,
  domain text not null,
  subject text not null,
  status text not null default 'queued' check (status in
    ('queued', 'sending', 'delivered', 'deferred', 'bounced', 'failed', 'suppressed', 'cancelled', 'complained')),
  attempts smallint not null default 0,
  error_message text,
  next_attempt_at timestamptz,
  -- X-Request-Id of the call that made it.
  request_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
) partition by range (id);

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
  primary key (workspace_id, message_id)
) partition by range (message_id);

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
  primary key (workspace_id, message_id, id)
) partition by range (message_id);

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
  primary key (workspace_id, message_id)
)
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index delivery_queue_due on delivery_queue (priority, due_at);
create index delivery_queue_leases on delivery_queue (leased_by) where leased_by is not null;

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

-- Partitions by month. Without one for its month a row lands in the default partition, so that a service that
-- could not make partitions in time still accepts mail.
create table messages_default partition of messages default;
create table message_contents_default partition of message_contents default;
create table message_events_default partition of message_events default;
