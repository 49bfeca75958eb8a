create table workspaces (
  id uuid not null,
  name text not null,
  timezone text not null default 'UTC',
  plan text not null default 'free',
  -- Most messages an hour; null: no cap.
  hourly_cap integer,
  is_suspended boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Where the service writes to about what a workspace ought to know; null: nowhere.
  notify_email text,
  default_sender text,
  retry_hours smallint not null default 72,
  -- Whether opens and clicks of mail that came over the API by itself are recorded.
  tracks_transactional boolean not null default false,
  requires_second_factor boolean not null default false,
  -- A cap that the workspace sets itself; the lower of it and hourly_cap, which is the operator's, applies.
  own_hourly_cap integer,
  -- The languages that recipients read: of a workspace, of a list (null: the workspace's), and of a recipient, whose
  -- custom field names it. The service knows which languages there are.
  language text not null default 'en',
  language_field text,
  primary key (id),
  check (hourly_cap > 0),
  check ((retry_hours >= 1) and (retry_hours <= 168)),
  check (own_hourly_cap > 0)
);

-- What pages and mails show of a workspace. Colours are #rrggbb.
create table brands (
  workspace_id uuid not null,
  display_name text,
  website text,
  accent_color text,
  background_color text,
  text_color text,
  footer_text text,
  postal_address text,
  updated_at timestamptz not null,
  -- The logo is a picture of the workspace. The path is that of its address, which is the same on every host.
  logo_media_id uuid,
  logo_path text,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);

-- The id of a notice names its cause, so that a dismissal does not cover the next one.
create table notice_dismissals (
  workspace_id uuid not null,
  notice_id uuid not null,
  dismissed_at timestamptz not null,
  -- name of the API key or person
  dismissed_by text not null,
  primary key (workspace_id, notice_id),
  foreign key (workspace_id) references workspaces (id)
);

-- Texts of pages and mails with which a workspace replaces those of the service.
create table replaced_texts (
  workspace_id uuid not null,
  language text not null,
  key text not null,
  text text not null,
  updated_at timestamptz not null,
  primary key (workspace_id, language, key),
  foreign key (workspace_id) references workspaces (id)
);

-- Pages with their filters, saved by a person or an API key, for themselves or for everyone in the workspace.
create table saved_views (
  workspace_id uuid not null,
  id uuid not null,
  -- a user or an API key; there is no foreign key, because shared views outlive their owner
  owner_id uuid not null,
  owner_name text not null,
  page_name text not null,
  name text not null,
  state text not null,
  is_shared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index saved_views_of_owner on saved_views (workspace_id, owner_id);
