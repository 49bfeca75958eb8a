-- Who may be written in From: sending domains with their DKIM keys, and single verified senders.

create table sending_domains (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Lower-case A-labels.
  domain text not null,
  verification_token text not null,
  is_active boolean not null default true,
  is_verified boolean not null default false,
  spf_verified boolean not null default false,
  dkim_verified boolean not null default false,
  dmarc_verified boolean not null default false,
  verified_at timestamptz,
  custom_return_path boolean not null default false,
  return_path_verified boolean not null default false,
  dmarc_ingestion boolean not null default false,
  dmarc_token text not null,
  checked_at timestamptz,
  -- The automatic re-check in a row: { "ownership": { "count": 2, "since": "…" }, … }. DNS faults do not count.
  failed_checks jsonb not null default '{}',
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, domain)
);

-- The order of the automatic re-check; a new domain's turn comes a day after it was added.
create index sending_domains_by_check on sending_domains (coalesce(checked_at, created_at));

-- The workspace that proved ownership holds the domain; any other one's verification is a conflict.
create table domain_claims (
  domain text primary key,
  workspace_id uuid not null references workspaces (id),
  claimed_at timestamptz not null default now()
);

create table dkim_keys (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  domain text not null,
  selector text not null,
  bits smallint not null,
  -- Base64 of the SubjectPublicKeyInfo, as in the p= tag.
  public_key text not null,
  -- PKCS #8 under AES-256-GCM, bound to this row's id.
  private_key bytea not null,
  -- Made with the domain; signs until another key's record has been seen.
  is_automatic boolean not null default false,
  -- Null: its record is not in the DNS, as far as we know.
  verified_at timestamptz,
  -- As in sending_domains: { "count": 2, "since": "…" }.
  failed_checks jsonb,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, domain, selector),
  -- Deleting a domain destroys its keys.
  foreign key (workspace_id, domain) references sending_domains (workspace_id, domain) on delete cascade
);

create table verified_senders (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Lower-case.
  email text not null,
  from_name text not null default '',
  is_verified boolean not null default false,
  verified_at timestamptz,
  token_expires_at timestamptz not null,
  -- Counts the links sent: only the newest one works.
  token_number integer not null default 1,
  link_sent_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, email)
);

-- Confirmation mails of the last day: what limits them, and outlives a sender that was deleted.
create table confirmation_mails (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- The recipient, lower-case and without the tag behind a plus sign.
  mailbox text not null,
  sent_at timestamptz not null,
  primary key (workspace_id, id)
);

create index confirmation_mails_by_mailbox on confirmation_mails (mailbox, sent_at);
