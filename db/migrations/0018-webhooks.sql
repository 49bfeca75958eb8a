create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  url text not null,
  -- Types of events; '*' alone for all.
  events text[] not null,
  description text,
  is_active boolean not null,
  -- Why the service switched it off; null when it did not.
  disabled_reason text,
  -- Deliveries that were given up since the last one that arrived.
  consecutive_failures integer not null default 0,
  -- AES-256-GCM, bound to the row.
  secret bytea not null,
  -- The secret before the last rotation: signs as well until the moment beside it.
  previous_secret bytea,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- It is gone for everybody; the row stays until its deliveries have been removed.
  deleted_at timestamptz,
  -- What needs a hand is derived from what is stored. These columns keep when a cause began, where it was not stored.
  -- the first delivery given up since the last successful one
  failing_since timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id)
);
create index webhooks_deleted on webhooks (deleted_at) where (deleted_at is not null);

-- The outbox and its log in one: a row for each event and receiver, written with what happened. No foreign key on
-- webhooks: a receiver that is being deleted must not fail the transaction of a message.
create table webhook_deliveries (
  workspace_id uuid not null,
  webhook_id uuid not null,
  -- Of the event: receivers of the same event have the same. It is the header webhook-id.
  id uuid not null,
  type text not null,
  -- As it is sent; json keeps the text.
  body json not null,
  status text not null default 'pending',
  -- All that were made, and those of the present round of retries.
  attempts integer not null default 0,
  tries smallint not null default 0,
  next_attempt_at timestamptz,
  -- Who makes an attempt holds the highest number, until this moment.
  lease_number integer not null default 0,
  leased_until timestamptz,
  -- Of the last attempt.
  attempted_at timestamptz,
  status_code smallint,
  error text,
  duration_ms integer,
  created_at timestamptz not null,
  -- What the receiver answered last: { content_type, body, is_cut }.
  answer jsonb,
  primary key (workspace_id, webhook_id, id),
  check (status in ('pending', 'delivered', 'failed'))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index webhook_deliveries_due on webhook_deliveries (workspace_id, webhook_id, next_attempt_at) where (status = 'pending'::text);
create index webhook_deliveries_leased on webhook_deliveries (leased_until) where (leased_until is not null);
-- Nearly all were delivered, and are found by way of the primary key.
create index webhook_deliveries_by_status on webhook_deliveries (workspace_id, webhook_id, status, id) where (status <> 'delivered'::text);
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
-- The deliveries of one event, in the order of the list.
create index webhook_deliveries_by_type on webhook_deliveries (workspace_id, webhook_id, type, id);
