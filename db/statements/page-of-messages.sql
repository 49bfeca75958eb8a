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
        and m.id <> all ($4::uuid[])
        and m.id >= $5
      order by
        m.id desc
      limit
        $6
    )
  ) m
order by
  id desc
limit
  $7
offset
  $8
