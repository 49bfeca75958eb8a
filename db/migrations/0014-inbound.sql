-- What clients hand in over SMTP: stored once, however many recipients it has. Partitioned as the message log is.
create table submissions (
  workspace_id uuid not null,
  id uuid not null,
  -- Header section and body with CRLF line ends. What differs between recipients is added when each is composed.
  raw bytea,
  html text,
  text text,
  attachments jsonb,
  particulars jsonb,
  primary key (workspace_id, id)
) partition by range (id);
alter table submissions alter column raw set storage external;
create table submissions_default partition of submissions default;

create table inbound_mails (
  id uuid not null,
  -- What its recipient was: a signed return path, the address for complaints, one for DMARC and TLS reports, one for
  -- leaving, or the operator's mailboxes.
  kind text not null,
  -- As in the envelope; the null sender is ''.
  mail_from text not null,
  rcpt_to text not null,
  -- The client's address, or of IPv6 its network.
  network text not null,
  -- As much of it as is ever read, and the size as it came.
  raw bytea not null,
  bytes integer not null,
  status text not null default 'received',
  -- What became of it, in a word; of a quarantined mail what was wrong with it.
  result text,
  -- When it may be leased: a lease moves this to its own deadline, and the number fences who holds an older one.
  due_at timestamptz not null,
  lease_number integer not null default 0,
  received_at timestamptz not null,
  settled_at timestamptz,
  class text not null default 'open',
  turn bigint not null default 0,
  -- Octets of `raw` when it was stored.
  stored_bytes integer not null default 0,
  primary key (id),
  check (kind in ('return_path', 'complaint', 'report', 'unsubscribe', 'operator')),
  check (status in ('received', 'processed', 'quarantined', 'kept')),
  check (class in ('signed', 'open')),
  constraint inbound_mails_class_of_kind check ((class = 'signed') = (kind in ('return_path', 'unsubscribe')))
);
alter table inbound_mails alter column raw set storage external;
create index inbound_mails_settled on inbound_mails (settled_at) where (status = 'processed'::text);
create index inbound_mails_shown on inbound_mails (status, id) where (status = any (array['quarantined'::text, 'kept'::text]));
create index inbound_mails_waiting on inbound_mails (class, turn, id) include (due_at, network, stored_bytes) where (status = 'received'::text);
-- How much waits at one signed address, whatever the domain and the case it is written in.
create index inbound_mails_by_local_part on inbound_mails (lower(split_part(rcpt_to, '@'::text, 1))) where ((status = 'received'::text) and (class = 'signed'::text));

-- Soft bounces in a row, of addresses that have one. A delivery ends the row; but what was delivered may still bounce
-- later, and then it was none: so the first delivery is only noted, and the next one counts.
create table soft_bounces (
  workspace_id uuid not null,
  -- Lower case.
  address text not null,
  failures smallint not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  delivered_message_id uuid,
  primary key (workspace_id, address)
);
create index soft_bounces_by_age on soft_bounces (last_failed_at);

create table dmarc_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  org_name text not null,
  email text,
  report_id text not null,
  -- Of the policy: the sending domain, or one below it.
  policy_domain text not null,
  -- As the receiver found it: { adkim, aspf, p, sp, np, pct, fo, testing, discoveryMethod }.
  policy jsonb not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  records integer not null,
  -- Of all records, so that a page needs none of them.
  messages bigint not null,
  passed bigint not null,
  dkim_aligned bigint not null,
  spf_aligned bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  received_at timestamptz not null,
  -- What was put aside of reports about a sending domain, for its owner to see: records that could not be read of a report
  -- that was taken (a list of reason and number), and whole reports.
  unread jsonb not null default '[]',
  -- The document of a report, as gzip; null for older reports, large ones, and those that have records of other domains.
  xml bytea,
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, org_name, report_id, policy_domain),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);
alter table dmarc_reports alter column xml set storage external;
create index dmarc_reports_by_time on dmarc_reports (workspace_id, sending_domain_id, ends_at);
create index dmarc_reports_by_arrival on dmarc_reports (workspace_id, sending_domain_id, received_at) include (records);

create table dmarc_records (
  workspace_id uuid not null,
  dmarc_report_id uuid not null,
  position integer not null,
  source_ip inet not null,
  count bigint not null,
  disposition text,
  -- Aligned results: pass or fail.
  dkim text,
  spf text,
  header_from text not null,
  envelope_from text,
  primary key (workspace_id, dmarc_report_id, "position"),
  foreign key (workspace_id, dmarc_report_id) references dmarc_reports (workspace_id, id) on delete cascade
);

create table tls_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  organization_name text not null,
  contact_info text,
  report_id text not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  successful bigint not null,
  failed bigint not null,
  -- [{ result_type, failed, ... }], as reported, the first of them.
  failures jsonb not null,
  received_at timestamptz not null,
  unread jsonb not null default '[]',
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, organization_name, report_id),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);
create index tls_reports_by_time on tls_reports (workspace_id, sending_domain_id, ends_at);
create index tls_reports_by_arrival on tls_reports (workspace_id, sending_domain_id, received_at);

create table refused_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  kind text not null,
  reason text not null,
  detail text,
  file_name text,
  sender text,
  received_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade,
  check (kind in ('dmarc', 'tls'))
);
create index refused_reports_by_domain on refused_reports (workspace_id, sending_domain_id, id);

-- The host names of addresses in DMARC reports. They belong to the installation, like the DNS they come from.
create table source_hosts (
  ip inet not null,
  -- A name that leads back to the address; null if there is none.
  host text,
  -- When a report last had the address, and when the name is looked up again.
  seen_at timestamptz not null,
  due_at timestamptz not null,
  primary key (ip)
);
create index source_hosts_due on source_hosts (due_at);
-- For the removal of sources that were not seen for long.
create index source_hosts_seen on source_hosts (seen_at);

-- Inbound routes: which mail to addresses of a verified domain a workspace receives, and what becomes of it.
create table inbound_routes (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower case, with at most one * for any text.
  local_part text not null,
  -- Lower-case A-labels: a verified sending domain of the workspace, or a name below it.
  domain text not null,
  priority integer not null,
  -- Whether mail is announced to webhooks, and whether it is kept for reading. One of them is true.
  webhook boolean not null,
  keep boolean not null,
  -- Octets of the largest mail.
  max_bytes integer not null,
  -- From this score of the spam scanner on, mail is rejected or marked; null: the scanner's own threshold marks it.
  spam_threshold double precision,
  spam_action text not null,
  is_active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, domain, local_part),
  foreign key (workspace_id) references workspaces (id),
  check (spam_action in ('reject', 'mark')),
  check (webhook or keep)
);
-- RCPT knows only the domain.
create index inbound_routes_by_domain on inbound_routes (domain) where is_active;

-- Mail that came to an inbound route, one row for each of its recipients. A row whose route keeps nothing is deleted when
-- its event is written.
create table received_emails (
  workspace_id uuid not null,
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
  status text not null,
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
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('received', 'parsed', 'unreadable'))
);
alter table received_emails alter column raw set storage external;
create index received_emails_waiting on received_emails (turn, id) include (due_at, workspace_id, bytes) where (status = 'received'::text);
create index received_emails_by_age on received_emails (received_at);
create index received_emails_by_sender on received_emails (workspace_id, from_email, id);
create index received_emails_by_recipient on received_emails (workspace_id, lower(rcpt_to), id);
create index received_emails_by_route on received_emails (workspace_id, route_id, id);
create index received_emails_by_answered on received_emails (workspace_id, in_reply_to_message_id, id) where (in_reply_to_message_id is not null);
create index received_emails_by_time on received_emails (workspace_id, received_at, id);
create index received_emails_spam on received_emails (workspace_id, id) where is_spam;
create index received_emails_by_envelope on received_emails (workspace_id, lower(mail_from));

-- Recognises a mail that its sender repeats because it lost our reply.
create table received_digests (
  workspace_id uuid not null,
  -- SHA-256 of Message-ID, recipient, sender and body.
  digest bytea not null,
  received_at timestamptz not null,
  primary key (workspace_id, digest),
  foreign key (workspace_id) references workspaces (id)
);
create index received_digests_by_age on received_digests (received_at);

-- Octets of the received mail of a workspace, which count as its storage.
create table received_storage (
  workspace_id uuid not null,
  bytes bigint not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);
