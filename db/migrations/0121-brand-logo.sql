-- The logo is a picture of the workspace. The path is that of its address, which is the same on every host.
alter table brands
  add column logo_media_id uuid,
  add column logo_path text,
  add foreign key (workspace_id, logo_media_id) references media (workspace_id, id);
