with
  senders as materialized (
    select
      coalesce(bool_and(may_send), true) as may_send
    from
      (
        select
          (
            coalesce(own.is_verified, false)
            or coalesce(sender.is_verified, false)
          )
          and coalesce(
            (
              select
                switch.is_active
              from
                domain_switches as switch
              where
                switch.domain = asked.domain
                and (
                  switch.workspace_id = asked.workspace_id
                  or switch.workspace_id is null
                )
              order by
                switch.workspace_id
              limit
                1
            ),
            true
          ) as may_send,
          coalesce(own.is_verified, false) as by_domain,
          asked.position
        from
          unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as asked (workspace_id, email, domain, position)
          left join sending_domains as own using (workspace_id, domain)
          left join verified_senders as sender on sender.workspace_id = asked.workspace_id
          and sender.email = asked.email
      ) as standing
  ),
  allowances as materialized (
    select
      coalesce(
        bool_and(
          case
            when a.headroom_until is null
            or a.headroom_until <= $4 then false
            when a.email_headroom is null
            and a.content_headroom is null then true
            else (
              select
                (
                  a.email_headroom is null
                  or a.email_headroom - asked.quantity >= $5 + coalesce(sum(quantity), 0)
                )
                and (
                  a.content_headroom is null
                  or asked.bytes = 0
                  or a.content_headroom - asked.bytes >= $6 + coalesce(sum(bytes), 0)
                )
              from
                meter_entries e
              where
                e.workspace_id = asked.workspace_id
                and e.kind = 'email'
            )
          end
        ),
        true
      ) as is_wide
    from
      unnest($7::uuid[], $8::bigint[], $9::bigint[]) as asked (workspace_id, quantity, bytes)
      left join billing_accounts a on a.workspace_id = asked.workspace_id
  ),
  suppressions as materialized (
    select
      entry.*
    from
      unnest($10::uuid[], $11::text[]) as asked_for (workspace_id, joined)
      cross join lateral (
        select
          *
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
          f.workspace_id = asked_for.workspace_id
          and f.normalized_value = any (string_to_array(asked_for.joined, $12))
        offset
          0
      ) as entry
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
        request_id,
        created_at,
        updated_at,
        status,
        error_message,
        email_details
      )
    select
      workspace_id,
      id,
      source,
      origin_id,
      origin_name,
      from_email,
      localpart,
      domain,
      subject,
      request_id,
      created_at,
      created_at,
      case
        when s.detail is null then 'queued'
        else 'suppressed'
      end,
      s.detail,
      email_details
    from
      unnest(
        $13::uuid[],
        $14::uuid[],
        $15::text[],
        $16::uuid[],
        $17::text[],
        $18::text[],
        $19::text[],
        $20::text[],
        $21::text[],
        $22::text[],
        $23::timestamptz[],
        $24::text[]::jsonb[],
        $25::text[]
      ) as m (
        workspace_id,
        id,
        source,
        origin_id,
        origin_name,
        from_email,
        localpart,
        domain,
        subject,
        request_id,
        created_at,
        email_details,
        address
      )
      left join (
        select
          null::text as detail
      ) as s on true
    where
      (
        select
          may_send
          and is_wide
          and not exists (
            select
            from
              suppressions
            where
              suppression_scope = 'global'
          )
        from
          senders,
          allowances
      )
    returning
      workspace_id,
      id,
      source,
      origin_id,
      origin_name,
      from_email,
      localpart,
      domain,
      status,
      created_at,
      error_message,
      email_details
  ),
  contents as (
    insert into
      message_contents (
        workspace_id,
        message_id,
        from_name,
        to_name,
        html,
        text,
        attachments,
        bounce_email,
        particulars,
        submission_id
      )
    select
      *
    from
      unnest(
        $26::uuid[],
        $27::uuid[],
        $28::text[],
        $29::text[],
        $30::text[],
        $31::text[],
        $32::text[]::jsonb[],
        $33::text[],
        $34::text[]::jsonb[],
        $35::uuid[]
      ) as c (
        workspace_id,
        message_id,
        from_name,
        to_name,
        html,
        text,
        attachments,
        bounce_email,
        particulars,
        submission_id
      )
    where
      (
        select
          may_send
          and is_wide
          and not exists (
            select
            from
              suppressions
            where
              suppression_scope = 'global'
          )
        from
          senders,
          allowances
      )
      and true
    returning
      submission_id
  ),
  deltas as (
    insert into
      report_notes (workspace_id, quarter, source, origin_id, domain, from_domain, queued, suppressed)
    select
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain,
      count(*) filter (
        where
          status = 'queued'
      ),
      count(*) filter (
        where
          status = 'suppressed'
      )
    from
      (
        select
          *,
          date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00:00Z') as quarter,
          coalesce(origin_id, $36) as counted_origin_id,
          lower(split_part(from_email, '@', -1)) as from_domain
        from
          log
        where
          source <> 'platform'
      ) a
    group by
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain
  ),
  queue as (
    insert into
      delivery_queue (workspace_id, message_id, priority, domain, bytes, expires_at, due_at)
    select
      *,
      now()
    from
      unnest($37::uuid[], $38::uuid[], $39::integer[], $40::text[], $41::integer[], $42::timestamptz[]) as q (workspace_id, message_id, priority, domain, bytes, expires_at)
    where
      (
        select
          may_send
          and is_wide
          and not exists (
            select
            from
              suppressions
            where
              suppression_scope = 'global'
          )
        from
          senders,
          allowances
      )
      and true
  ),
  meter as (
    insert into
      meter_entries (workspace_id, kind, quantity, bytes, created_at)
    select
      workspace_id,
      'email',
      quantity,
      bytes,
      $43
    from
      (
        select
          workspace_id,
          count(*)::int as quantity,
          min(asked.bytes) as bytes
        from
          log
          join unnest($44::uuid[], $45::bigint[]) as asked (workspace_id, bytes) using (workspace_id)
        where
          status = 'queued'
          and source <> 'platform'
        group by
          workspace_id
      ) accepted
    where
      quantity <> 0
  )
select
  may_send
  and is_wide
  and not exists (
    select
    from
      suppressions
    where
      suppression_scope = 'global'
  ) as is_done,
  may_send
  and is_wide
  and not not exists (
    select
    from
      suppressions
    where
      suppression_scope = 'global'
  ) as is_suppressed
from
  senders,
  allowances
