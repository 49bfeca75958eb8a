-- What a workspace stores is bounded by its plan. Contents of messages are noted with the emails that the meter takes,
-- and added up by the month whose partition they are in; everything else is measured where it is.
create table content_months (
  workspace_id uuid not null references workspaces (id),
  -- The first day of the month, UTC.
  month date not null,
  bytes bigint not null,
  primary key (workspace_id, month)
);
create index content_months_by_age on content_months (month);

alter table meter_entries add column bytes bigint not null default 0;

-- How many bytes of contents the next batch may store without asking; null is no limit.
alter table billing_accounts add column content_headroom bigint default 0;
update billing_accounts set headroom_until = '-infinity';

insert into content_months (workspace_id, month, bytes)
select workspace_id, month, sum(bytes)
from (
  select workspace_id,
    date_trunc('month', to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)
      at time zone 'UTC')::date as month, bytes
  from (
    select workspace_id, message_id as id, coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)
      + coalesce(pg_column_size(attachments), 0)::bigint as bytes
    from message_contents
    union all
    select workspace_id, id, octet_length(raw)::bigint from submissions) stored) by_month
where exists (select from workspaces w where w.id = by_month.workspace_id)
group by workspace_id, month having sum(bytes) > 0;
