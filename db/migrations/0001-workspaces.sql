-- Text is compared without regard to case letter by letter, on every machine alike, whatever locale the database has.
-- PostgreSQL 16 has no collation of its own for that and takes that of ICU.
do $$ begin
  if current_setting('server_version_num')::int >= 170000 then
    create collation case_folding (provider = builtin, locale = 'C.UTF-8');
  else
    create collation case_folding (provider = icu, locale = 'und');
  end if;
end $$;

-- A workspace is a tenant: its data is separate from that of all other workspaces.
create table workspaces (
  id uuid not null,
  name text not null,
  timezone text not null default 'UTC',
  plan text not null default 'free',
  -- Most messages an hour, set by the operator; null: no cap.
  hourly_cap integer,
  is_suspended boolean not null default false,
  -- Since when the workspace is suspended; null while it is not.
  suspended_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Address for notices of the service to the workspace; null: no notices are mailed.
  notify_email text,
  default_sender text,
  -- How long delivery attempts of a message go on.
  retry_hours smallint not null default 72,
  -- Whether opens and clicks of mail sent with POST /emails are recorded.
  tracks_transactional boolean not null default false,
  requires_second_factor boolean not null default false,
  -- Most messages an hour, set by the workspace itself. The lower of both caps applies.
  own_hourly_cap integer,
  -- The language of texts for recipients, unless the list or the recipient has another one.
  language text not null default 'en',
  -- The custom field that holds a recipient's language; null: none.
  language_field text,
  primary key (id),
  check (hourly_cap > 0),
  check (retry_hours between 1 and 168),
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
  -- The logo is a picture of the workspace.
  logo_media_id uuid,
  -- The path of the logo's URL, which is the same on every host.
  logo_path text,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
);

-- A notice that a person or API key has dismissed for the workspace. The id of a notice is a hash of its cause, so a
-- dismissal does not hide a later notice with another cause.
create table notice_dismissals (
  workspace_id uuid not null,
  notice_id uuid not null,
  dismissed_at timestamptz not null,
  -- Name of the person or API key.
  dismissed_by text not null,
  primary key (workspace_id, notice_id),
  foreign key (workspace_id) references workspaces (id)
);

-- A wording with which a workspace replaces a text of the service, in one language.
create table replaced_texts (
  workspace_id uuid not null,
  language text not null,
  key text not null,
  text text not null,
  updated_at timestamptz not null,
  primary key (workspace_id, language, key),
  foreign key (workspace_id) references workspaces (id)
);

-- A saved view: a page with its filters, for its owner alone or for the whole workspace.
create table saved_views (
  workspace_id uuid not null,
  id uuid not null,
  -- A user or an API key. There is no foreign key, because shared views outlive their owner.
  owner_id uuid not null,
  owner_name text not null,
  page_name text not null,
  name text not null,
  -- The filters as the client wrote them. The service does not read them.
  state text not null,
  is_shared boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index saved_views_of_owner on saved_views (workspace_id, owner_id);
