-- Templates of mail, and layouts that wrap them. Their content is in versions, which never change.
create table templates (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  kind text not null check (kind in ('mail', 'layout')),
  name text not null,
  test_data json not null, -- an object: values for previews and tests; json keeps any escaped character
  version integer not null, -- the present one
  layout_id uuid, -- that of the present version
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, layout_id) references templates (workspace_id, id)
);
create index templates_by_layout on templates (workspace_id, layout_id) where layout_id is not null;

-- The body is in html_content, mjml or design, as its author wrote it; compiled_html is what is sent.
create table template_versions (
  workspace_id uuid not null,
  template_id uuid not null,
  version integer not null,
  id uuid not null,
  cause text not null check (cause in ('created', 'changed', 'restored', 'layout_changed')),
  format text not null check (format in ('html', 'mjml', 'design')),
  subject text not null, -- empty in layouts
  preheader text,
  html_content text,
  mjml text,
  design json,
  text_content text,
  layout_id uuid, -- may be deleted since, unless the version is the present one
  compiled_html text not null,
  warnings jsonb not null,
  created_by text not null, -- name of the person or API key
  created_at timestamptz not null,
  primary key (workspace_id, template_id, version),
  unique (workspace_id, id),
  foreign key (workspace_id, template_id) references templates (workspace_id, id) on delete cascade
);
