-- A webhook: a URL that receives events of a workspace.
create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  url text not null,
  -- Types of events; '*' alone stands for all.
  events text[] not null,
  description text,
  is_active boolean not null,
  -- Why the service disabled the webhook; null: it did not.
  disabled_reason text,
  -- Deliveries that failed after all attempts since the last successful one.
  consecutive_failures integer not null default 0,
  -- AES-256-GCM, bound to the row.
  secret bytea not null,
  -- The secret before the last rotation. Requests are signed with both until previous_secret_until.
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the webhook was deleted. The row is hidden, and stays until its deliveries are removed.
  deleted_at timestamptz,
  -- The first failed delivery after the last successful one, for notices.
  failing_since timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;

-- A delivery of an event to a webhook. The row is written in the transaction of the event, and is the log of the
-- delivery later. There is no foreign key on webhooks: the deletion of a webhook must not fail the transaction of a
-- message.
create table webhook_deliveries (
  workspace_id uuid not null,
  webhook_id uuid not null,
  -- The id of the event, which all of its deliveries have. It is the header webhook-id.
  id uuid not null,
  type text not null,
  -- The body of the request. json keeps its text.
  body json not null,
  status text not null default 'pending',
  -- All attempts; `tries` are those of the present round of retries.
  attempts integer not null default 0,
  tries smallint not null default 0,
  next_attempt_at timestamptz,
  -- Rises with every lease. Only the holder of the newest lease may write a result, until leased_until.
  lease_number integer not null default 0,
  leased_until timestamptz,
  -- attempted_at, status_code, error and duration_ms describe the last attempt.
  attempted_at timestamptz,
  status_code smallint,
  error text,
  duration_ms integer,
  created_at timestamptz not null,
  -- The last answer of the receiver: { content_type, body, is_cut }.
  answer jsonb,
  primary key (workspace_id, webhook_id, id),
  check (status in ('pending', 'delivered', 'failed'))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index webhook_deliveries_due on webhook_deliveries (workspace_id, webhook_id, next_attempt_at)
  where status = 'pending';
create index webhook_deliveries_leased on webhook_deliveries (leased_until) where leased_until is not null;
-- Nearly all deliveries were successful. The primary key finds these.
create index webhook_deliveries_by_status on webhook_deliveries (workspace_id, webhook_id, status, id)
  where status <> 'delivered';
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
-- Deliveries of one type of event, in the order of the list.
create index webhook_deliveries_by_type on webhook_deliveries (workspace_id, webhook_id, type, id);
