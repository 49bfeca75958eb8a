-- Pictures that mail shows, as they are served: written again by the service, which knows their kind and size.
create table media (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  alt_text text not null,
  kind text not null check (kind in ('png', 'jpeg', 'gif', 'webp')),
  width integer not null,
  height integer not null,
  frames integer not null,
  bytes integer not null,
  -- Of the uploaded file: the same file is stored once.
  source_sha256 bytea not null,
  -- Of the content.
  sha256 bytea not null,
  content bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, source_sha256)
);
-- Pictures are compressed already, and parts of an uncompressed value are read without the rest.
alter table media alter column content set storage external;
-- The measure of storage adds up the sizes of all pictures of a workspace, from this index alone.
create index media_sizes on media (workspace_id) include (bytes);

-- The pictures that the HTML shows.
alter table campaigns add column media_ids uuid[] not null default '{}';
create index campaigns_with_media on campaigns using gin (media_ids) where media_ids <> '{}';
alter table autoresponder_contents add column media_ids uuid[] not null default '{}';
create index autoresponder_contents_with_media on autoresponder_contents using gin (media_ids)
  where media_ids <> '{}';
