create table sending_domains (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower-case A-labels.
  domain text not null,
  verification_token text not null,
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
  -- Since when a domain has had its DKIM and DMARC records, as verified_at is for its ownership.
  dkim_verified_at timestamptz,
  dmarc_verified_at timestamptz,
  -- Verifications that a domain had and lost: the name of the check, and since when its record was not found.
  lost_checks jsonb not null default '{}',
  primary key (workspace_id, id),
  unique (workspace_id, domain),
  foreign key (workspace_id) references workspaces (id)
);
-- The order of the automatic re-check; a new domain's turn comes a day after it was added.
create index sending_domains_by_check on sending_domains (coalesce(checked_at, created_at));
-- Reports come with this token alone.
create index sending_domains_by_dmarc_token on sending_domains (dmarc_token);

-- The workspace that proved ownership holds the domain; any other one's verification is a conflict.
create table domain_claims (
  domain text not null,
  workspace_id uuid not null,
  claimed_at timestamptz not null default now(),
  primary key (domain),
  foreign key (workspace_id) references workspaces (id)
);

-- The operator's switch of a domain outlives the rows of those who use it, and holds for whoever adds the domain later.
create table domain_switches (
  -- Lower-case A-labels.
  domain text not null,
  -- Null: of every workspace that has no row of its own.
  workspace_id uuid,
  is_active boolean not null,
  unique nulls not distinct (domain, workspace_id),
  foreign key (workspace_id) references workspaces (id)
);

create table dkim_keys (
  workspace_id uuid not null,
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
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, domain) references sending_domains (workspace_id, domain) on delete cascade
);

create table verified_senders (
  workspace_id uuid not null,
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
  unique (workspace_id, email),
  foreign key (workspace_id) references workspaces (id)
);

-- Confirmation mails of the last day: what limits them, and outlives a sender that was deleted.
create table confirmation_mails (
  workspace_id uuid not null,
  id uuid not null,
  -- The recipient, lower-case and without the tag behind a plus sign.
  mailbox text not null,
  sent_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index confirmation_mails_by_mailbox on confirmation_mails (mailbox, sent_at);

create table tracking_domains (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower-case A-labels; below a domain, for the name has to be an alias.
  domain text not null,
  -- Its CNAME was seen at the last check that the DNS answered. Links use no other.
  is_verified boolean not null default false,
  verified_at timestamptz,
  checked_at timestamptz,
  created_at timestamptz not null,
  -- Why people cannot reach a tracking domain by HTTPS, as far as that can be told from here; null: nothing is wrong.
  https_fault text,
  primary key (workspace_id, id),
  unique (workspace_id, domain),
  foreign key (workspace_id) references workspaces (id)
);
-- Whether a request came by one: then it gets tracking and nothing else. One workspace has a name at a time.
create unique index tracking_domains_by_name on tracking_domains (domain) where is_verified;
-- The order of the automatic re-check.
create index tracking_domains_by_check on tracking_domains (coalesce(checked_at, created_at));
