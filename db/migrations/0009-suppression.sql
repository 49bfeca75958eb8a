create table suppression_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  suppression_scope text not null,
  mailing_list_id uuid,
  segment_id uuid,
  -- The list of bounces and complaints, which the service keeps by itself.
  is_system boolean not null default false,
  -- An inactive list suppresses nothing.
  is_active boolean not null default true,
  -- Kept in the transaction that changes the entries. The revision rises with every change of them.
  entry_count integer not null default 0,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id),
  foreign key (workspace_id, segment_id) references segments (workspace_id, id),
  check (suppression_scope in ('global', 'mailing_list', 'segment')),
  check ((mailing_list_id is not null) = (suppression_scope = 'mailing_list')),
  check ((segment_id is not null) = (suppression_scope = 'segment')),
  check ((not is_system) or ((suppression_scope = 'global') and is_active))
) with (fillfactor = 50);
create unique index suppression_lists_system on suppression_lists (workspace_id) where is_system;

-- No foreign key on the list: its check would cost an import of a million entries as much as the index below. Whoever
-- adds or removes entries locks the list first.
create table suppression_entries (
  workspace_id uuid not null,
  suppression_list_id uuid not null,
  id uuid not null,
  -- As it was given.
  entry_value text not null,
  -- Lower-case, the domain in A-labels (mail/address.ts): what recipients are compared with.
  normalized_value text collate "C" not null,
  entry_type text not null,
  reason text not null,
  -- The message that bounced or was complained about.
  source_message_id uuid,
  -- Name of the API key, or `system`.
  created_by text not null,
  created_at timestamptz not null,
  primary key (workspace_id, suppression_list_id, id),
  check (entry_type in ('email', 'domain')),
  check (reason in ('manual', 'hard_bounce', 'complaint'))
);
-- What every message is judged by: two probes, for its address and for its domain. Also keeps a list from having a value
-- twice.
create unique index suppression_entries_by_value on suppression_entries (workspace_id, normalized_value, suppression_list_id);
-- Those that may expire.
create index suppression_entries_bounced on suppression_entries (created_at) where (reason = 'hard_bounce'::text);
