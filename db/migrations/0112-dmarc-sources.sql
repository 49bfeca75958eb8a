-- The document of a report, as gzip; null for older reports, large ones, and those that have records of other domains.
alter table dmarc_reports add column xml bytea;
alter table dmarc_reports alter column xml set storage external;

-- The host names of addresses in DMARC reports. They belong to the installation, like the DNS they come from.
create table source_hosts (
  ip inet primary key,
  -- A name that leads back to the address; null if there is none.
  host text,
  -- When a report last had the address, and when the name is looked up again.
  seen_at timestamptz not null,
  due_at timestamptz not null
);
create index source_hosts_due on source_hosts (due_at);

insert into source_hosts (ip, seen_at, due_at)
select d.source_ip, max(r.received_at), max(r.received_at)
from dmarc_reports r join dmarc_records d on d.workspace_id = r.workspace_id and d.dmarc_report_id = r.id
where r.received_at > now() - interval '30 days'
group by d.source_ip;
