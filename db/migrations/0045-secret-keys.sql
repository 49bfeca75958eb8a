-- The secret keys of the installation, each as a one-way fingerprint. Those that are not retired are needed: something
-- that they sealed or signed may still be in use, so a machine starts with all of them or not at all.
create table secret_keys (
  fingerprint bytea primary key,
  added_at timestamptz not null default now(),
  -- Processes whose first key it is renew this while they run.
  last_used_at timestamptz,
  retired_at timestamptz
);
insert into secret_keys (fingerprint, last_used_at) select fingerprint, now() from secret_key_fingerprint;
drop table secret_key_fingerprint;

-- Which keys the running processes have, in the order of their rings: a key must not seal anything before all of them
-- can open it. A process renews its row while it runs and removes it when it stops.
create table secret_key_rings (
  process_id uuid primary key,
  host text not null,
  pid integer not null,
  fingerprints bytea[] not null,
  seen_at timestamptz not null default now()
);
