with
  written as (
    insert into
      subscribers (
        workspace_id,
        id,
        email,
        first_name,
        last_name,
        source,
        custom_fields,
        status,
        active_lists,
        created_at,
        updated_at
      )
    select
      $1,
      id,
      email,
      first_name,
      last_name,
      source,
      custom_fields,
      coalesce(status, 'active'),
      case
        when coalesce(status, 'active') = 'active' then uuid_send ($2)
        else ''
      end,
      $3,
      $4
    from
      (
        select
          *,
          $5::uuid as workspace
        from
          (
            select
              *
            from
              unnest($6::uuid[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::jsonb[]) as p (id, email, first_name, last_name, source, status, custom_fields)
          ) p
        offset
          0
      ) p
    order by
      email
    on conflict (workspace_id, email) do nothing
    returning
      id,
      status,
      source
  ),
  joined as (
    -- No conflict is possible: no other transaction sees these people yet.
    insert into
      memberships (
        workspace_id,
        mailing_list_id,
        subscriber_id,
        status,
        source,
        subscribed_at,
        unsubscribed_at,
        created_at,
        updated_at,
        is_quiet
      )
    select
      $13,
      $14,
      id,
      status,
      source,
      $15::timestamptz,
      case
        when status = 'unsubscribed' then $16::timestamptz
      end,
      $17,
      $18,
      $19
    from
      written j
  ),
  counted as (
    insert into
      subscriber_stats (workspace_id, subscriber_id)
    select
      $20,
      id
    from
      written n
  )
select
  (
    count(*) filter (
      where
        new_status = 'active'
    ) - count(*) filter (
      where
        old_status = 'active'
    )
  )::int as active,
  (
    count(*) filter (
      where
        new_status = 'unsubscribed'
    ) - count(*) filter (
      where
        old_status = 'unsubscribed'
    )
  )::int as unsubscribed,
  (
    count(*) filter (
      where
        new_status = 'bounced'
    ) - count(*) filter (
      where
        old_status = 'bounced'
    )
  )::int as bounced,
  (
    count(*) filter (
      where
        new_status = 'complained'
    ) - count(*) filter (
      where
        old_status = 'complained'
    )
  )::int as complained,
  count(*)::int as changed
from
  (
    select
      null as old_status,
      status as new_status
    from
      written
  ) w
