-- Since when a domain has had its DKIM and DMARC records, as verified_at is for its ownership.
alter table sending_domains
  add column dkim_verified_at timestamptz,
  add column dmarc_verified_at timestamptz;

-- Of DMARC nothing older is known than the last check.
update sending_domains
set dkim_verified_at = case when dkim_verified then (
    select min(verified_at) from dkim_keys
    where dkim_keys.workspace_id = sending_domains.workspace_id and dkim_keys.domain = sending_domains.domain) end,
  dmarc_verified_at = case when dmarc_verified then coalesce(checked_at, created_at) end;
