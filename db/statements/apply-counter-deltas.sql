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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained,
      coalesce(sum(unique_opens), 0)::bigint as unique_opens,
      coalesce(sum(unique_clicks), 0)::bigint as unique_clicks,
      coalesce(sum(opens), 0)::bigint as opens,
      coalesce(sum(clicks), 0)::bigint as clicks,
      coalesce(sum(machine_opens), 0)::bigint as machine_opens,
      coalesce(sum(machine_clicks), 0)::bigint as machine_clicks,
      coalesce(sum(unsubscribed), 0)::bigint as unsubscribed,
      coalesce(sum(hard_bounces), 0)::bigint as hard_bounces,
      coalesce(sum(soft_bounces), 0)::bigint as soft_bounces,
      coalesce(sum(block_bounces), 0)::bigint as block_bounces,
      coalesce(sum(complaints), 0)::bigint as complaints
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
      coalesce(sum(queued), 0)::bigint as queued,
      coalesce(sum(delivered), 0)::bigint as delivered,
      coalesce(sum(deferred), 0)::bigint as deferred,
      coalesce(sum(bounced), 0)::bigint as bounced,
      coalesce(sum(failed), 0)::bigint as failed,
      coalesce(sum(suppressed), 0)::bigint as suppressed,
      coalesce(sum(cancelled), 0)::bigint as cancelled,
      coalesce(sum(complained), 0)::bigint as complained
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
      coalesce(sum(bounces), 0)::bigint as bounces
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
  count(*)::int as applied
from
  taken
