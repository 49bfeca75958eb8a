with recursive
  known as materialized (
    select
      *
    from
      unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) with ordinality as k (workspace_id, campaign_id, starts_at, number)
  ),
  resumed as materialized (
    select
      *
    from
      unnest($4::uuid[], $5::uuid[]) as r (workspace_id, campaign_id)
  ),
  step as (
    -- The last possible line of the priority before is in front of the first line.
    select
      $6::smallint as priority,
      $7::uuid as workspace_id,
      $8::uuid as campaign_id,
      0 as seen,
      0 as open,
      0 as open_of_workspace,
      false as is_open,
      false as is_first,
      (
        $9::uuid = any ($10::uuid[])
        or coalesce(
          (
            select
              is_suspended
            from
              workspaces w
            where
              w.id = $11::uuid
          ),
          false
        )
      ) as is_closed
    union all
    select
      $12::smallint,
      next.workspace_id,
      next.campaign_id,
      step.seen + 1,
      step.open + state.is_open::integer,
      case
        when entry.is_first then 0
        else step.open_of_workspace
      end + state.is_open::integer,
      state.is_open,
      entry.is_first,
      workspace.is_closed
    from
      step
      cross join lateral (
        select
          case
            when step.is_closed
            or step.open_of_workspace >= $13::integer then $14::uuid
            when step.is_first then greatest(
              step.campaign_id,
              (
                select
                  campaign_id
                from
                  resumed
                where
                  resumed.workspace_id = step.workspace_id
              )
            )
            else step.campaign_id
          end as campaign_id
        offset
          0
      ) passed
      left join lateral (
        select
          workspace_id,
          campaign_id,
          starts_at
        from
          known
        where
          (known.workspace_id, known.campaign_id) > (step.workspace_id, passed.campaign_id)
          or $15
          and step.seen = 0
        order by
          number
        limit
          1
      ) neighbour on true
      cross join lateral (
        (
          select
            q.workspace_id,
            q.campaign_id,
            q.due_at,
            q.bytes
          from
            delivery_queue q
          where
            (q.priority, q.workspace_id, q.campaign_id) > (step.priority, step.workspace_id, passed.campaign_id)
            and (q.priority, q.workspace_id, q.campaign_id) < ($16, coalesce(neighbour.workspace_id, $17::uuid), coalesce(neighbour.campaign_id, $18::uuid))
          order by
            q.priority,
            q.workspace_id,
            q.campaign_id,
            q.due_at
          limit
            1
        )
        union all
        (
          select
            neighbour.workspace_id,
            neighbour.campaign_id,
            first.due_at,
            first.bytes
          from
            (
              select
            ) one
            left join lateral (
              select
                q.due_at,
                q.bytes
              from
                delivery_queue q
              where
                (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($19, neighbour.workspace_id, neighbour.campaign_id, coalesce(neighbour.starts_at, '-infinity'))
                and (q.priority, q.workspace_id, q.campaign_id) <= ($20, neighbour.workspace_id, neighbour.campaign_id)
              order by
                q.priority,
                q.workspace_id,
                q.campaign_id,
                q.due_at
              limit
                1
            ) first on true
          where
            neighbour.workspace_id is not null
        )
        limit
          1
      ) next
      cross join lateral (
        select
          next.workspace_id <> step.workspace_id
          or step.seen = 0 as is_first
        offset
          0
      ) entry
      cross join lateral (
        select
          case
            when entry.is_first then (
              next.workspace_id = any ($21::uuid[])
              or coalesce(
                (
                  select
                    is_suspended
                  from
                    workspaces w
                  where
                    w.id = next.workspace_id
                ),
                false
              )
            )
            else step.is_closed
          end as is_closed
        offset
          0
      ) workspace
      cross join lateral (
        select
          not workspace.is_closed
          and coalesce(
            next.due_at <= now()
            and next.campaign_id <> all ($22::uuid[])
            -- All messages of a campaign have the same size.
            and not (
              next.campaign_id <> $23
              and next.bytes > $24
              and next.workspace_id = any ($25::uuid[])
            ),
            false
          ) as is_open
        offset
          0
      ) state
    where
      step.seen < $26::integer
      and step.open < $27::integer
  )
select
  workspace_id,
  campaign_id,
  is_open,
  seen,
  open_of_workspace
from
  step
where
  is_open
  or seen > 0
  and seen = (
    select
      max(seen)
    from
      step
  )
union all
select
  other.workspace_id,
  other.campaign_id,
  true,
  0,
  0
from
  unnest($28::uuid[], $29::uuid[], $30::timestamptz[]) as other (workspace_id, campaign_id, starts_at)
  cross join lateral (
    select
      other.workspace_id,
      other.campaign_id,
      first.due_at,
      first.bytes
    from
      (
        select
          q.due_at,
          q.bytes
        from
          delivery_queue q
        where
          (q.priority, q.workspace_id, q.campaign_id, q.due_at) >= ($31, other.workspace_id, other.campaign_id, coalesce(other.starts_at, '-infinity'))
          and (q.priority, q.workspace_id, q.campaign_id) <= ($32, other.workspace_id, other.campaign_id)
        order by
          q.priority,
          q.workspace_id,
          q.campaign_id,
          q.due_at
        limit
          1
      ) first
  ) next
where
  not (
    other.workspace_id = any ($33::uuid[])
    or coalesce(
      (
        select
          is_suspended
        from
          workspaces w
        where
          w.id = other.workspace_id
      ),
      false
    )
  )
  and coalesce(
    next.due_at <= now()
    and next.campaign_id <> all ($34::uuid[])
    -- All messages of a campaign have the same size.
    and not (
      next.campaign_id <> $35
      and next.bytes > $36
      and next.workspace_id = any ($37::uuid[])
    ),
    false
  )
