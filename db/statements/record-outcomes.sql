with
  outcome as materialized (
    select
      *
    from
      unnest(
        $1::uuid[],
        $2::uuid[],
        $3::uuid[],
        $4::text[],
        $5::timestamptz[],
        $6::smallint[],
        $7::timestamptz[],
        $8::text[],
        $9::text[],
        $10::smallint[],
        $11::text[],
        $12::boolean[],
        $13::text[],
        $14::text[],
        $15::text[],
        $16::text[],
        $17::inet[],
        $18::jsonb[],
        $19::uuid[],
        $20::text[]
      ) with ordinality as o (
        workspace_id,
        message_id,
        event_id,
        status,
        time,
        attempts,
        next_attempt_at,
        detail,
        mx_host,
        code,
        enhanced_code,
        is_address_fault,
        bounce_type,
        category,
        feedback_type,
        provider,
        left_from,
        tls,
        opening_id,
        conversation,
        place
      )
  ),
  openings as (
    insert into
      smtp_openings (workspace_id, id, lines)
    select
      *
    from
      unnest($21::uuid[], $22::uuid[], $23::text[]) as c (workspace_id, id, lines)
    on conflict do nothing
  ),
  moved as (
    update messages m
    set
      status = o.status,
      previous_status = m.status,
      attempts = coalesce(o.attempts, m.attempts),
      next_attempt_at = o.next_attempt_at,
      -- An SMS that is deferred without a next attempt was accepted by the gateway and awaits its receipt.
      error_message = case
        when o.status = 'delivered'
        or (
          o.status = 'deferred'
          and o.next_attempt_at is null
        ) then null
        else o.detail
      end,
      updated_at = o.time,
      source_ip = coalesce(o.left_from, m.source_ip),
      previous_source_ip = m.source_ip
    from
      outcome o
    where
      m.workspace_id = o.workspace_id
      and m.id = o.message_id
      and m.id between $24 and $25
      and m.status || ' ' || o.status = any ($26::text[])
      and case
        when m.status = 'bounced'
        and o.status = 'bounced' then o.is_address_fault
        and case
        -- Platform mail has no bounce record: it is reclassified once, whatever its first class was.
          when m.source = 'platform' then m.previous_status is distinct from 'bounced'
          else (
            select
              bounce_type <> 'hard'
            from
              (
                select
                  b.ctid as place,
                  b.bounce_type,
                  b.category,
                  b.created_at
                from
                  message_events e
                  join bounces b on b.workspace_id = e.workspace_id
                  and b.id = e.id
                where
                  e.workspace_id = m.workspace_id
                  and e.message_id = m.id
                  and e.message_id between $27 and $28
                  and e.type = 'bounced'
                offset
                  0
              ) b
          )
        end
        else true
      end
    returning
      o.*,
      m.localpart,
      m.domain,
      m.is_sms,
      m.email_details,
      m.source,
      m.origin_id,
      m.origin_name,
      m.from_email,
      m.created_at,
      m.previous_status,
      m.source_ip,
      m.previous_source_ip,
      m.attempts as attempts_made,
      case
        when m.source = 'campaign' then m.origin_id
      end as campaign_id
  ),
  events as (
    insert into
      message_events (
        workspace_id,
        message_id,
        id,
        type,
        time,
        attempt,
        detail,
        mx_host,
        code,
        enhanced_code,
        source_ip,
        tls,
        opening_id,
        conversation,
        campaign_id
      )
    select
      workspace_id,
      message_id,
      event_id,
      status,
      time,
      attempts,
      detail,
      mx_host,
      code,
      enhanced_code,
      left_from,
      tls,
      opening_id,
      conversation,
      campaign_id
    from
      moved
  ),
  hardened as materialized (
    select
      m.*,
      b.place as bounce_place,
      b.bounce_type as former_type,
      b.category as former_category,
      b.created_at as bounced_at
    from
      moved m
      cross join lateral (
        select
          b.ctid as place,
          b.bounce_type,
          b.category,
          b.created_at
        from
          message_events e
          join bounces b on b.workspace_id = e.workspace_id
          and b.id = e.id
        where
          e.workspace_id = m.workspace_id
          and e.message_id = m.message_id
          and e.message_id between $29 and $30
          and e.type = 'bounced'
        offset
          0
      ) b
    where
      m.status = 'bounced'
      and m.previous_status = 'bounced'
  ),
  reclassified as (
    update bounces b
    set
      bounce_type = h.bounce_type,
      category = h.category,
      smtp_code = h.code,
      enhanced_code = h.enhanced_code,
      error_message = h.detail
    from
      hardened h
    where
      b.workspace_id = h.workspace_id
      and b.ctid = h.bounce_place
  ),
  bounced as (
    insert into
      bounces (
        workspace_id,
        id,
        message_id,
        localpart,
        domain,
        bounce_type,
        category,
        smtp_code,
        enhanced_code,
        error_message,
        source,
        campaign_id,
        origin_name,
        created_at
      )
    select
      workspace_id,
      event_id,
      message_id,
      localpart,
      domain,
      bounce_type,
      category,
      code,
      enhanced_code,
      detail,
      source,
      campaign_id,
      origin_name,
      time
    from
      moved
    where
      status = 'bounced'
      and previous_status <> 'bounced'
      and source <> 'platform'
  ),
  complained as (
    insert into
      complaints (
        workspace_id,
        id,
        message_id,
        localpart,
        domain,
        feedback_type,
        provider,
        source,
        campaign_id,
        origin_name,
        created_at
      )
    select
      workspace_id,
      event_id,
      message_id,
      localpart,
      domain,
      feedback_type,
      provider,
      source,
      campaign_id,
      origin_name,
      time
    from
      moved
    where
      status = 'complained'
      and source <> 'platform'
  ),
  status_deltas as (
    insert into
      report_notes (
        workspace_id,
        quarter,
        source,
        origin_id,
        domain,
        from_domain,
        source_ip,
        bounce_type,
        category,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      quarter,
      source,
      origin_id,
      domain,
      from_domain,
      source_ip,
      bounce_type,
      category,
      coalesce(
        sum(times) filter (
          where
            became = 'queued'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'queued'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'delivered'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'delivered'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'deferred'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'deferred'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'bounced'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'bounced'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'failed'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'failed'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'suppressed'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'suppressed'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'cancelled'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'cancelled'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            became = 'complained'
        ),
        0
      ) - coalesce(
        sum(times) filter (
          where
            was = 'complained'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            event = 'hard_bounces'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            event = 'soft_bounces'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            event = 'block_bounces'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            event = 'complaints'
        ),
        0
      )
    from
      (
        select
          m.workspace_id,
          m.times,
          n.*
        from
          (
            select
              *,
              date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00:00Z') as quarter,
              coalesce(origin_id, $31) as counted_origin_id,
              lower(split_part(from_email, '@', -1)) as from_domain
            from
              (
                select
                  workspace_id,
                  created_at,
                  source,
                  origin_id,
                  domain,
                  from_email,
                  source_ip,
                  previous_source_ip,
                  status,
                  previous_status,
                  date_bin('15 minutes', time, timestamptz '2000-01-01 00:00:00Z') as moved_quarter,
                  bounce_type,
                  category,
                  count(*) as times
                from
                  moved
                group by
                  1,
                  2,
                  3,
                  4,
                  5,
                  6,
                  7,
                  8,
                  9,
                  10,
                  11,
                  12,
                  13
              ) alike
            where
              source <> 'platform'
          ) m
          cross join lateral (
            select
              m.quarter,
              m.source,
              m.counted_origin_id,
              m.domain,
              m.from_domain,
              null::inet,
              null::text as bounce_type,
              null::text as category,
              m.status,
              m.previous_status,
              null
            where
              m.status <> m.previous_status
            union all
            select
              m.moved_quarter,
              m.source,
              m.counted_origin_id,
              m.domain,
              m.from_domain,
              null,
              m.bounce_type,
              m.category,
              null,
              null,
              coalesce(m.bounce_type || '_bounces', 'complaints')
            where
              m.status = 'complained'
              or m.status = 'bounced'
              and m.previous_status <> 'bounced'
            union all
            select
              m.quarter,
              null,
              null,
              null,
              null,
              m.source_ip,
              null::text as bounce_type,
              null::text as category,
              m.status,
              null,
              null
            where
              m.source_ip is not null
            union all
            select
              m.quarter,
              null,
              null,
              null,
              null,
              m.previous_source_ip,
              null::text as bounce_type,
              null::text as category,
              null,
              m.previous_status,
              null
            where
              m.previous_source_ip is not null
          ) as n (
            quarter,
            source,
            origin_id,
            domain,
            from_domain,
            source_ip,
            bounce_type,
            category,
            became,
            was,
            event
          )
      ) changes
    group by
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      9
  ),
  bounce_deltas as (
    insert into
      report_notes (
        workspace_id,
        quarter,
        source,
        origin_id,
        domain,
        from_domain,
        bounce_type,
        category,
        hard_bounces,
        soft_bounces,
        block_bounces
      )
    select
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain,
      bounce_type,
      category,
      coalesce(
        sum(times) filter (
          where
            bounce_type = 'hard'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            bounce_type = 'soft'
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            bounce_type = 'block'
        ),
        0
      )
    from
      (
        select
          *,
          date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00:00Z') as quarter,
          coalesce(origin_id, $32) as counted_origin_id,
          lower(split_part(from_email, '@', -1)) as from_domain
        from
          (
            select
              workspace_id,
              bounced_at as created_at,
              source,
              origin_id,
              domain,
              from_email,
              v.bounce_type,
              v.category,
              times
            from
              hardened h
              cross join lateral (
                values
                  (former_type, former_category, -1),
                  (h.bounce_type, h.category, 1)
              ) v (bounce_type, category, times)
          ) changed
        where
          source <> 'platform'
      ) c
    group by
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain,
      bounce_type,
      category
  )
select
  place,
  source,
  origin_id as "originId",
  origin_name as "originName",
  from_email as "fromEmail",
  is_sms as "isSms",
  email_details as "emailDetails",
  localpart,
  domain,
  previous_status as "from",
  attempts_made as attempts,
  host(source_ip) as "sourceIp"
from
  moved
