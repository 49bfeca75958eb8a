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
