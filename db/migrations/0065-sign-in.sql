-- Ways to sign in. All belong to people, and so to the installation; none has a workspace.

-- Links that work once: in mails, and on the terminal of the operator.
create table account_links (
  token_hash bytea primary key, -- SHA-256 of the token in the link
  purpose text not null check (purpose in ('first_owner', 'set_password', 'change_email')),
  user_id uuid references users (id) on delete cascade, -- null: of the first owner, who does not exist yet
  email text, -- of a change: the new address
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((user_id is null) = (purpose = 'first_owner')),
  check ((email is not null) = (purpose = 'change_email'))
);
create index account_links_of_user on account_links (user_id, purpose);
create index account_links_by_end on account_links (expires_at);

-- Sign-ins and confirmations that wait for their second step.
create table sign_in_challenges (
  token_hash bytea primary key, -- SHA-256 of the token that the client sends back
  purpose text not null check (purpose in ('second_factor', 'passkey_sign_in', 'confirmation', 'passkey_enrolment')),
  user_id uuid references users (id) on delete cascade, -- null: a passkey will name the person
  webauthn_challenge text not null,
  tries integer not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((user_id is null) = (purpose = 'passkey_sign_in'))
);
create index sign_in_challenges_of_user on sign_in_challenges (user_id);
create index sign_in_challenges_by_end on sign_in_challenges (expires_at);

-- Token buckets of attempts to sign in: of an address, a network or a known browser. The bucket is full at that time.
create table attempt_buckets (
  bucket text primary key,
  full_at timestamptz not null
);
create index attempt_buckets_by_time on attempt_buckets (full_at);

-- Browsers from which people have signed in, by a cookie.
create table known_browsers (
  token_hash bytea not null, -- SHA-256 of the token in the cookie
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  primary key (token_hash, user_id)
);
create index known_browsers_of_user on known_browsers (user_id, seen_at desc);
create index known_browsers_by_time on known_browsers (seen_at);

-- Authenticator apps (TOTP, RFC 6238).
create table authenticator_apps (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  secret bytea not null, -- sealed with the secret key
  last_step bigint, -- of the last code that was accepted: no code works twice
  created_at timestamptz not null default now(),
  confirmed_at timestamptz, -- null: being set up, not in use yet
  last_used_at timestamptz
);
create index authenticator_apps_of_user on authenticator_apps (user_id);
create index authenticator_apps_being_set_up on authenticator_apps (created_at) where confirmed_at is null;

-- Passkeys (WebAuthn).
create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  credential_id text not null unique, -- Base64url, chosen by the authenticator
  public_key bytea not null, -- COSE
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_of_user on passkeys (user_id);

create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  code_hash bytea not null, -- SHA-256: a code has 80 random bits
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- Accounts at an OpenID provider. The address there proves nothing.
create table external_accounts (
  issuer text not null,
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index external_accounts_of_user on external_accounts (user_id);

alter table users add column theme text check (theme in ('light', 'dark')); -- null: that of the system
