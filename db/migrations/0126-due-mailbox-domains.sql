-- Domains are noted when mail to them is counted, and looked up when they are due; no round reads the counters of all.
set local lock_timeout = '10s';
alter table mailbox_domains add column seen_at timestamptz not null default now();
alter table mailbox_domains alter column seen_at drop default;
create index mailbox_domains_due on mailbox_domains (due_at);

-- Up to when the domains of a workspace are noted.
create table mailbox_domain_visits (
  workspace_id uuid primary key references workspaces (id),
  visited_at timestamptz not null,
  -- The first UTC day whose domains may be missing.
  unnoted_from date not null
);

-- For the removal of sources that were not seen for long.
create index source_hosts_seen on source_hosts (seen_at);
