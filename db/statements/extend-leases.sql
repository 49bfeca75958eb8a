with
  mine as materialized (
    select
      q.workspace_id,
      q.message_id
    from
      unnest($1::uuid[], $2::uuid[], $3::integer[]) as held (workspace_id, message_id, lease_number)
      join delivery_queue q on q.workspace_id = held.workspace_id
      and q.message_id = held.message_id
      and q.lease_number = held.lease_number
      and q.leased_by = $4
    for update of
      q skip locked
  )
update delivery_queue q
set
  due_at = now() + make_interval(secs => $5)
from
  mine
where
  q.workspace_id = mine.workspace_id
  and q.message_id = mine.message_id
returning
  q.message_id as "messageId",
  q.lease_number as "leaseNumber"
