-- A domain that a workspace sends from, with the state of its DNS records.
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
  -- Consecutive failures of the automatic check: { "ownership": { "count": 2, "since": "…" }, … }. DNS errors do not
  -- count.
  failed_checks jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- Since when the DKIM record has been verified.
  dkim_verified_at timestamptz,
  -- Since when the DMARC record has been verified.
  dmarc_verified_at timestamptz,
  -- Verifications that the domain has lost: the name of the check, and since when its record is missing.
  lost_checks jsonb not null default '{}',
  primary key (workspace_id, id),
  unique (workspace_id, domain),
  foreign key (workspace_id) references workspaces (id)
);
-- The order of the automatic check. A new domain is checked again a day after it was added.
create index sending_domains_by_check on sending_domains (coalesce(checked_at, created_at));
-- The address that a DMARC report is sent to contains only this token.
create index sending_domains_by_dmarc_token on sending_domains (dmarc_token);

-- The workspace that has proved ownership of a domain. Verification by another workspace is a conflict.
create table domain_claims (
  domain text not null,
  workspace_id uuid not null,
  claimed_at timestamptz not null default now(),
  primary key (domain),
  foreign key (workspace_id) references workspaces (id)
);

-- The operator's switch of a domain. It does not depend on the rows of workspaces, and applies to workspaces that add
-- the domain later.
create table domain_switches (
  -- Lower-case A-labels.
  domain text not null,
  -- Null: it applies to every workspace without a row of its own.
  workspace_id uuid,
  is_active boolean not null,
  unique nulls not distinct (domain, workspace_id),
  foreign key (workspace_id) references workspaces (id)
);

-- A DKIM key of a sending domain.
create table dkim_keys (
  workspace_id uuid not null,
  id uuid not null,
  domain text not null,
  selector text not null,
  bits smallint not null,
  -- Base64 of the SubjectPublicKeyInfo, as in the p= tag.
  public_key text not null,
  -- PKCS #8 under AES-256-GCM, bound to the id of the row.
  private_key bytea not null,
  -- Whether the key was created with the domain. It signs until the record of another key is verified.
  is_automatic boolean not null default false,
  -- Null: the DNS record was not found.
  verified_at timestamptz,
  -- Consecutive failures of the automatic check: { "count": 2, "since": "…" }.
  failed_checks jsonb,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, domain, selector),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, domain) references sending_domains (workspace_id, domain) on delete cascade
);

-- A single address that a workspace may send from, once its owner has followed the link in a mail.
create table verified_senders (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower case.
  email text not null,
  from_name text not null default '',
  is_verified boolean not null default false,
  verified_at timestamptz,
  token_expires_at timestamptz not null,
  -- Number of the newest link. Only that one works.
  token_number integer not null default 1,
  link_sent_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, email),
  foreign key (workspace_id) references workspaces (id)
);

-- A confirmation mail of the last day. The rows are counted for a limit, which also counts mail to a sender that was
-- deleted.
create table confirmation_mails (
  workspace_id uuid not null,
  id uuid not null,
  -- The recipient, in lower case and without the tag after a plus sign.
  mailbox text not null,
  sent_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index confirmation_mails_by_mailbox on confirmation_mails (mailbox, sent_at);

-- A host name of a workspace for the links, images and pages of its mail.
create table tracking_domains (
  workspace_id uuid not null,
  id uuid not null,
  -- Lower-case A-labels. It is a subdomain, because it needs a CNAME record.
  domain text not null,
  -- Whether the last check that got an answer from the DNS found the CNAME. Links use only verified domains.
  is_verified boolean not null default false,
  verified_at timestamptz,
  checked_at timestamptz,
  created_at timestamptz not null,
  -- Why HTTPS requests to the domain fail, as far as the service can tell; null: no fault is known.
  https_fault text,
  primary key (workspace_id, id),
  unique (workspace_id, domain),
  foreign key (workspace_id) references workspaces (id)
);
-- Requests to a verified tracking domain reach only tracking routes. One workspace at a time has a verified name.
create unique index tracking_domains_by_name on tracking_domains (domain) where is_verified;
-- The order of the automatic check.
create index tracking_domains_by_check on tracking_domains (coalesce(checked_at, created_at));
