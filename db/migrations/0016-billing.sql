-- The billing account of a workspace.
create table billing_accounts (
  workspace_id uuid not null,
  -- USD: the sum of the completed rows of billing_transactions.
  balance numeric(20,6) not null default 0,
  -- Whether the account was ever topped up. Usage beyond the allowance is then paid from the balance.
  is_prepaid boolean not null default false,
  -- Emails that allowance and balance still covered when the meter was last read; null: no limit.
  email_headroom bigint default 0,
  -- End of the period that the headroom is valid for.
  headroom_until timestamptz not null default '-infinity',
  -- Octets of message contents that could still be stored when the meter was last read; null: no limit.
  content_headroom bigint default 0,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id),
  check (balance >= 0)
);

-- The subscription of a workspace to a plan. A workspace without a row has the plan Free, also called pay as you go.
create table subscriptions (
  workspace_id uuid not null,
  plan_id text not null,
  billing_interval text not null,
  status text not null,
  -- Periods are counted from this time: after 31 January, periods begin on 28 February and 31 March.
  anchor timestamptz not null,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  cancel_at_period_end boolean not null default false,
  -- Since when the balance does not cover the renewal.
  past_due_since timestamptz,
  -- When the renewal is tried again.
  retry_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id),
  check (billing_interval in ('monthly', 'yearly')),
  check (status in ('active', 'past_due', 'suspended'))
);
create index subscriptions_by_end on subscriptions (current_period_end);
create index subscriptions_by_retry on subscriptions (retry_at) where retry_at is not null;

-- Usage since the meter was last read; below zero it is a refund. It is inserted without locks, in the transaction that
-- causes the usage.
create table meter_entries (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  kind text not null,
  quantity integer not null,
  created_at timestamptz not null,
  bytes bigint not null default 0,
  primary key (workspace_id, id),
  check (kind in ('email', 'validation', 'blacklist_check'))
);

-- Usage of one kind in an allowance period.
create table meters (
  workspace_id uuid not null,
  kind text not null,
  period_start timestamptz not null,
  used bigint not null,
  -- USD that was charged for usage beyond the allowance. Refunds do not exceed it.
  paid numeric(20,6) not null default 0,
  -- Units that a bigger plan covered earlier in the period. They stay included under a smaller plan.
  covered bigint not null default 0,
  primary key (workspace_id, kind, period_start),
  foreign key (workspace_id) references workspaces (id),
  check (paid >= 0),
  check (covered >= 0)
);

-- Usage of one kind in one hour, for hourly caps. Past hours are removed soon.
create table meter_hours (
  workspace_id uuid not null,
  kind text not null,
  hour timestamptz not null,
  used bigint not null,
  primary key (workspace_id, kind, hour),
  foreign key (workspace_id) references workspaces (id)
);
create index meter_hours_by_age on meter_hours (hour);

-- Usage of one kind on one UTC day, for statistics.
create table meter_days (
  workspace_id uuid not null,
  day date not null,
  kind text not null,
  used bigint not null,
  returned bigint not null,
  primary key (workspace_id, day, kind),
  foreign key (workspace_id) references workspaces (id)
);

-- How much of a limit a holder (a workspace, a network, a mailbox) has used in one hour or day. Rows of past windows
-- are removed.
create table quota_uses (
  limit_name text not null,
  holder text not null,
  ends_at timestamptz not null,
  used bigint not null,
  primary key (limit_name, holder, ends_at)
);
create index quota_uses_ended on quota_uses (ends_at);

-- A row of the ledger. Amounts that increase the balance are above zero.
create table billing_transactions (
  workspace_id uuid not null,
  -- UUID of version 7.
  id uuid not null,
  gateway text,
  transaction_type text not null,
  amount numeric(20,6) not null,
  currency text not null default 'USD',
  status text not null,
  -- Null until the transaction is completed.
  receipt_number text,
  description text not null,
  -- Usage and refunds: the kind of usage, its quantity and its day. There is one row a day, kind and rate.
  kind text,
  quantity bigint,
  unit_rate numeric(20,6),
  day date,
  -- The id of the payment at the gateway.
  gateway_reference text,
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (gateway in ('stripe', 'manual')),
  check (transaction_type in ('topup', 'subscription', 'usage', 'refund', 'adjustment')),
  check (status in ('pending', 'completed', 'failed'))
);
create unique index billing_transactions_of_day
  on billing_transactions (workspace_id, transaction_type, kind, day, unit_rate)
  where day is not null;
create unique index billing_transactions_by_receipt on billing_transactions (workspace_id, receipt_number);
create unique index billing_transactions_by_reference on billing_transactions (workspace_id, gateway, gateway_reference)
  where gateway_reference is not null;
create index billing_transactions_pending on billing_transactions (created_at) where status = 'pending';

-- The last receipt number of a workspace in a year.
create table receipt_counters (
  workspace_id uuid not null,
  year integer not null,
  last integer not null,
  primary key (workspace_id, year),
  foreign key (workspace_id) references workspaces (id)
);

-- An event of a payment gateway that was processed. If the gateway sends it again, it is ignored.
create table payment_events (
  workspace_id uuid not null,
  gateway text not null,
  event_id text not null,
  received_at timestamptz not null,
  primary key (workspace_id, gateway, event_id),
  foreign key (workspace_id) references workspaces (id),
  check (gateway = 'stripe')
);
create index payment_events_by_age on payment_events (received_at);

-- A credit that an operator recorded over HTTP. By its reference a repeated request does not credit twice.
create table operator_credits (
  workspace_id uuid not null,
  reference text not null,
  transaction_id uuid not null,
  amount numeric(20,6) not null,
  primary key (workspace_id, reference),
  foreign key (workspace_id) references workspaces (id)
);
