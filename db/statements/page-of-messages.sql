select
  id
from
  (
    (
      select
        m.id
      from
        messages m
      where
        m.workspace_id = $1
        and m.source = $2
        and m.status = $3
        and m.id <> all (
          array(
            select
              message_id
            from
              delivery_queue
            where
              workspace_id = $4
              and leased_by is not null
          )
        )
      order by
        m.id desc
      limit
        $5
    )
  ) m
order by
  id desc
limit
  $6
offset
  $7
