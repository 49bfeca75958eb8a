with
  taken as materialized (
    delete from report_notes
    where
      ctid = any (
        array(
          select
            ctid
          from
            report_notes
          limit
            $1
          for update
            skip locked
        )
      )
    returning
      *,
      hard_bounces + soft_bounces + block_bounces as bounces
  ),
  quarters as (
    insert into
      report_quarters as k (
        workspace_id,
        quarter,
        source,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      quarter,
      source,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, quarter, source) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  eighths as (
    insert into
      report_eighths as k (
        workspace_id,
        eighth,
        source,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      date_bin('3 hours', quarter, timestamptz '2000-01-01 00:00:00Z'),
      source,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, eighth, source) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  origins as (
    insert into
      report_origins as k (
        workspace_id,
        source,
        origin_id,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      source,
      origin_id,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, source, origin_id) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  domains as (
    insert into
      report_domain_days as k (
        workspace_id,
        day,
        domain,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      (quarter at time zone 'UTC')::date,
      domain,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, day, domain) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  weeks as (
    insert into
      report_domain_weeks as k (
        workspace_id,
        week,
        domain,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      date_trunc('week', quarter at time zone 'UTC')::date,
      domain,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, week, domain) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  senders as (
    insert into
      report_sender_days as k (
        workspace_id,
        day,
        from_domain,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained,
        unique_opens,
        unique_clicks,
        opens,
        clicks,
        machine_opens,
        machine_clicks,
        unsubscribed,
        hard_bounces,
        soft_bounces,
        block_bounces,
        complaints
      )
    select
      workspace_id,
      (quarter at time zone 'UTC')::date,
      from_domain,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained),
      sum(unique_opens),
      sum(unique_clicks),
      sum(opens),
      sum(clicks),
      sum(machine_opens),
      sum(machine_clicks),
      sum(unsubscribed),
      sum(hard_bounces),
      sum(soft_bounces),
      sum(block_bounces),
      sum(complaints)
    from
      taken
    where
      source_ip is null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, day, from_domain) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained,
      unique_opens = k.unique_opens + excluded.unique_opens,
      unique_clicks = k.unique_clicks + excluded.unique_clicks,
      opens = k.opens + excluded.opens,
      clicks = k.clicks + excluded.clicks,
      machine_opens = k.machine_opens + excluded.machine_opens,
      machine_clicks = k.machine_clicks + excluded.machine_clicks,
      unsubscribed = k.unsubscribed + excluded.unsubscribed,
      hard_bounces = k.hard_bounces + excluded.hard_bounces,
      soft_bounces = k.soft_bounces + excluded.soft_bounces,
      block_bounces = k.block_bounces + excluded.block_bounces,
      complaints = k.complaints + excluded.complaints
  ),
  ips as (
    insert into
      report_ip_days as k (
        workspace_id,
        day,
        source_ip,
        queued,
        delivered,
        deferred,
        bounced,
        failed,
        suppressed,
        cancelled,
        complained
      )
    select
      workspace_id,
      (quarter at time zone 'UTC')::date,
      source_ip,
      sum(queued),
      sum(delivered),
      sum(deferred),
      sum(bounced),
      sum(failed),
      sum(suppressed),
      sum(cancelled),
      sum(complained)
    from
      taken
    where
      source_ip is not null
    group by
      1,
      2,
      3
    order by
      1,
      2,
      3
    on conflict (workspace_id, day, source_ip) do update
    set
      queued = k.queued + excluded.queued,
      delivered = k.delivered + excluded.delivered,
      deferred = k.deferred + excluded.deferred,
      bounced = k.bounced + excluded.bounced,
      failed = k.failed + excluded.failed,
      suppressed = k.suppressed + excluded.suppressed,
      cancelled = k.cancelled + excluded.cancelled,
      complained = k.complained + excluded.complained
  ),
  categories as (
    insert into
      report_category_days as k (workspace_id, day, bounce_type, category, bounces)
    select
      workspace_id,
      (quarter at time zone 'UTC')::date,
      bounce_type,
      category,
      sum(bounces)
    from
      taken
    where
      category is not null
    group by
      1,
      2,
      3,
      4
    order by
      1,
      2,
      3,
      4
    on conflict (workspace_id, day, bounce_type, category) do update
    set
      bounces = k.bounces + excluded.bounces
  )
select
  count(*)::int as notes
from
  taken
