-- A suppression list: addresses and domains that the workspace does not send to.
create table suppression_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  suppression_scope text not null,
  mailing_list_id uuid,
  segment_id uuid,
  -- Whether it is the list of bounces and complaints, which the service maintains.
  is_system boolean not null default false,
  -- Inactive lists suppress nothing.
  is_active boolean not null default true,
  -- Updated in the transaction that changes the entries, like the revision, which rises with every change.
  entry_count bigint not null default 0,
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
  check (not is_system or (suppression_scope = 'global' and is_active))
) with (fillfactor = 50);
create unique index suppression_lists_system on suppression_lists (workspace_id) where is_system;

-- An address or domain on a suppression list. There is no foreign key on the list: its check would cost an import of a
-- million entries as much as the unique index. Transactions that change entries lock the list first.
create table suppression_entries (
  workspace_id uuid not null,
  suppression_list_id uuid not null,
  id uuid not null,
  -- As the caller gave it.
  entry_value text not null,
  -- Lower case, the domain in A-labels (src/mail/address.ts). Recipients are compared with it.
  normalized_value text collate "C" not null,
  entry_type text not null,
  reason text not null,
  -- The message that bounced or was complained about.
  source_message_id uuid,
  -- Name of the API key or person, or `system`.
  created_by text not null,
  created_at timestamptz not null,
  primary key (workspace_id, suppression_list_id, id),
  check (entry_type in ('email', 'domain')),
  check (reason in ('manual', 'hard_bounce', 'complaint'))
);
-- The suppression check of a message looks up its address and its domain here. The index also keeps a value from being
-- on a list twice.
create unique index suppression_entries_by_value
  on suppression_entries (workspace_id, normalized_value, suppression_list_id);
-- Entries that may expire.
create index suppression_entries_bounced on suppression_entries (created_at) where reason = 'hard_bounce';
