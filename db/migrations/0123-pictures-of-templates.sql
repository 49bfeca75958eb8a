-- The pictures that the compiled HTML shows.
alter table template_versions add column media_ids uuid[] not null default '{}';
create index template_versions_with_media on template_versions using gin (media_ids) where media_ids <> '{}';
