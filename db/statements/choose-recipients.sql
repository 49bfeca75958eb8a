select
  ids::text as ids,
  cardinality(ids) as seen,
  ids[cardinality(ids)] as to
from
  (
    select
      array(
        select
          id
        from
          (
            select
              subscriber_id as id
            from
              memberships
            where
              workspace_id = $1
              and mailing_list_id = $2
              and status = 'active'
          ) a
        where
          id > $3
        order by
          id
        limit
          $4
      ) as ids
  ) c
