with recursive
  known as materialized (
    select
      *,
      lead(workspace_id, 1, $1::uuid) over neighbours as next_workspace_id,
      lead(campaign_id, 1, $2::uuid) over neighbours as next_campaign_id
    from
      unnest($3::uuid[], $4::uuid[], $5::timestamptz[]) as k (workspace_id, campaign_id, starts_at)
    window
      neighbours as (
        order by
          workspace_id,
          campaign_id
      )
  ),
  step as (
    select
      *
    from
      known
    union all
    select
      next.*,
      null::timestamptz,
      next_workspace_id,
      next_campaign_id
    from
      step
      cross join lateral (
        select
          q.workspace_id,
          q.campaign_id
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id) > ($6, step.workspace_id, step.campaign_id)
          and (q.priority, q.workspace_id, q.campaign_id) < ($7, step.next_workspace_id, step.next_campaign_id)
        order by
          q.priority,
          q.workspace_id,
          q.campaign_id
        limit
          1
      ) next
  ),
  line as materialized (
    select
      workspace_id,
      campaign_id,
      coalesce(starts_at, '-infinity') as starts_at,
      workspace_id = any (
        array(
          select
            workspace_id
          from
            routed_workspaces
        )
      ) as is_routed
    from
      step
    where
      (workspace_id, campaign_id) <> ($8::uuid, $9::uuid)
      or exists (
        select
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id) = ($10, $11::uuid, $12::uuid)
      )
  ),
  open_line as materialized (
    select
      workspace_id,
      campaign_id,
      starts_at,
      is_routed,
      is_crowded,
      ceil(
        $13::float8 / count(*) over (
          partition by
            workspace_id
        ) / (
          dense_rank() over (
            order by
              workspace_id
          ) + dense_rank() over (
            order by
              workspace_id desc
          ) - 1
        )
      ) as share
      -- An empty line, known from queue-cursor.ts only, gets no share.
    from
      line
      cross join lateral (
        select
          q.bytes,
          line.workspace_id = any ($14::uuid[]) as is_crowded
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($15, line.workspace_id, line.campaign_id, line.starts_at)
          and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= ($16, line.workspace_id, line.campaign_id, now())
          and q.campaign_id = line.campaign_id
          and q.due_at >= line.starts_at
          and q.due_at <= now()
        limit
          1
      ) first
    where
      campaign_id <> all ($17::uuid[])
      and workspace_id <> all (
        array(
          select
            id
          from
            workspaces
          where
            is_suspended
        )
      )
      and workspace_id <> all ($18::uuid[])
      -- All messages of a campaign have the same size.
      and not (
        is_crowded
        and campaign_id <> $19
        and bytes > $20
      )
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
          open_line
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
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($21, line.workspace_id, line.campaign_id, line.starts_at)
          and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= ($22, line.workspace_id, line.campaign_id, now())
          and q.campaign_id = line.campaign_id
          and q.due_at >= line.starts_at
          and q.due_at <= now()
          and true
          and case
            when line.is_routed then q.workspace_id || ' ' || q.domain
            else q.domain
          end <> all ($23::text[])
          and (
            q.source_ip is null
            or q.source_ip <<= any ($24::inet[])
            or q.due_at < now() - make_interval(secs => $25)
          )
          and (
            q.bytes <= $26
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
      $27
  ),
  more as materialized (
    -- Lines that did not fill their share have nothing more due.
    select
      head.*,
      line.campaign_id
    from
      (
        select
          open_line.*
        from
          open_line
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
          ) filled on filled.workspace_id = open_line.workspace_id
          and filled.campaign_id = open_line.campaign_id
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
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($28, line.workspace_id, line.campaign_id, line.starts_at)
          and (q.priority, q.workspace_id, q.campaign_id, q.due_at) <= ($29, line.workspace_id, line.campaign_id, now())
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
          end <> all ($30::text[])
          and (
            q.source_ip is null
            or q.source_ip <<= any ($31::inet[])
            or q.due_at < now() - make_interval(secs => $32)
          )
          and (
            q.bytes <= $33
            or not line.is_crowded
          )
        order by
          q.priority,
          q.workspace_id,
          q.campaign_id,
          q.due_at
        limit
          $34
        for update of
          q skip locked
      ) head
    limit
      $35 - (
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
      unnest($36::uuid[], $37::bigint[], $38::bigint[]) as h (workspace_id, held_messages, held_bytes)
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
          bytes > $39,
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
              bytes > $40,
              place,
              due_at,
              message_id rows unbounded preceding
          ) - bytes as bytes_before
        from
          placed
        where
          own_messages <= $41
          and (
            own_messages = 1
            or own_bytes <= $42::numeric * case
              when bytes > $43 then 1
              else $44::numeric
            end
          )
      ) as counted
    where
      bytes_before = 0
      or bytes_before + bytes <= $45
  ),
  leased as (
    update delivery_queue q
    set
      lease_number = q.lease_number + 1,
      leased_by = $46,
      due_at = now() + make_interval(secs => $47),
      -- A campaign may have been paused for days, so the retry time begins with the first attempt. A look-up that
      -- no DNS server answered is not an attempt, but it sets first_attempt_at (settleLeases) and starts the time.
      expires_at = case
        when q.campaign_id <> $48
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
      q.message_id,
      q.lease_number,
      q.priority,
      q.attempts,
      q.bytes,
      q.expires_at,
      case
        when q.attempts = 0 then coalesce(q.first_attempt_at, now())
        else q.first_attempt_at
      end as first_attempt_at,
      host(q.source_ip) as source_ip,
      -- Both times are of the database clock, so machines with different clocks agree.
      q.lease_number > 1
      or due.due_at < now() - make_interval(secs => $49) as is_stale
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
