select
  asked.position,
  suppression.*
from
  unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::boolean[]) with ordinality as asked (workspace_id, address, domain, mailing_list_id, segment_id, is_platform, position)
  cross join lateral (
    select
      list_id as suppression_list_id,
      list_name as suppression_list_name,
      reason,
      'Suppressed (' || reason || '): on the list ' || list_name as detail
    from
      (
        select
          e.workspace_id,
          e.normalized_value,
          case
            when e.entry_type = 'domain' then 'domain'
            else e.reason
          end as reason,
          e.reason = 'manual' as is_manual,
          l.id as list_id,
          l.name as list_name,
          l.suppression_scope,
          l.mailing_list_id,
          l.segment_id
        from
          suppression_entries e
          -- The limit makes the planner look up the entry first, however few lists there are.
          cross join lateral (
            select
              *
            from
              suppression_lists
            where
              workspace_id = e.workspace_id
              and id = e.suppression_list_id
            limit
              1
          ) l
        where
          l.is_active
      ) f
    where
      f.workspace_id = asked.workspace_id
      and f.normalized_value in (asked.address, asked.domain)
      and (
        f.suppression_scope = 'global'
        or f.mailing_list_id = asked.mailing_list_id
        or f.segment_id = asked.segment_id
      )
      and not (
        f.is_manual
        and asked.is_platform
      )
    order by
      array_position($7::text[], reason),
      list_id
    limit
      1
  ) as suppression
