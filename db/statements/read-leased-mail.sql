select
  leased.place::int as place,
  m.*,
  c.from_name,
  c.to_name,
  coalesce(c.particulars, s.particulars) as particulars,
  leased.bytes > $1 as is_large,
  case
    when leased.bytes <= $2 then coalesce(c.html, s.html)
  end as html,
  case
    when leased.bytes <= $3 then coalesce(c.text, s.text)
  end as text,
  case
    when leased.bytes <= $4 then coalesce(c.attachments, s.attachments)
  end as attachments,
  case
    when leased.bytes <= $5 then s.raw
  end as raw,
  c.message_id is not null
  and (
    c.submission_id is null
    or s.id is not null
  ) as has_content
from
  unnest($6::uuid[], $7::uuid[], $8::integer[]) with ordinality as leased (workspace_id, message_id, bytes, place)
  -- Lateral with offset 0; otherwise the planner would scan a whole partition that has not been analyzed yet.
  cross join lateral (
    select
      created_at,
      source,
      origin_id,
      from_email,
      localpart,
      domain,
      subject
    from
      messages m
    where
      m.workspace_id = leased.workspace_id
      and m.id = leased.message_id
      and m.id between $9 and $10
    offset
      0
  ) m
  left join lateral (
    select
      *
    from
      message_contents c
    where
      c.workspace_id = leased.workspace_id
      and c.message_id = leased.message_id
      and c.message_id between $11 and $12
    offset
      0
  ) c on true
  left join lateral (
    select
      id,
      raw,
      html,
      text,
      attachments,
      particulars
    from
      submissions s
    where
      s.workspace_id = leased.workspace_id
      and s.id = c.submission_id
      and s.id >= $13
      and s.id < $14
    offset
      0
  ) s on true
order by
  leased.place
