-- The content of a mail that a client submitted by SMTP. It is stored once for all of its recipients. The table is
-- partitioned like the message log.
create table submissions (
  workspace_id uuid not null,
  id uuid not null,
  -- Header section and body with CRLF line ends. Parts that differ between recipients are added when the mail is
  -- composed.
  raw bytea,
  html text,
  text text,
  attachments jsonb,
  particulars jsonb,
  primary key (workspace_id, id)
) partition by range (id);
alter table submissions alter column raw set storage external;
create table submissions_default partition of submissions default;

-- A mail to an address of the service: returned mail, a report, an unsubscribe mail, or mail to the operator. There is
-- one row for each recipient.
create table inbound_mails (
  id uuid not null,
  -- The kind of recipient: a signed return path, the address for complaints, the address for DMARC and TLS reports, an
  -- unsubscribe address, or an address of the operator.
  kind text not null,
  -- The envelope sender; '' for the null sender.
  mail_from text not null,
  rcpt_to text not null,
  -- The client's IPv4 address or IPv6 network.
  network text not null,
  -- The mail, cut to the length that is processed. `bytes` is its full size.
  raw bytea not null,
  bytes integer not null,
  status text not null default 'received',
  -- The outcome of processing. For a quarantined mail it is the fault.
  result text,
  -- When the mail may be leased. A lease sets it to the end of the lease.
  due_at timestamptz not null,
  -- Rises with every lease. Only the holder of the newest lease may write a result.
  lease_number integer not null default 0,
  received_at timestamptz not null,
  settled_at timestamptz,
  -- Whether the address is signed or open. The two classes have separate limits and leases.
  class text not null default 'open',
  -- The order of processing in a class, in which networks alternate (src/inbound/returns/store.ts).
  turn bigint not null default 0,
  -- Octets of `raw` when the mail was stored. Results shorten `raw`.
  stored_bytes integer not null default 0,
  primary key (id),
  check (kind in ('return_path', 'complaint', 'report', 'unsubscribe', 'operator')),
  check (status in ('received', 'processed', 'quarantined', 'kept')),
  check (class in ('signed', 'open')),
  constraint inbound_mails_class_of_kind check ((class = 'signed') = (kind in ('return_path', 'unsubscribe')))
);
alter table inbound_mails alter column raw set storage external;
create index inbound_mails_settled on inbound_mails (settled_at) where status = 'processed';
create index inbound_mails_shown on inbound_mails (status, id) where status in ('quarantined', 'kept');
create index inbound_mails_waiting on inbound_mails (class, turn, id) include (due_at, network, stored_bytes)
  where status = 'received';
-- Counts the waiting mails of a signed address, in any case and at any domain.
create index inbound_mails_by_local_part on inbound_mails (lower(split_part(rcpt_to, '@', 1)))
  where status = 'received' and class = 'signed';

-- Consecutive soft bounces of an address. The second delivery in a row deletes the row. The first one is only noted,
-- because it may still be followed by a bounce.
create table soft_bounces (
  workspace_id uuid not null,
  -- Lower case.
  address text not null,
  failures smallint not null,
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  -- The first message that was delivered after the soft bounces.
  delivered_message_id uuid,
  primary key (workspace_id, address)
);
create index soft_bounces_by_age on soft_bounces (last_failed_at);

-- A DMARC report about a sending domain. Its rows are in dmarc_records.
create table dmarc_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  org_name text not null,
  email text,
  report_id text not null,
  -- The domain of the policy: the sending domain or a subdomain of it.
  policy_domain text not null,
  -- As the receiver found it: { adkim, aspf, p, sp, np, pct, fo, testing, discoveryMethod }.
  policy jsonb not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  -- Number of records. This and the following sums cover all records, so lists of reports read no records.
  records integer not null,
  messages bigint not null,
  passed bigint not null,
  dkim_aligned bigint not null,
  spf_aligned bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  received_at timestamptz not null,
  -- Records of the report that could not be read: an array of reason and number.
  unread jsonb not null default '[]',
  -- The report as gzip. Null if it is large, contains records of other domains, or was not stored.
  xml bytea,
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, org_name, report_id, policy_domain),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);
alter table dmarc_reports alter column xml set storage external;
create index dmarc_reports_by_time on dmarc_reports (workspace_id, sending_domain_id, ends_at);
create index dmarc_reports_by_arrival on dmarc_reports (workspace_id, sending_domain_id, received_at) include (records);

-- A record of a DMARC report: messages of one source address with the same results.
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
  primary key (workspace_id, dmarc_report_id, position),
  foreign key (workspace_id, dmarc_report_id) references dmarc_reports (workspace_id, id) on delete cascade
);

-- A TLS report (RFC 8460) about a sending domain.
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
  -- The first failures of the report: [{ result_type, failed, ... }].
  failures jsonb not null,
  received_at timestamptz not null,
  -- Parts of the report that could not be read, as in dmarc_reports.
  unread jsonb not null default '[]',
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, organization_name, report_id),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);
create index tls_reports_by_time on tls_reports (workspace_id, sending_domain_id, ends_at);
create index tls_reports_by_arrival on tls_reports (workspace_id, sending_domain_id, received_at);

-- A DMARC or TLS report that was not stored, so that the owner of the domain sees why.
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

-- The host name of a source address in DMARC reports. The rows belong to the installation, because DNS is the same for
-- all workspaces.
create table source_hosts (
  ip inet not null,
  -- A name that resolves to the address; null: there is none.
  host text,
  -- When a report last contained the address.
  seen_at timestamptz not null,
  -- When the name is looked up again.
  due_at timestamptz not null,
  primary key (ip)
);
create index source_hosts_due on source_hosts (due_at);
-- Serves the removal of addresses that no recent report contains.
create index source_hosts_seen on source_hosts (seen_at);

-- An inbound route: the addresses of a verified domain whose mail a workspace receives, and what is done with the mail.
create table inbound_routes (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower case, with at most one * for any text.
  local_part text not null,
  -- Lower-case A-labels: a verified sending domain of the workspace, or a subdomain of one.
  domain text not null,
  priority integer not null,
  -- Whether the mail is an event for webhooks.
  webhook boolean not null,
  -- Whether the mail is kept for reading. At least one of both is true.
  keep boolean not null,
  -- Octets of the largest mail.
  max_bytes integer not null,
  -- Score of the spam scanner from which mail is rejected or marked. Null: the scanner's own threshold marks it.
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
-- RCPT TO looks routes up by domain alone: the address pattern is matched afterwards.
create index inbound_routes_by_domain on inbound_routes (domain) where is_active;

-- A received mail for one recipient. If the route does not keep mail, the row is deleted when its event is written.
create table received_emails (
  workspace_id uuid not null,
  id uuid not null,
  -- There is no foreign key, because mail stays when its route is deleted.
  route_id uuid not null,
  keep boolean not null,
  webhook boolean not null,
  -- The envelope sender; '' for the null sender.
  mail_from text not null,
  rcpt_to text not null,
  -- The client's address.
  remote_ip text not null,
  -- The client's name in EHLO.
  helo text not null,
  -- The client's IPv4 address or IPv6 /64 network.
  network text not null,
  -- The mail as it was received. `bytes` is its size.
  raw bytea not null,
  bytes integer not null,
  received_at timestamptz not null,
  -- `unreadable`: parsing took too long. The source can be downloaded.
  status text not null,
  -- When the mail may be leased for parsing. A lease sets it to the end of the lease.
  due_at timestamptz not null,
  -- Rises with every lease. Only the holder of the newest lease may write a result.
  lease_number integer not null default 0,
  -- The order of parsing, in which workspaces alternate.
  turn bigint not null,
  -- This and the following columns are set by parsing. from_email is in lower case.
  from_email text,
  subject text,
  message_id text,
  text text,
  html text,
  -- Addresses, date, header fields, attachments, and what was cut (src/inbound/parsing/read-received-mail.ts).
  details jsonb,
  -- The kind of program that wrote the mail (src/inbound/parsing/automatic-kind.ts); null: a person, as far as the
  -- header says.
  automatic text,
  -- The message of the workspace that the mail answers.
  in_reply_to_message_id uuid,
  -- The message of the workspace that the mail itself is, if it was sent to an inbound route.
  own_message_id uuid,
  authentication jsonb,
  spam_score double precision,
  is_spam boolean not null default false,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (status in ('received', 'parsed', 'unreadable'))
);
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

-- A digest of a received mail. It recognises a mail that a server sends again because it lost the reply.
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
