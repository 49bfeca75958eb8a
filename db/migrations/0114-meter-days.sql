-- How much of each kind a workspace used on each UTC day. The meter counts by period, and hours are soon removed.
create table meter_days (
  workspace_id uuid not null references workspaces (id),
  day date not null,
  kind text not null,
  used bigint not null,
  returned bigint not null,
  primary key (workspace_id, day, kind)
);
