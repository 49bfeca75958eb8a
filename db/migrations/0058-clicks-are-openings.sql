-- A click counts as an opening. Reports (report_*) keep what they counted before.
with marked as (
  update campaign_recipients set first_opened_at = first_clicked_at
  where first_opened_at is null and first_clicked_at is not null
  returning workspace_id, campaign_id, subscriber_id
), counters as (
  update campaign_counters c set unique_opens = c.unique_opens + m.opened
  from (select workspace_id, campaign_id, count(*) as opened from marked group by 1, 2) m
  where c.workspace_id = m.workspace_id and c.campaign_id = m.campaign_id
)
update subscribers s set unique_open_count = s.unique_open_count + m.opened
from (select workspace_id, subscriber_id, count(*) as opened from marked group by 1, 2) m
where s.workspace_id = m.workspace_id and s.id = m.subscriber_id;

with marked as (
  update autoresponder_mails set first_opened_at = first_clicked_at
  where first_opened_at is null and first_clicked_at is not null
  returning workspace_id, autoresponder_id, subscriber_id
), counters as (
  update autoresponder_counters c set unique_opens = c.unique_opens + m.opened
  from (select workspace_id, autoresponder_id, count(*) as opened from marked group by 1, 2) m
  where c.workspace_id = m.workspace_id and c.autoresponder_id = m.autoresponder_id
)
update subscribers s set unique_open_count = s.unique_open_count + m.opened
from (select workspace_id, subscriber_id, count(*) as opened from marked group by 1, 2) m
where s.workspace_id = m.workspace_id and s.id = m.subscriber_id;

update subscribers set last_opened_at = last_clicked_at
where last_clicked_at > coalesce(last_opened_at, '-infinity');

update list_days set open_count = engaged_count where open_count <> engaged_count;
