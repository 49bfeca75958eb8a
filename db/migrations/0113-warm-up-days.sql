-- What a sending IP in warm-up sent to each provider on each day. The row of today in warm_up_lanes decides; this one is kept.
create table warm_up_days (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  day date not null,
  lane text not null,
  -- Completed days of the plan.
  step smallint not null,
  sent integer not null,
  deferred integer not null,
  primary key (workspace_id, sending_ip_id, day, lane),
  foreign key (workspace_id, sending_ip_id) references sending_ips (workspace_id, id) on delete cascade
);
create index warm_up_days_by_day on warm_up_days (day);

insert into warm_up_days (workspace_id, sending_ip_id, day, lane, step, sent, deferred)
select workspace_id, sending_ip_id, day, lane, step, sent, deferred from warm_up_lanes where sent > 0 or deferred > 0;
