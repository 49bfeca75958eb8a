-- Pages with their filters, saved by a person or an API key, for themselves or for everyone in the workspace.
create table saved_views (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  owner_id uuid not null, -- a user or an API key; there is no foreign key, because shared views outlive their owner
  owner_name text not null,
  page_name text not null,
  name text not null,
  state text not null,
  is_shared boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  primary key (workspace_id, id)
);
create index saved_views_of_owner on saved_views (workspace_id, owner_id);
