with
  taken as materialized (
    select
      s.id as workspace_id,
      s.is_suspended
    from
      workspaces s
    where
      s.id = any ($1::uuid[])
  ),
  under_way as materialized (
    select
      l.workspace_id,
      l.webhook_id,
      count(*)::int as count,
      min(l.leased_until) as until
    from
      taken
      cross join lateral (
        select
          *
        from
          webhook_leases
        where
          workspace_id = taken.workspace_id
          and leased_until > $2
        offset
          0
      ) l
    group by
      l.workspace_id,
      l.webhook_id
  ),
  under_way_in as materialized (
    select
      workspace_id,
      sum(count)::int as count,
      min(until) as until
    from
      under_way
    group by
      workspace_id
  ),
  receivers as materialized (
    select
      w.workspace_id,
      w.id as webhook_id,
      w.is_silent,
      w.is_slow,
      least(
        greatest(
          case
            when w.is_silent then 1
            else $3::integer
          end - coalesce(u.count, 0),
          0
        ),
        $4
      ) as most
    from
      taken
      cross join lateral (
        select
          workspace_id,
          id,
          id = any ($5::uuid[]) as is_silent,
          id = any ($6::uuid[]) as is_slow
        from
          webhooks
        where
          workspace_id = taken.workspace_id
          and is_active
          and not taken.is_suspended
        offset
          0
      ) w
      left join under_way u on u.workspace_id = w.workspace_id
      and u.webhook_id = w.id
  ),
  first as materialized (
    select
      r.workspace_id,
      r.webhook_id,
      r.is_silent,
      r.is_slow,
      d.id,
      d.next_attempt_at,
      d.place <= r.most
      and d.next_attempt_at <= $7 as is_ready
    from
      receivers r
      cross join lateral (
        select
          id,
          next_attempt_at,
          row_number() over (
            order by
              next_attempt_at
          ) as place
        from
          (
            select
              id,
              next_attempt_at
            from
              webhook_deliveries
            where
              workspace_id = r.workspace_id
              and webhook_id = r.webhook_id
              and status = 'pending'
              and not exists (
                select
                from
                  webhook_leases l
                where
                  l.workspace_id = r.workspace_id
                  and l.webhook_id = r.webhook_id
                  and l.delivery_id = webhook_deliveries.id
                  and l.leased_until > $8
                offset
                  0
              )
            order by
              next_attempt_at
            limit
              r.most + 1
          ) head
      ) d
  ),
  waiting as materialized (
    select
      *,
      is_ready
      and (
        not (
          is_silent
          or is_slow
        )
        or row_number() over (
          partition by
            is_ready,
            is_silent,
            is_slow
          order by
            random()
        ) <= case
          when is_silent then $9::integer
          else $10::integer
        end
      ) as may_start
    from
      first
  ),
  ranked as materialized (
    select
      w.*,
      may_start
      and row_number() over (
        partition by
          w.workspace_id,
          may_start
        order by
          next_attempt_at,
          id
      ) <= least($11, $12 - coalesce(u.count, 0)) as is_chosen
    from
      waiting w
      left join under_way_in u on u.workspace_id = w.workspace_id
  ),
  leased as (
    insert into
      webhook_leases (workspace_id, webhook_id, delivery_id, lease_id, leased_until)
    select
      workspace_id,
      webhook_id,
      id,
      $13,
      $14
    from
      ranked
    where
      is_chosen
    on conflict (workspace_id, webhook_id, delivery_id) do update
    set
      lease_id = excluded.lease_id,
      leased_until = excluded.leased_until
    returning
      workspace_id,
      webhook_id,
      delivery_id
  ),
  found as (
    select
      workspace_id,
      bool_or(is_chosen) as has_chosen,
      min(next_attempt_at) filter (
        where
          not is_chosen
      ) as next_at,
      bool_and(
        is_silent
        or is_slow
      ) filter (
        where
          not is_chosen
          and next_attempt_at <= $15
      ) as leaves_only_held_back,
      min(next_attempt_at) filter (
        where
          not (
            is_silent
            or is_slow
            or next_attempt_at <= $16
          )
      ) as next_quick_at
    from
      ranked
    group by
      workspace_id
  ),
  moved as (
    update webhook_turns t
    set
      turn_at = case
        when taken.is_suspended then $17::timestamptz + make_interval(secs => $18)
        when f.leaves_only_held_back then least($19::timestamptz + make_interval(secs => $20), f.next_quick_at)
        when f.next_at <= $21
        and f.has_chosen then $22
        when f.next_at <= $23 then $24::timestamptz + make_interval(secs => $25)
        else coalesce(
          least(
            f.next_at,
            u.until,
            case
              when f.has_chosen then $26::timestamptz
            end
          ),
          'infinity'
        )
      end,
      due_at = case
        when f.next_at <= $27 then f.next_at
      end
    from
      taken
      left join found f on f.workspace_id = taken.workspace_id
      left join under_way_in u on u.workspace_id = taken.workspace_id
    where
      t.workspace_id = any ($28::uuid[])
      and t.workspace_id = taken.workspace_id
  )
select
  l.workspace_id,
  l.webhook_id,
  l.delivery_id as id,
  $29::uuid as lease_id,
  d.tries,
  d.body,
  w.url,
  w.secret,
  w.previous_secret,
  w.previous_secret_until
from
  leased l
  cross join lateral (
    select
      url,
      secret,
      previous_secret,
      previous_secret_until
    from
      webhooks
    where
      workspace_id = l.workspace_id
      and id = l.webhook_id
    limit
      1
  ) w
  cross join lateral (
    select
      tries,
      body::text as body
    from
      webhook_deliveries
    where
      workspace_id = l.workspace_id
      and webhook_id = l.webhook_id
      and id = l.delivery_id
    limit
      1
  ) d
