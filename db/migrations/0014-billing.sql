-- What workspaces use, what that costs, and what they have paid.

create table billing_accounts (
  workspace_id uuid primary key references workspaces (id),
  -- The sum of the completed rows of the ledger (billing_transactions); USD.
  balance numeric(20, 6) not null default 0 check (balance >= 0),
  -- Ever topped up: then what goes beyond the allowance is paid from the balance.
  is_prepaid boolean not null default false,
  -- Emails that allowance and balance still covered when the meter was last read; null is no limit.
  email_headroom bigint default 0,
  -- The end of the period that this was said of.
  headroom_until timestamptz not null default '-infinity'
);

-- Absent: Free, which is also called pay as you go.
create table subscriptions (
  workspace_id uuid primary key references workspaces (id),
  plan_id text not null,
  billing_interval text not null check (billing_interval in ('monthly', 'yearly')),
  status text not null check (status in ('active', 'past_due', 'suspended')),
  -- Periods are counted from here, so that after a 31 January and a 28 February comes a 31 March.
  anchor timestamptz not null,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  cancel_at_period_end boolean not null default false,
  -- Of a renewal that the balance did not cover: since when, and when it is tried again.
  past_due_since timestamptz,
  retry_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index subscriptions_by_end on subscriptions (current_period_end);
create index subscriptions_by_retry on subscriptions (retry_at) where retry_at is not null;

-- What was taken (or, below zero, given back) since the meter was last read: written with what it pays for, without a
-- lock that others would wait for.
create table meter_entries (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  kind text not null check (kind in ('email', 'validation', 'blacklist_check')),
  quantity integer not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

-- The meter: use of an allowance period.
create table meters (
  workspace_id uuid not null references workspaces (id),
  kind text not null,
  period_start timestamptz not null,
  used bigint not null check (used >= 0),
  primary key (workspace_id, kind, period_start)
);

-- The same by the hour, for hourly caps; hours that are over are of no use for long.
create table meter_hours (
  workspace_id uuid not null references workspaces (id),
  kind text not null,
  hour timestamptz not null,
  used bigint not null,
  primary key (workspace_id, kind, hour)
);

create index meter_hours_by_age on meter_hours (hour);

-- The ledger. Amounts are signed: what adds to the balance is above zero.
create table billing_transactions (
  workspace_id uuid not null references workspaces (id),
  -- Version 7.
  id uuid not null,
  gateway text check (gateway in ('stripe', 'manual')),
  transaction_type text not null
    check (transaction_type in ('topup', 'subscription', 'usage', 'refund', 'adjustment')),
  amount numeric(20, 6) not null,
  currency text not null default 'USD',
  status text not null check (status in ('pending', 'completed', 'failed')),
  -- Null until completed.
  receipt_number text,
  description text not null,
  -- Of usage and refunds: what was used, how much of it, and on which day; one row a day and kind.
  kind text,
  quantity bigint,
  unit_rate numeric(20, 6),
  day date,
  -- The payment at its gateway.
  gateway_reference text,
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (workspace_id, id)
);

create unique index billing_transactions_of_day
  on billing_transactions (workspace_id, transaction_type, kind, day, unit_rate) where day is not null;
create unique index billing_transactions_by_receipt on billing_transactions (workspace_id, receipt_number);
create unique index billing_transactions_by_reference
  on billing_transactions (workspace_id, gateway, gateway_reference) where gateway_reference is not null;
create index billing_transactions_pending on billing_transactions (created_at) where status = 'pending';

create table receipt_counters (
  workspace_id uuid not null references workspaces (id),
  year integer not null,
  last integer not null,
  primary key (workspace_id, year)
);
