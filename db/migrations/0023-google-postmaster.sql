-- What Google Postmaster Tools says about verified sending domains.

create table postmaster_domains (
  workspace_id uuid not null references workspaces (id),
  domain text not null,
  -- When Google is to be asked next.
  due_at timestamptz not null,
  -- The account has the domain at Google; there may still be no figures.
  is_registered boolean not null default false,
  -- The newest day that Google has figures of, and what it has of that day: parts of 1.
  day date,
  spam_rate double precision,
  spf_success_rate double precision,
  dkim_success_rate double precision,
  dmarc_success_rate double precision,
  encryption_rate double precision,
  delivery_error_rate double precision,
  primary key (workspace_id, domain),
  foreign key (workspace_id, domain) references sending_domains (workspace_id, domain) on delete cascade
);

-- One row for the installation: whether Google took the credentials when it last said anything about them.
create table postmaster_standing (
  only_row boolean primary key default true check (only_row),
  is_authorised boolean not null,
  told_at timestamptz not null
);
