update job_turns
set
  lease_id = $1,
  runner_id = $2,
  leased_at = now()
where
  (workspace_id, type) = (
    select
      workspace_id,
      type
    from
      job_turns
    where
      lease_id is null
      and due_at <= now()
      and type = any ($3)
    order by
      due_at
    limit
      1
    for update
      skip locked
  )
returning
  workspace_id,
  type
