-- The languages that recipients read: of a workspace, of a list (null: the workspace's), and of a recipient, whose
-- custom field names it. The service knows which languages there are.
alter table workspaces
  add column language text not null default 'en',
  add column language_field text;
alter table mailing_lists add column language text;

-- Texts of pages and mails with which a workspace replaces those of the service.
create table replaced_texts (
  workspace_id uuid not null references workspaces (id),
  language text not null,
  key text not null,
  text text not null,
  updated_at timestamptz not null,
  primary key (workspace_id, language, key)
);
