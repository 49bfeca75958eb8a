with
  settlement as materialized (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::uuid[],
        $3::integer[],
        $4::smallint[],
        $5::timestamptz[],
        $6::boolean[],
        $7::inet[],
        $8::integer[],
        $9::timestamptz[],
        $10::float8[]
      ) as s (
        workspace_id,
        message_id,
        lease_number,
        attempts,
        due_at,
        is_delivered,
        source_ip,
        routing_version,
        first_attempt_at,
        wait_ms
      )
  ),
  routing as materialized (
    -- Waits for a change under way; a change that begins later finds this message settled (releaseHeld).
    select
      workspace_id,
      version
    from
      routed_workspaces
    where
      workspace_id in (
        select
          workspace_id
        from
          settlement
        where
          routing_version is not null
      )
    for share
  ),
  back as (
    select
      s.*,
      s.routing_version is not null
      and r.version is distinct from s.routing_version as is_outdated
    from
      settlement s
      left join routing r using (workspace_id)
    where
      s.due_at is not null
  ),
  done as (
    delete from delivery_queue q using settlement s
    where
      s.due_at is null
      and q.workspace_id = s.workspace_id
      and q.message_id = s.message_id
      and (
        s.is_delivered
        or (
          q.lease_number = s.lease_number
          and q.leased_by is not null
        )
      )
    returning
      s.message_id,
      s.lease_number
  ),
  waiting as (
    update delivery_queue q
    set
      due_at = case
        when is_outdated then now()
        else now() + make_interval(secs => wait_ms / 1000)
      end,
      source_ip = case
        when not is_outdated then back.source_ip
      end,
      attempts = back.attempts,
      leased_by = null,
      first_attempt_at = coalesce(q.first_attempt_at, back.first_attempt_at)
    from
      back
    where
      q.workspace_id = back.workspace_id
      and q.message_id = back.message_id
      and q.lease_number = back.lease_number
      and q.leased_by is not null
    returning
      back.message_id,
      back.lease_number
  )
select
  message_id as "messageId",
  lease_number as "leaseNumber"
from
  done
union all
select
  message_id,
  lease_number
from
  waiting
