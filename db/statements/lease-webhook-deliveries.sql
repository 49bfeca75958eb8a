with recursive
  waiting (workspace_id, webhook_id) as (
    (
      select
        workspace_id,
        webhook_id
      from
        webhook_deliveries
      where
        status = 'pending'
      order by
        workspace_id,
        webhook_id
      limit
        1
    )
    union all
    select
      next.*
    from
      waiting w
      cross join lateral (
        select
          workspace_id,
          webhook_id
        from
          webhook_deliveries
        where
          status = 'pending'
          and (workspace_id, webhook_id) > (w.workspace_id, w.webhook_id)
        order by
          workspace_id,
          webhook_id
        limit
          1
      ) next
  ),
  under_way as materialized (
    select
      workspace_id,
      webhook_id,
      count(*)::int as count
    from
      webhook_deliveries
    where
      leased_until > $1
    group by
      workspace_id,
      webhook_id
  ),
  under_way_in as materialized (
    select
      workspace_id,
      sum(count) as count
    from
      under_way
    group by
      workspace_id
  ),
  due as materialized (
    select
      d.*,
      w.url,
      w.secret,
      w.previous_secret,
      w.previous_secret_until,
      row_number() over (
        partition by
          d.workspace_id
        order by
          d.next_attempt_at,
          d.id
      ) + coalesce(i.count, 0) as turn
    from
      waiting
      join webhooks w on w.workspace_id = waiting.workspace_id
      and w.id = waiting.webhook_id
      and w.is_active
      join workspaces s on s.id = w.workspace_id
      and not s.is_suspended
      left join under_way o on o.workspace_id = w.workspace_id
      and o.webhook_id = w.id
      left join under_way_in i on i.workspace_id = w.workspace_id
      cross join lateral (
        select
          workspace_id,
          webhook_id,
          id,
          next_attempt_at
        from
          webhook_deliveries
        where
          workspace_id = w.workspace_id
          and webhook_id = w.id
          and status = 'pending'
          and next_attempt_at <= $2
          and (
            leased_until is null
            or leased_until <= $3
          )
        order by
          next_attempt_at
        limit
          greatest($4 - coalesce(o.count, 0), 0)
      ) d
  ),
  chosen as materialized (
    select
      *
    from
      due
    where
      turn <= $5
    order by
      turn,
      next_attempt_at
    limit
      $6
  )
update webhook_deliveries d
set
  leased_until = $7,
  lease_number = d.lease_number + 1
from
  chosen c
where
  d.workspace_id = c.workspace_id
  and d.webhook_id = c.webhook_id
  and d.id = c.id
  and d.status = 'pending'
returning
  d.workspace_id,
  d.webhook_id,
  d.id,
  d.lease_number,
  d.tries,
  d.body::text as body,
  c.url,
  c.secret,
  c.previous_secret,
  c.previous_secret_until
