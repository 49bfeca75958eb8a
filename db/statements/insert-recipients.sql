with
  asked as materialized (
    select
      s.workspace_id,
      s.id as subscriber_id,
      s.email as address,
      s.email_domain as domain,
      'active' as status,
      $1::uuid as mailing_list_id,
      $2::uuid as segment_id,
      false as is_platform
    from
      (
        select
          *,
          $3::uuid as workspace
        from
          (
            select
              $4::uuid[] as ids
          ) c
        offset
          0
      ) p
      cross join lateral (
        select
          workspace_id,
          id,
          email,
          email_domain,
          status
        from
          subscribers
        where
          workspace_id = p.workspace
          and id = any (p.ids)
        offset
          0
      ) s
  ),
  returned as materialized (
    select
      b.subscriber_id,
      bool_or(r.message_id is not null) as has_message
    from
      (
        select
          p.subscriber_id,
          f.former_id
        from
          asked p
          cross join lateral (
            select
              subscriber_id as former_id
            from
              removed_people
            where
              workspace_id = p.workspace_id
              and email = p.address
            offset
              0
          ) f
        where
          exists (
            select
            from
              removed_people
            where
              workspace_id = $5
          )
      ) b
      left join lateral (
        select
          message_id
        from
          campaign_recipients
        where
          workspace_id = $6
          and campaign_id = $7
          and subscriber_id = b.former_id
        offset
          0
      ) r on true
    group by
      b.subscriber_id
  ),
  checked as materialized (
    select
      subscriber_id,
      address,
      domain,
      case
        when cause is not null then cause
        when subscriber_id in (
          select
            subscriber_id
          from
            returned
          where
            has_message
        ) then 'duplicate'
      end as cause
    from
      (
        select
          asked.*,
          case
            when asked.status = 'unsubscribed' then 'unsubscribed'
            when asked.status = 'bounced' then 'invalid'
            when asked.status <> 'active'
            or verdict.reason is not null then 'suppressed'
            when asked.domain not like '%_.%_'
            or asked.subscriber_id = any ($8::uuid[]) then 'invalid'
          end as cause
        from
          asked asked
          left join lateral (
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
              array_position($9::text[], reason),
              list_id
            limit
              1
          ) as verdict on true
      ) j
  ),
  mail as materialized (
    select
      c.*,
      split_part(address, '@', 1) as localpart,
      ($10::uuid[]) [
        row_number() over (
          order by
            subscriber_id
        )
      ] as id
    from
      (
        select
          subscriber_id,
          address,
          domain
        from
          checked
        where
          cause is null
      ) c
  ),
  log as (
    insert into
      messages (
        workspace_id,
        id,
        source,
        origin_id,
        origin_name,
        from_email,
        localpart,
        domain,
        subject,
        is_sms,
        created_at,
        updated_at
      )
    select
      $11,
      id,
      $12,
      $13,
      $14,
      $15,
      localpart,
      domain,
      $16,
      $17,
      $18,
      $19
    from
      mail
  ),
  by_domain as materialized (
    select
      domain,
      count(*) as queued
    from
      mail
    group by
      domain
  ),
  deltas as (
    insert into
      report_notes (workspace_id, quarter, source, origin_id, domain, from_domain, queued)
    select
      $20,
      date_bin('15 minutes', $21::timestamptz, timestamptz '2000-01-01 00:00:00Z'),
      $22,
      $23,
      domain,
      $24,
      queued
    from
      by_domain
  ),
  queue as (
    insert into
      delivery_queue (workspace_id, message_id, campaign_id, priority, domain, bytes, expires_at, due_at)
    select
      $25,
      id,
      $26,
      $27,
      domain,
      $28,
      $29,
      now()
    from
      mail
    order by
      random()
  ),
  meter as (
    insert into
      meter_entries (workspace_id, kind, quantity, created_at)
    select
      workspace_id,
      $30,
      quantity,
      $31
    from
      (
        select
          $32::uuid as workspace_id,
          count(*)::int as quantity
        from
          mail
      ) made
    where
      quantity <> 0
  ),
  added as (
    insert into
      campaign_recipients (workspace_id, campaign_id, subscriber_id, message_id)
    select
      $33,
      $34,
      subscriber_id,
      id
    from
      mail
  )
select
  (
    select
      count(*)::int
    from
      mail
  ) as added,
  (
    select
      coalesce(json_object_agg(domain, queued), '{}')::text
    from
      by_domain
  ) as by_domain,
  count(*) filter (
    where
      cause = 'suppressed'
  )::int as suppressed,
  count(*) filter (
    where
      cause = 'unsubscribed'
  )::int as unsubscribed,
  count(*) filter (
    where
      cause = 'invalid'
  )::int as invalid,
  count(*) filter (
    where
      cause = 'duplicate'
  )::int as duplicate,
  (
    select
      count(*)::int
    from
      returned
  ) as returned
from
  checked
