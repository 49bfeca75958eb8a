-- A person who signs in. Users and their sessions belong to the installation, members and roles to a workspace.
-- Subscribers are no users.
create table users (
  id uuid not null,
  -- The normalised address that the person types at sign-in.
  email text not null,
  name text not null,
  -- Argon2id. Null: the person signs in with a passkey or by single sign-on.
  password_hash text,
  -- BCP 47 tag.
  language text,
  -- IANA name.
  timezone text,
  -- Settings of the console, such as density and columns.
  preferences jsonb not null default '{}',
  -- An operator may suspend workspaces, credit accounts and change plans.
  is_operator boolean not null default false,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  -- Null: the theme of the operating system.
  theme text,
  primary key (id),
  unique (email),
  check (theme in ('light', 'dark'))
);

-- A set of permissions that a workspace has defined itself.
create table roles (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  created_at timestamptz not null default now(),
  description text not null default '',
  primary key (workspace_id, id),
  unique (workspace_id, name),
  foreign key (workspace_id) references workspaces (id)
);

-- A user's membership in a workspace, with a built-in role or one of the workspace.
create table workspace_members (
  workspace_id uuid not null,
  user_id uuid not null,
  built_in_role text,
  role_id uuid,
  created_at timestamptz not null default now(),
  -- The last request, to the hour; null: none is recorded.
  last_seen_at timestamptz,
  primary key (workspace_id, user_id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (user_id) references users (id) on delete cascade,
  foreign key (workspace_id, role_id) references roles (workspace_id, id),
  check (num_nonnulls(built_in_role, role_id) = 1)
);
create index workspace_members_of_user on workspace_members (user_id);
create index workspace_members_of_role on workspace_members (workspace_id, role_id) where role_id is not null;

-- A signed-in browser of a user.
create table sessions (
  -- SHA-256 of the token in the cookie.
  token_hash bytea not null,
  id uuid not null,
  user_id uuid not null,
  has_second_factor boolean not null,
  ip text not null,
  agent text not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- When the person last proved their identity.
  confirmed_at timestamptz not null default now(),
  primary key (token_hash),
  unique (id),
  foreign key (user_id) references users (id) on delete cascade
);
create index sessions_of_user on sessions (user_id, seen_at desc);
create index sessions_by_end on sessions (expires_at);
-- An hourly task deletes sessions that have not been used for long.
create index sessions_by_use on sessions (seen_at);

-- A link that works once. It is sent by mail, or printed on the operator's terminal.
create table account_links (
  -- SHA-256 of the token in the link.
  token_hash bytea not null,
  purpose text not null,
  -- Null for the link of the first owner, who has no user yet.
  user_id uuid,
  -- The new address of a change of address.
  email text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (token_hash),
  foreign key (user_id) references users (id) on delete cascade,
  check (purpose in ('first_owner', 'set_password', 'change_email')),
  check ((user_id is null) = (purpose = 'first_owner')),
  check ((email is not null) = (purpose = 'change_email'))
);
create index account_links_of_user on account_links (user_id, purpose);
create index account_links_by_end on account_links (expires_at);

-- A sign-in or confirmation that waits for its second step.
create table sign_in_challenges (
  -- SHA-256 of the token that the client sends back.
  token_hash bytea not null,
  purpose text not null,
  -- Null for a sign-in by passkey, which names the user.
  user_id uuid,
  webauthn_challenge text not null,
  tries integer not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (token_hash),
  foreign key (user_id) references users (id) on delete cascade,
  check (purpose in ('second_factor', 'passkey_sign_in', 'confirmation', 'passkey_enrolment')),
  check ((user_id is null) = (purpose = 'passkey_sign_in'))
);
create index sign_in_challenges_of_user on sign_in_challenges (user_id);
create index sign_in_challenges_by_end on sign_in_challenges (expires_at);

-- A token bucket for sign-in attempts of an address, a network or a known browser.
create table attempt_buckets (
  bucket text not null,
  -- When the bucket is full again.
  full_at timestamptz not null,
  primary key (bucket)
);
create index attempt_buckets_by_time on attempt_buckets (full_at);

-- A browser in which a user has signed in before, recognised by a cookie.
create table known_browsers (
  -- SHA-256 of the token in the cookie.
  token_hash bytea not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (token_hash, user_id),
  foreign key (user_id) references users (id) on delete cascade
);
create index known_browsers_of_user on known_browsers (user_id, seen_at desc);
create index known_browsers_by_time on known_browsers (seen_at);

-- An authenticator app of a user (TOTP, RFC 6238).
create table authenticator_apps (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  -- Encrypted with the secret key of the installation.
  secret bytea not null,
  -- Time step of the last accepted code. No code is accepted twice.
  last_step bigint,
  created_at timestamptz not null default now(),
  -- Null: the app is being set up and cannot be used yet.
  confirmed_at timestamptz,
  last_used_at timestamptz,
  primary key (id),
  foreign key (user_id) references users (id) on delete cascade
);
create index authenticator_apps_of_user on authenticator_apps (user_id);
create index authenticator_apps_being_set_up on authenticator_apps (created_at) where confirmed_at is null;

-- A passkey of a user (WebAuthn).
create table passkeys (
  id uuid not null,
  user_id uuid not null,
  -- Base64url, chosen by the authenticator.
  credential_id text not null,
  -- COSE.
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  primary key (id),
  unique (credential_id),
  foreign key (user_id) references users (id) on delete cascade
);
create index passkeys_of_user on passkeys (user_id);

-- A code that replaces the second factor of a user once.
create table recovery_codes (
  user_id uuid not null,
  -- SHA-256. It needs no salt, because a code has 80 random bits.
  code_hash bytea not null,
  used_at timestamptz,
  primary key (user_id, code_hash),
  foreign key (user_id) references users (id) on delete cascade
);

-- An account at an OpenID provider that a user signs in with. It is found by issuer and subject, because the provider's
-- email address proves nothing.
create table external_accounts (
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (issuer, subject),
  foreign key (user_id) references users (id) on delete cascade
);
create index external_accounts_of_user on external_accounts (user_id);

-- An invitation to a workspace.
create table invitations (
  workspace_id uuid not null,
  id uuid not null,
  -- Normalised.
  email text not null,
  built_in_role text,
  role_id uuid,
  -- SHA-256 of the token in the link that was mailed.
  token_hash bytea not null,
  -- The user who sent it; null: an API key did.
  invited_by uuid,
  invited_by_name text not null,
  created_at timestamptz not null,
  -- When the last mail was sent.
  sent_at timestamptz not null,
  expires_at timestamptz not null,
  -- The API key that sent it; null: a user did, or it is unknown.
  invited_by_key uuid,
  primary key (workspace_id, id),
  unique (workspace_id, email),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, role_id) references roles (workspace_id, id),
  check (num_nonnulls(built_in_role, role_id) = 1)
);
create index invitations_by_token on invitations (token_hash);
create index invitations_by_end on invitations (expires_at);
create index invitations_of_role on invitations (workspace_id, role_id) where role_id is not null;
-- A single sign-on looks up whether an unknown address is invited.
create index invitations_by_email on invitations (email);
