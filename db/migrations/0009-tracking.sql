-- Tracking: hosts of customers' own that links in mails begin with.

create table tracking_domains (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Lower-case A-labels; below a domain, for the name has to be an alias.
  domain text not null,
  -- Its CNAME was seen at the last check that the DNS answered. Links use no other.
  is_verified boolean not null default false,
  verified_at timestamptz,
  checked_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, domain)
);

-- Whether a request came by one: then it gets tracking and nothing else. One workspace has a name at a time.
create unique index tracking_domains_by_name on tracking_domains (domain) where is_verified;
-- The order of the automatic re-check.
create index tracking_domains_by_check on tracking_domains (coalesce(checked_at, created_at));

-- Opens and clicks are events, too; those of programs have types of their own (machine_opened, machine_clicked).
-- The index of the link that was followed.
alter table message_events add column link_index smallint;
-- How often it happened, where one commit recorded it more than once; null: once.
alter table message_events add column times integer;
-- What opened or followed it said of itself, and why we take it for a program (tracking/machine.ts).
alter table message_events add column user_agent text;
alter table message_events add column machine_sign text;
