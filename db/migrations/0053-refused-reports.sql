-- What was put aside of reports about a sending domain, for its owner to see: records that could not be read of a report
-- that was taken (a list of reason and number), and whole reports.
alter table dmarc_reports add column unread jsonb not null default '[]';
alter table tls_reports add column unread jsonb not null default '[]';

create table refused_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  kind text not null check (kind in ('dmarc', 'tls')),
  reason text not null,
  detail text,
  file_name text,
  sender text,
  received_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, sending_domain_id) references sending_domains (workspace_id, id) on delete cascade
);

create index refused_reports_by_domain on refused_reports (workspace_id, sending_domain_id, id);
