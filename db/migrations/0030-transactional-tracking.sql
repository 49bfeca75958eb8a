-- Whether opens and clicks of mail that came over the API by itself are recorded.
alter table workspaces add column tracks_transactional boolean not null default false;
