-- Mail that comes back. Nobody knows whose a mail is before it is read, so the mails themselves are the installation's.

create table inbound_mails (
  id uuid primary key,
  -- What its recipient was: a signed return path, the address for complaints, one for DMARC and TLS reports, one for
  -- leaving, or the operator's mailboxes.
  kind text not null check (kind in ('return_path', 'complaint', 'report', 'unsubscribe', 'operator')),
  -- As in the envelope; the null sender is ''.
  mail_from text not null,
  rcpt_to text not null,
  -- The client's address, or of IPv6 its network.
  network text not null,
  -- As much of it as is ever read, and the size as it came.
  raw bytea not null,
  bytes integer not null,
  status text not null default 'received' check (status in ('received', 'processed', 'quarantined', 'kept')),
  -- What became of it, in a word; of a quarantined mail what was wrong with it.
  result text,
  -- When it may be leased: a lease moves this to its own deadline, and the number fences who holds an older one.
  due_at timestamptz not null,
  lease_number integer not null default 0,
  received_at timestamptz not null,
  settled_at timestamptz
);

-- Attachments are Base64, packed before: compressing that costs much and saves little.
alter table inbound_mails alter column raw set storage external;

create index inbound_mails_due on inbound_mails (due_at) include (bytes) where status = 'received';
create index inbound_mails_settled on inbound_mails (settled_at) where status = 'processed';
create index inbound_mails_shown on inbound_mails (status, id) where status in ('quarantined', 'kept');

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
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, org_name, report_id, policy_domain),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);

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
  primary key (workspace_id, dmarc_report_id, position),
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
  primary key (workspace_id, id),
  unique (workspace_id, sending_domain_id, organization_name, report_id),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);

create index tls_reports_by_time on tls_reports (workspace_id, sending_domain_id, ends_at);
create index tls_reports_by_arrival on tls_reports (workspace_id, sending_domain_id, received_at);

-- Reports come with this token alone.
create index sending_domains_by_dmarc_token on sending_domains (dmarc_token);
