-- Mail that came to an inbound route, one row for each of its recipients. A row whose route keeps nothing is deleted when
-- its event is written.
create table received_emails (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- No foreign key: mail stays when its route is deleted.
  route_id uuid not null,
  keep boolean not null,
  webhook boolean not null,
  -- The envelope; the null sender is ''.
  mail_from text not null,
  rcpt_to text not null,
  -- The client: its address, its name in EHLO, and its network (an IPv4 address or an IPv6 /64).
  remote_ip text not null,
  helo text not null,
  network text not null,
  -- The mail as it came, and its size.
  raw bytea not null,
  bytes integer not null,
  received_at timestamptz not null,
  -- `unreadable`: the parser gave up; the source can still be downloaded.
  status text not null check (status in ('received', 'parsed', 'unreadable')),
  -- When it may be leased for parsing: a lease moves this to its own deadline, and the number fences earlier leases.
  due_at timestamptz not null,
  lease_number integer not null default 0,
  turn bigint not null,
  -- Of the parsed mail. `from_email` is in lower case.
  from_email text,
  subject text,
  message_id text,
  text text,
  html text,
  -- Addresses, date, header fields, attachments, and what was cut (received/parsed-mail.ts).
  details jsonb,
  -- `bounce`, `auto_reply`, `read_receipt`, `mailing_list`; null: from a person, as far as its header says.
  automatic text,
  -- The message of ours that it answers; and that it is, when a mail of the workspace came back.
  in_reply_to_message_id uuid,
  own_message_id uuid,
  authentication jsonb,
  spam_score double precision,
  is_spam boolean not null default false,
  primary key (workspace_id, id)
);

-- The source is mostly Base64: compressing it costs much and saves little.
alter table received_emails alter column raw set storage external;

create index received_emails_waiting on received_emails (turn, id) include (due_at, workspace_id, bytes)
  where status = 'received';
create index received_emails_by_age on received_emails (received_at);
create index received_emails_by_sender on received_emails (workspace_id, from_email, id);
create index received_emails_by_recipient on received_emails (workspace_id, lower(rcpt_to), id);
create index received_emails_by_route on received_emails (workspace_id, route_id, id);
create index received_emails_by_answered on received_emails (workspace_id, in_reply_to_message_id, id)
  where in_reply_to_message_id is not null;
create index received_emails_by_time on received_emails (workspace_id, received_at, id);
create index received_emails_spam on received_emails (workspace_id, id) where is_spam;
create index received_emails_by_envelope on received_emails (workspace_id, lower(mail_from));

-- Recognises a mail that its sender repeats because it lost our reply.
create table received_digests (
  workspace_id uuid not null references workspaces (id),
  -- SHA-256 of Message-ID, recipient, sender and body.
  digest bytea not null,
  received_at timestamptz not null,
  primary key (workspace_id, digest)
);
create index received_digests_by_age on received_digests (received_at);

-- Octets of the received mail of a workspace, which count as its storage.
create table received_storage (
  workspace_id uuid primary key references workspaces (id),
  bytes bigint not null
);
