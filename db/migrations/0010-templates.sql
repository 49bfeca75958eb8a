-- A template of mails, or a layout that wraps templates. Its content is in template_versions.
create table templates (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  name text not null,
  -- Values for previews and tests, as an object. json keeps escaped characters that jsonb refuses.
  test_data json not null,
  -- The present version.
  version integer not null,
  -- The layout of the present version.
  layout_id uuid,
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, layout_id) references templates (workspace_id, id),
  check (kind in ('mail', 'layout'))
);
create index templates_by_layout on templates (workspace_id, layout_id) where layout_id is not null;

-- A version of a template, which never changes. The body is in html_content, mjml or design as its author wrote it, and
-- compiled_html is sent.
create table template_versions (
  workspace_id uuid not null,
  template_id uuid not null,
  version integer not null,
  id uuid not null,
  cause text not null,
  format text not null,
  -- Empty in layouts.
  subject text not null,
  preheader text,
  html_content text,
  mjml text,
  design json,
  text_content text,
  -- The layout may be deleted, unless the version is the present one.
  layout_id uuid,
  compiled_html text not null,
  warnings jsonb not null,
  -- Name of the person or API key.
  created_by text not null,
  created_at timestamptz not null,
  -- The pictures in the compiled HTML.
  media_ids uuid[] not null default '{}',
  primary key (workspace_id, template_id, version),
  unique (workspace_id, id),
  foreign key (workspace_id, template_id) references templates (workspace_id, id) on delete cascade,
  check (cause in ('created', 'changed', 'restored', 'layout_changed')),
  check (format in ('html', 'mjml', 'design'))
);
create index template_versions_with_media on template_versions using gin (media_ids) where media_ids <> '{}';

-- A picture for mails. The service encodes every uploaded picture again, so its kind and size are known.
create table media (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  alt_text text not null,
  kind text not null,
  width integer not null,
  height integer not null,
  frames integer not null,
  bytes integer not null,
  -- SHA-256 of the uploaded file. The same file is stored once.
  source_sha256 bytea not null,
  -- SHA-256 of the content.
  sha256 bytea not null,
  content bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, source_sha256),
  foreign key (workspace_id) references workspaces (id),
  check (kind in ('png', 'jpeg', 'gif', 'webp'))
);
alter table media alter column content set storage external;
-- The storage of a workspace is measured by an index-only scan of the sizes.
create index media_sizes on media (workspace_id) include (bytes);

alter table brands add foreign key (workspace_id, logo_media_id) references media (workspace_id, id);
