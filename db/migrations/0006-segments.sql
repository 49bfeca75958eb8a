-- Segments: saved conditions on the people of a list. Who is in one is never stored, but asked for each time.

-- How text is compared without regard to case: every letter by itself, the same on every machine, whatever locale the
-- database has. PostgreSQL 16 has no collation of its own for that and takes ICU's.
do $$ begin
  if current_setting('server_version_num')::int >= 170000 then
    create collation case_folding (provider = builtin, locale = 'C.UTF-8');
  else
    create collation case_folding (provider = icu, locale = 'und');
  end if;
end $$;

create table segments (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  mailing_list_id uuid not null,
  name text not null,
  description text not null default '',
  -- { logic, rules } as the contract has them.
  conditions jsonb not null,
  -- Other segments that the conditions name, and how many conditions these are: enough to see circles and sizes.
  referenced_segments uuid[] not null,
  rule_count smallint not null,
  -- Whether the count is renewed from time to time.
  is_active boolean not null,
  -- Null while it was never counted.
  subscriber_count integer,
  counted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);

create index segments_by_list on segments (workspace_id, mailing_list_id, id);
