-- Links that show one report, or the DNS records of one domain, to people without an account.
create table share_links (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  token_hash bytea not null, -- SHA-256; the token begins with the workspace's id
  kind text not null check (kind in ('campaign_report', 'dns_records')),
  resource_id uuid not null,
  name text not null, -- of the resource, when the link was made
  password_hash text, -- Argon2id; null: the link alone opens it
  created_by text not null, -- name of the person or API key
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  view_count integer not null default 0,
  last_viewed_at timestamp with time zone,
  primary key (workspace_id, id),
  unique (workspace_id, token_hash)
);
