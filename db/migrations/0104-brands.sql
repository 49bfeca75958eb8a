-- What pages and mails show of a workspace. Colours are #rrggbb.
create table brands (
  workspace_id uuid not null primary key references workspaces (id),
  display_name text,
  website text,
  accent_color text,
  background_color text,
  text_color text,
  footer_text text,
  postal_address text,
  updated_at timestamptz not null
);
