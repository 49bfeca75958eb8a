with
  given as materialized (
    select
      g.*,
      m.source,
      m.origin_id,
      m.domain,
      m.from_email,
      m.created_at,
      case
        when m.source = 'campaign' then m.origin_id
      end as campaign_id,
      case
        when m.source = 'autoresponder' then m.origin_id
      end as autoresponder_id,
      coalesce(
        g.sign,
        case
          when m.status = 'queued' then 'early'
        end
      ) as machine_sign
    from
      unnest(
        $1::uuid[],
        $2::uuid[],
        $3::uuid[],
        $4::text[],
        $5::timestamptz[],
        $6::integer[],
        $7::smallint[],
        $8::text[],
        $9::text[],
        $10::text[]
      ) as g (workspace_id, message_id, event_id, kind, time, times, link_index, target, user_agent, sign)
      join messages m on m.workspace_id = g.workspace_id
      and m.id = g.message_id
      and m.id between $11 and $12
  ),
  events as (
    insert into
      message_events (
        workspace_id,
        message_id,
        id,
        type,
        time,
        detail,
        campaign_id,
        link_index,
        times,
        user_agent,
        machine_sign
      )
    select
      workspace_id,
      message_id,
      event_id,
      case
        when machine_sign is null then kind
        else 'machine_' || kind
      end,
      time,
      target,
      campaign_id,
      link_index,
      nullif(times, 1),
      user_agent,
      machine_sign
    from
      given
  ),
  deltas as (
    insert into
      report_notes (
        workspace_id,
        quarter,
        source,
        origin_id,
        domain,
        from_domain,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks
      )
    select
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain,
      count(*) filter (
        where
          is_first_sign
      ),
      count(*) filter (
        where
          kind = 'clicked'
          and is_first
      ),
      coalesce(
        sum(times) filter (
          where
            kind = 'opened'
            and is_machine = false
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            kind = 'clicked'
            and is_machine = false
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            kind = 'opened'
            and is_machine = true
        ),
        0
      ),
      coalesce(
        sum(times) filter (
          where
            kind = 'clicked'
            and is_machine = true
        ),
        0
      )
    from
      (
        select
          *,
          date_bin('15 minutes', created_at, timestamptz '2000-01-01 00:00:00Z') as quarter,
          coalesce(origin_id, $13) as counted_origin_id,
          lower(split_part(from_email, '@', -1)) as from_domain
        from
          (
            select
              g.*,
              machine_sign is not null as is_machine,
              machine_sign is null
              and row_number() over (
                partition by
                  message_id,
                  kind,
                  machine_sign is null
                order by
                  event_id
              ) = 1
              and not exists (
                select
                from
                  message_events e
                where
                  e.workspace_id = g.workspace_id
                  and e.message_id = g.message_id
                  and e.type = g.kind
                  and e.message_id between $14 and $15
              ) as is_first,
              machine_sign is null
              and row_number() over (
                partition by
                  message_id,
                  machine_sign is null
                order by
                  event_id
              ) = 1
              and not exists (
                select
                from
                  message_events e
                where
                  e.workspace_id = g.workspace_id
                  and e.message_id = g.message_id
                  and e.type in ('opened', 'clicked')
                  and e.message_id between $16 and $17
              ) as is_first_sign
            from
              given g
          ) engaged
        where
          source <> 'platform'
      ) e
    group by
      workspace_id,
      quarter,
      source,
      counted_origin_id,
      domain,
      from_domain
  )
select
  workspace_id as "workspaceId",
  message_id as "messageId",
  campaign_id as "campaignId",
  autoresponder_id as "autoresponderId",
  kind,
  machine_sign is not null as "isMachine",
  time,
  times,
  link_index as "linkIndex",
  target
from
  given
