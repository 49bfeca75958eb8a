-- Payments through a gateway, and what the meter has to know to give money back.

-- What comes back counts in the period in which it comes back: one may have more of that than of its own use.
alter table meters drop constraint meters_used_check;
-- USD, for what lay beyond the allowance: more than that is never given back.
alter table meters add column paid numeric(20, 6) not null default 0 check (paid >= 0);
-- The least that the period includes: what a bigger plan covered of it, before a smaller one came.
alter table meters add column covered bigint not null default 0 check (covered >= 0);

-- What a gateway has told, so that it is heard once.
create table payment_events (
  workspace_id uuid not null references workspaces (id),
  gateway text not null check (gateway in ('stripe')),
  event_id text not null,
  received_at timestamptz not null,
  primary key (workspace_id, gateway, event_id)
);

create index payment_events_by_age on payment_events (received_at);
