-- Invitations to a workspace. The link in the mail has a token, of which only the SHA-256 is stored.
create table invitations (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  email text not null, -- normalised
  built_in_role text,
  role_id uuid,
  token_hash bytea not null,
  invited_by uuid, -- a user; null: an API key invited
  invited_by_name text not null,
  created_at timestamptz not null,
  sent_at timestamptz not null, -- of the newest mail
  expires_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, email),
  foreign key (workspace_id, role_id) references roles (workspace_id, id),
  check (num_nonnulls(built_in_role, role_id) = 1)
);
create index invitations_by_token on invitations (token_hash);
create index invitations_by_end on invitations (expires_at);
create index invitations_of_role on invitations (workspace_id, role_id) where role_id is not null;

alter table roles add column description text not null default '';

-- A cap that the workspace sets itself; the lower of it and hourly_cap, which is the operator's, applies.
alter table workspaces add column own_hourly_cap integer check (own_hourly_cap > 0);

-- Credits that operators record over HTTP, by a reference of theirs, so that a repeated request does not credit twice.
create table operator_credits (
  workspace_id uuid not null references workspaces (id),
  reference text not null,
  transaction_id uuid not null,
  amount numeric(20, 6) not null,
  primary key (workspace_id, reference)
);
