-- What API keys asked in the last seven days. The time of a request is that of its id. There are no foreign keys: rows
-- are written in bulk, and outlive their key.
create table api_requests (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  operation text, -- null: a path that does not exist
  status smallint not null,
  ms integer not null,
  request_id text not null,
  left_out integer not null default 0, -- requests of the same kind before it that were not recorded
  primary key (workspace_id, id)
);
create index api_requests_of_key on api_requests (workspace_id, key_id, id);
create index api_requests_by_time on api_requests (id);
