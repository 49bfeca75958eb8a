create table billing_accounts (
  workspace_id uuid not null,
  -- The sum of the completed rows of the ledger (billing_transactions); USD.
  balance numeric(20,6) not null default 0,
  -- Ever topped up: then what goes beyond the allowance is paid from the balance.
  is_prepaid boolean not null default false,
  -- Emails that allowance and balance still covered when the meter was last read; null is no limit.
  email_headroom bigint default 0,
  -- The end of the period that this was said of.
  headroom_until timestamptz not null default '-infinity'::timestamp with time zone,
  -- How many bytes of contents the next batch may store without asking; null is no limit.
  content_headroom bigint default 0,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id),
  check (balance >= (0)::numeric)
);

-- Absent: Free, which is also called pay as you go.
create table subscriptions (
  workspace_id uuid not null,
  plan_id text not null,
  billing_interval text not null,
  status text not null,
  -- Periods are counted from here, so that after a 31 January and a 28 February comes a 31 March.
  anchor timestamptz not null,
  current_period_start timestamptz not null,
  current_period_end timestamptz not null,
  cancel_at_period_end boolean not null default false,
  -- Of a renewal that the balance did not cover: since when, and when it is tried again.
  past_due_since timestamptz,
  retry_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id),
  check (billing_interval in ('monthly', 'yearly')),
  check (status in ('active', 'past_due', 'suspended'))
);
create index subscriptions_by_end on subscriptions (current_period_end);
create index subscriptions_by_retry on subscriptions (retry_at) where (retry_at is not null);

-- What was taken (or, below zero, given back) since the meter was last read: written with what it pays for, without a
-- lock that others would wait for.
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

-- The meter: use of an allowance period.
create table meters (
  workspace_id uuid not null,
  kind text not null,
  period_start timestamptz not null,
  used bigint not null,
  -- USD, for what lay beyond the allowance: more than that is never given back.
  paid numeric(20,6) not null default 0,
  -- The least that the period includes: what a bigger plan covered of it, before a smaller one came.
  covered bigint not null default 0,
  primary key (workspace_id, kind, period_start),
  foreign key (workspace_id) references workspaces (id),
  check (paid >= (0)::numeric),
  check (covered >= 0)
);

-- The same by the hour, for hourly caps; hours that are over are of no use for long.
create table meter_hours (
  workspace_id uuid not null,
  kind text not null,
  hour timestamptz not null,
  used bigint not null,
  primary key (workspace_id, kind, hour),
  foreign key (workspace_id) references workspaces (id)
);
create index meter_hours_by_age on meter_hours (hour);

-- How much of each kind a workspace used on each UTC day. The meter counts by period, and hours are soon removed.
create table meter_days (
  workspace_id uuid not null,
  day date not null,
  kind text not null,
  used bigint not null,
  returned bigint not null,
  primary key (workspace_id, day, kind),
  foreign key (workspace_id) references workspaces (id)
);

-- What a holder (a workspace, a network, a mailbox) has used of a limit in one hour or day; rows of ended windows are
-- removed by the clean-up.
create table quota_uses (
  limit_name text not null,
  holder text not null,
  ends_at timestamptz not null,
  used bigint not null,
  primary key (limit_name, holder, ends_at)
);
create index quota_uses_ended on quota_uses (ends_at);

-- The ledger. Amounts are signed: what adds to the balance is above zero.
create table billing_transactions (
  workspace_id uuid not null,
  -- Version 7.
  id uuid not null,
  gateway text,
  transaction_type text not null,
  amount numeric(20,6) not null,
  currency text not null default 'USD',
  status text not null,
  -- Null until completed.
  receipt_number text,
  description text not null,
  -- Of usage and refunds: what was used, how much of it, and on which day; one row a day and kind.
  kind text,
  quantity bigint,
  unit_rate numeric(20,6),
  day date,
  -- The payment at its gateway.
  gateway_reference text,
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (gateway in ('stripe', 'manual')),
  check (transaction_type in ('topup', 'subscription', 'usage', 'refund', 'adjustment')),
  check (status in ('pending', 'completed', 'failed'))
);
create unique index billing_transactions_of_day on billing_transactions (workspace_id, transaction_type, kind, day, unit_rate) where (day is not null);
create unique index billing_transactions_by_receipt on billing_transactions (workspace_id, receipt_number);
create unique index billing_transactions_by_reference on billing_transactions (workspace_id, gateway, gateway_reference) where (gateway_reference is not null);
create index billing_transactions_pending on billing_transactions (created_at) where (status = 'pending'::text);

create table receipt_counters (
  workspace_id uuid not null,
  year integer not null,
  last integer not null,
  primary key (workspace_id, year),
  foreign key (workspace_id) references workspaces (id)
);

-- What a gateway has told, so that it is heard once.
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

-- Credits that operators record over HTTP, by a reference of theirs, so that a repeated request does not credit twice.
create table operator_credits (
  workspace_id uuid not null,
  reference text not null,
  transaction_id uuid not null,
  amount numeric(20,6) not null,
  primary key (workspace_id, reference),
  foreign key (workspace_id) references workspaces (id)
);
