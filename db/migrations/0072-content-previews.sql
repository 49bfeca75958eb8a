-- Previews of mails, for the minutes in which their addresses work. Unlogged: they are written with every change in an editor,
-- and after a crash of the database an editor makes new ones.
create unlogged table content_previews (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  light text not null,
  dark text not null,
  expires_at timestamptz not null,
  primary key (workspace_id, id)
);
create index content_previews_by_end on content_previews (expires_at);
