-- The MTA-STS policies of recipient domains (RFC 8461), for all delivery machines: one holds for as long as it says, and
-- whoever restarts must not be led to believe that there never was one. They are about strangers and of no workspace.
create table sts_policies (
  domain text primary key,
  -- That of the DNS record under which it was fetched.
  id text not null,
  mode text not null check (mode in ('enforce', 'testing', 'none')),
  mx text[] not null,
  max_age_seconds integer not null,
  fetched_at timestamptz not null
);
