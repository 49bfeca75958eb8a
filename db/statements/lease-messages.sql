with
  line as materialized (
    select
      workspace_id,
      campaign_id,
      share,
      coalesce(starts_at, '-infinity') as starts_at,
      workspace_id = any ($1::uuid[]) as is_crowded,
      (
        select
          true
        from
          routed_workspaces r
        where
          r.workspace_id = given.workspace_id
      ) is not null as is_routed
    from
      unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::bigint[]) as given (workspace_id, campaign_id, starts_at, share)
  ),
  shared as materialized (
    select
      head.*,
      line.campaign_id
    from
      (
        select
          *
        from
          line
        order by
          random()
      ) line
      cross join lateral (
        select
          q.ctid as slot,
          q.workspace_id,
          q.message_id,
          q.bytes,
          q.due_at
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($6, line.workspace_id, line.campaign_id, line.starts_at)
          and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= ($7, line.workspace_id, line.campaign_id, now())
          and q.campaign_id = line.campaign_id
          and q.due_at >= line.starts_at
          and q.due_at <= now()
          and true
          and case
            when line.is_routed then q.workspace_id || ' ' || q.domain
            else q.domain
          end <> all ($8::text[])
          and (
            q.source_ip is null
            or q.source_ip <<= any ($9::inet[])
            or q.due_at < now() - make_interval(secs => $10)
          )
          and (
            q.bytes <= $11
            or not line.is_crowded
          )
        order by
          q.priority,
          q.workspace_id,
          q.campaign_id,
          q.due_at
        limit
          line.share
        for update of
          q skip locked
      ) head
    limit
      $12
  ),
  more as materialized (
    -- Lines that did not fill their share have nothing more due.
    select
      head.*,
      line.campaign_id
    from
      (
        select
          line.*
        from
          line
          join (
            select
              workspace_id,
              campaign_id,
              count(*) as taken
            from
              shared
            group by
              workspace_id,
              campaign_id
          ) filled on filled.workspace_id = line.workspace_id
          and filled.campaign_id = line.campaign_id
          and taken >= share
        order by
          random()
      ) line
      cross join lateral (
        select
          q.ctid as slot,
          q.workspace_id,
          q.message_id,
          q.bytes,
          q.due_at
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($13, line.workspace_id, line.campaign_id, line.starts_at)
          and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= ($14, line.workspace_id, line.campaign_id, now())
          and q.campaign_id = line.campaign_id
          and q.due_at >= line.starts_at
          and q.due_at <= now()
          and q.message_id not in (
            select
              message_id
            from
              shared
          )
          and case
            when line.is_routed then q.workspace_id || ' ' || q.domain
            else q.domain
          end <> all ($15::text[])
          and (
            q.source_ip is null
            or q.source_ip <<= any ($16::inet[])
            or q.due_at < now() - make_interval(secs => $17)
          )
          and (
            q.bytes <= $18
            or not line.is_crowded
          )
        order by
          q.priority,
          q.workspace_id,
          q.campaign_id,
          q.due_at
        limit
          $19
        for update of
          q skip locked
      ) head
    limit
      $20 - (
        select
          count(*)
        from
          shared
      )
  ),
  waiting as (
    select
      *
    from
      shared
    union all
    select
      *
    from
      more
  ),
  held as materialized (
    select
      *
    from
      unnest($21::uuid[], $22::bigint[], $23::bigint[]) as h (workspace_id, held_messages, held_bytes)
  ),
  placed as (
    select
      waiting.*,
      row_number() over own as place,
      row_number() over own + coalesce(held_messages, 0) as own_messages,
      sum(bytes) over own + coalesce(held_bytes, 0) as own_bytes
    from
      waiting
      left join held using (workspace_id)
    window
      own as (
        partition by
          workspace_id
        order by
          bytes > $24,
          due_at,
          message_id rows unbounded preceding
      )
  ),
  due as (
    select
      slot,
      due_at
    from
      (
        select
          *,
          sum(bytes) over (
            order by
              bytes > $25,
              place,
              due_at,
              message_id rows unbounded preceding
          ) - bytes as bytes_before
        from
          placed
        where
          own_messages <= $26
          and (
            own_messages = 1
            or own_bytes <= $27::numeric * case
              when bytes > $28 then 1
              else $29::numeric
            end
          )
      ) as counted
    where
      bytes_before = 0
      or bytes_before + bytes <= $30
  ),
  leased as (
    update delivery_queue q
    set
      lease_number = q.lease_number + 1,
      leased_by = $31,
      due_at = now() + make_interval(secs => $32),
      -- A campaign may have been paused for days, so the retry time begins with the first attempt. A look-up that
      -- no DNS server answered is not an attempt, but it sets first_attempt_at (settleLeases) and starts the time.
      expires_at = case
        when q.campaign_id <> $33
        and q.attempts = 0
        and q.first_attempt_at is null then greatest(
          q.expires_at,
          now() + make_interval(
            hours => (
              select
                retry_hours
              from
                workspaces w
              where
                w.id = q.workspace_id
            )
          )
        )
        else q.expires_at
      end
      -- By ctid, because by their key the planner might find the locked rows through other indexes. A row updated in the
      -- meantime has moved and is left for the next lease.
    from
      due
    where
      q.ctid = due.slot
    returning
      q.workspace_id,
      q.campaign_id,
      q.message_id,
      q.lease_number,
      q.priority,
      q.attempts,
      q.bytes,
      q.expires_at,
      coalesce(q.first_attempt_at, now()) as first_attempt_at,
      host(q.source_ip) as source_ip,
      -- Both times are of the database clock, so machines with different clocks agree.
      q.lease_number > 1
      or due.due_at < now() - make_interval(secs => $34) as is_stale
  )
select
  leased.*,
  (
    extract(
      epoch
      from
        leased.expires_at - now()
    ) * 1000
  )::float8 as lives_ms,
  r.version as routing_version
from
  leased
  left join routed_workspaces r on r.workspace_id = leased.workspace_id
