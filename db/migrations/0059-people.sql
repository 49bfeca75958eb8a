-- People who sign in. Users and their sessions belong to the installation, members and roles to a workspace (memberships are
-- those of subscribers in lists).
create table users (
  id uuid primary key,
  email text not null unique, -- normalised: the address that the person types at sign-in
  name text not null,
  password_hash text, -- null: signs in with a passkey or by single sign-on
  language text, -- BCP 47
  timezone text, -- IANA name
  preferences jsonb not null default '{}', -- of the console: theme, density, columns
  is_operator boolean not null default false, -- may suspend workspaces, credit accounts, change plans
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

create table roles (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  permissions text[] not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, name)
);

create table workspace_members (
  workspace_id uuid not null references workspaces (id),
  user_id uuid not null references users (id) on delete cascade,
  built_in_role text,
  role_id uuid,
  created_at timestamptz not null default now(),
  primary key (workspace_id, user_id),
  foreign key (workspace_id, role_id) references roles (workspace_id, id),
  check (num_nonnulls(built_in_role, role_id) = 1)
);
create index workspace_members_of_user on workspace_members (user_id);
create index workspace_members_of_role on workspace_members (workspace_id, role_id) where role_id is not null;

create table sessions (
  token_hash bytea primary key, -- SHA-256 of the token in the cookie
  id uuid not null unique,
  user_id uuid not null references users (id) on delete cascade,
  has_second_factor boolean not null,
  ip text not null,
  agent text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  confirmed_at timestamptz not null default now() -- of the last proof of identity
);
create index sessions_of_user on sessions (user_id, seen_at desc);
create index sessions_by_end on sessions (expires_at);

alter table workspaces add column requires_second_factor boolean not null default false;
