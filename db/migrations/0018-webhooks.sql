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
-- Nearly all deliveries were successful. The primary key finds these.
create index webhook_deliveries_by_status on webhook_deliveries (workspace_id, webhook_id, status, id)
  where status <> 'delivered';
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
-- Deliveries of one type of event, in the order of the list.
create index webhook_deliveries_by_type on webhook_deliveries (workspace_id, webhook_id, type, id);

-- An attempt in progress, or one that a killed process left behind. A delivery has at most one lease.
create table webhook_leases (
  workspace_id uuid not null,
  webhook_id uuid not null,
  delivery_id uuid not null,
  -- Which lease it is: only its holder may write the result.
  lease_id uuid not null,
  -- From then on another sender may lease the delivery.
  leased_until timestamptz not null,
  primary key (workspace_id, webhook_id, delivery_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
-- Finds leases under way without passing over the dead ones that a long transaction keeps, but for those of the last minute.
create index webhook_leases_under_way on webhook_leases (workspace_id, leased_until);

-- The line of workspaces whose deliveries are to be made: a sender looks at the workspace whose turn_at is smallest. A
-- transaction that makes deliveries due does not write here but into webhook_turn_requests, because it would wait for the
-- locks of senders and of other such transactions.
create table webhook_turns (
  workspace_id uuid not null,
  -- When a sender looks next; infinity: not before a request.
  turn_at timestamptz not null,
  -- Since when the oldest delivery has been due that the last look left in the line; null: it left none.
  due_at timestamptz,
  primary key (workspace_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
create index webhook_turns_in_line on webhook_turns (turn_at);

-- A delivery of this workspace became due, or becomes due at this time.
create table webhook_turn_requests (
  workspace_id uuid not null,
  id bigint generated always as identity not null,
  due_at timestamptz not null,
  primary key (workspace_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index webhook_turn_requests_in_order on webhook_turn_requests (id);
