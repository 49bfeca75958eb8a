-- The audit log: who changed what. The time of an event is that of its id. Events of the installation itself, such as
-- sign-ins, have the nil UUID as their workspace. There are no foreign keys: events outlive what they name.
create table audit_events (
  workspace_id uuid not null,
  id uuid not null,
  actor_kind text not null check (actor_kind in ('key', 'person', 'system', 'visitor')),
  actor_id uuid, -- null: the command line, or nobody known
  actor_name text not null,
  operation text not null,
  resource_kind text not null,
  resource_id uuid,
  resource_name text,
  result text not null check (result in ('done', 'refused')),
  code text, -- of the refusal
  changes jsonb not null,
  ip text,
  agent text,
  request_id text,
  primary key (workspace_id, id)
);
create index audit_events_by_actor on audit_events (workspace_id, actor_id, id);
create index audit_events_by_operation on audit_events (workspace_id, operation, id);
create index audit_events_by_resource on audit_events (workspace_id, resource_kind, resource_id, id);
create index audit_events_by_time on audit_events (id);

-- Append only: events are inserted, and deleted when their time is over.
create function refuse_audit_update() returns trigger language plpgsql as $$
begin
  raise exception 'audit events are never changed';
end $$;
create trigger audit_events_append_only before update on audit_events
  for each statement execute function refuse_audit_update();
