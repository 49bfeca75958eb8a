-- Figures of each step of an autoresponder. They are updated together with those of the autoresponder.
create table autoresponder_step_counters (
  workspace_id uuid not null,
  step_id uuid not null,
  autoresponder_id uuid not null,
  queued integer not null default 0,
  deferred integer not null default 0,
  delivered integer not null default 0,
  bounced integer not null default 0,
  failed integer not null default 0,
  suppressed integer not null default 0,
  cancelled integer not null default 0,
  complained integer not null default 0,
  sent integer not null default 0,
  hard_bounced integer not null default 0,
  failures_in_a_row integer not null default 0,
  opens integer not null default 0,
  unique_opens integer not null default 0,
  clicks integer not null default 0,
  unique_clicks integer not null default 0,
  unsubscribed integer not null default 0,
  machine_opens integer not null default 0,
  machine_clicks integer not null default 0,
  activities integer not null default 0,
  primary key (workspace_id, step_id)
)
with (fillfactor = 50);

-- Counts the mail of autoresponders that is still in the log. This reads each of these messages and its events.
insert into autoresponder_step_counters (workspace_id, step_id, autoresponder_id, queued, deferred, delivered, bounced,
  failed, suppressed, cancelled, complained, sent, hard_bounced, opens, unique_opens, clicks, unique_clicks, unsubscribed,
  machine_opens, machine_clicks, activities)
select a.workspace_id, a.step_id, (array_agg(a.autoresponder_id))[1],
  count(*) filter (where m.status = 'queued'), count(*) filter (where m.status = 'deferred'),
  count(*) filter (where m.status = 'delivered'), count(*) filter (where m.status = 'bounced'),
  count(*) filter (where m.status = 'failed'), count(*) filter (where m.status = 'suppressed'),
  count(*) filter (where m.status = 'cancelled'), count(*) filter (where m.status = 'complained'),
  count(*) filter (where m.attempts > 0 or m.status in ('delivered', 'deferred', 'bounced', 'failed', 'complained')),
  count(*) filter (where e.is_hard), coalesce(sum(e.opens), 0), count(a.first_opened_at), coalesce(sum(e.clicks), 0),
  count(a.first_clicked_at), count(a.unsubscribed_at), coalesce(sum(e.machine_opens), 0),
  coalesce(sum(e.machine_clicks), 0), coalesce(sum(e.activities), 0)
from autoresponder_mails a
join messages m on m.workspace_id = a.workspace_id and m.id = a.message_id
cross join lateral (
  select sum(coalesce(times, 1)) filter (where type = 'opened') as opens,
    sum(coalesce(times, 1)) filter (where type = 'clicked') as clicks,
    sum(coalesce(times, 1)) filter (where type = 'machine_opened') as machine_opens,
    sum(coalesce(times, 1)) filter (where type = 'machine_clicked') as machine_clicks,
    count(*) filter (where type in ('delivered', 'bounced', 'complained', 'opened', 'clicked', 'unsubscribed')) as activities,
    bool_or(type = 'bounced' and exists (
      select from bounces b where b.workspace_id = e.workspace_id and b.id = e.id and b.bounce_type = 'hard')) as is_hard
  from message_events e where e.workspace_id = a.workspace_id and e.message_id = a.message_id) e
group by a.workspace_id, a.step_id;

-- Lists and counts the people whose next mail is that of a step.
create index autoresponder_runs_waiting on autoresponder_runs
  (workspace_id, autoresponder_id, next_step_id, due_at, subscriber_id)
  where due_at is not null;
