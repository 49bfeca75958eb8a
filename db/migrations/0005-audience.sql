-- The audience: mailing lists, people, who is on which list, and the custom fields they are described by. Made for a
-- million people in one workspace: an index that would make an import slower stands here only when a read needs it.
--
-- There are no foreign keys on subscribers, memberships and counters. Their checks cost half as much as all else of an
-- import (10 microseconds a row), and lock lists in an order of their own. What they would guard, the membership door
-- keeps (src/audience/subscribers): it locks the list, then the people, and a person goes with the last membership.

create table mailing_lists (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  name text not null,
  description text not null default '',
  -- The default sender of campaigns to this list.
  from_name text,
  from_email text,
  reply_to_email text,
  -- A label; no mail is sent because of it.
  opt_in_type text not null default 'single' check (opt_in_type in ('single', 'double', 'api', 'import')),
  enable_open_tracking boolean not null default true,
  enable_click_tracking boolean not null default true,
  -- Its deletion has begun and is not refused any more; while its members go, in steps, nobody begins to write to them.
  is_going boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

-- One row for each person of a workspace, whatever lists they are on. A segment of a million people reads them all: what
-- most conditions ask for stands first, because a column is reached over those before it (a count takes a quarter longer
-- with the counters and names in front).
create table subscribers (
  workspace_id uuid not null,
  -- Kept by the membership door, so that a segment of a list reads this table alone: the ids of the lists on which the
  -- person is active, one behind the other in their 16 bytes, and the worst status of all memberships (complained,
  -- bounced, active, unsubscribed). To find an id in an array takes fifteen times as long (95 to 6 ns): it is unpacked
  -- for each row.
  active_lists bytea not null,
  status text not null check (status in ('active', 'unsubscribed', 'bounced', 'complained')),
  email_domain text collate "C" not null generated always as (split_part(email, '@', 2)) stored,
  -- What campaigns tell (as are the counters below). None of this is indexed: updates stay within the page.
  engagement_score smallint not null default 0,
  last_sent_at timestamptz,
  last_opened_at timestamptz,
  last_clicked_at timestamptz,
  custom_fields jsonb not null default '{}',
  created_at timestamptz not null,
  -- Lower-case, the domain in A-labels (mail/address.ts, normalizeAddress). Ordered by bytes, for prefix search.
  email text collate "C" not null,
  first_name text,
  last_name text,
  -- Where the person first came from.
  source text,
  id uuid not null,
  sent_count integer not null default 0,
  delivered_count integer not null default 0,
  bounce_count integer not null default 0,
  complaint_count integer not null default 0,
  open_count integer not null default 0,
  unique_open_count integer not null default 0,
  click_count integer not null default 0,
  unique_click_count integer not null default 0,
  first_sent_at timestamptz,
  updated_at timestamptz not null,
  primary key (workspace_id, id) include (status),
  unique (workspace_id, email)
)
-- A campaign moves everybody's counters, of which the planner learns nothing: with the usual tenth of all rows it had the
-- table analyzed five times meanwhile, for a fiftieth of what the campaign took.
with (fillfactor = 90, autovacuum_analyze_scale_factor = 0.3);

-- Nearly everybody is active, and is found by way of the primary key: an entry here would cost an import 3 microseconds.
create index subscribers_by_status on subscribers (workspace_id, status, id) where status <> 'active';
-- Also serves the ends of addresses: the part of a suffix behind its @ is a domain, or the end of one.
create index subscribers_by_domain on subscribers (workspace_id, email_domain);
create index subscribers_by_custom_fields on subscribers using gin (custom_fields jsonb_path_ops)
  with (gin_pending_list_limit = 1024);

-- The words that a search looks at: of the name, and of the address before the @. Trigrams would find them from the
-- middle as well, but cost an import 17 microseconds a row; words cost 3. (One translate instead of these replacements
-- would look through all its characters for every letter, which takes as long as thirty of them.)
create function subscriber_words(email text, first_name text, last_name text) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array_remove(string_to_array(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      lower(split_part(email, '@', 1) || ' ' || coalesce(first_name, '') || ' ' || coalesce(last_name, '')),
      '.', ' '), ',', ' '), '+', ' '), '_', ' '), '-', ' '), '''', ' '), '’', ' '), '"', ' '), '/', ' '), '(', ' '),
      ')', ' '), ' '), ''));

-- A short pending list: every search reads it from end to end.
create index subscribers_by_words on subscribers using gin (subscriber_words(email, first_name, last_name))
  with (gin_pending_list_limit = 1024);

-- Who is on which list. Written by the membership door alone.
create table memberships (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  subscriber_id uuid not null,
  status text not null check (status in ('active', 'unsubscribed', 'bounced', 'complained')),
  source text,
  subscribed_at timestamptz not null,
  unsubscribed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, mailing_list_id, subscriber_id) include (status)
);

create index memberships_by_status on memberships (workspace_id, mailing_list_id, status, subscriber_id)
  where status <> 'active';
create index memberships_by_subscriber on memberships (workspace_id, subscriber_id);

-- A membership's own name in answers, by which nothing is looked up: a UUID of version 3 (RFC 9562 section 5.3), of the
-- person in the name space of the list. A column of random ones would cost an import a microsecond a row.
create function membership_id(mailing_list_id uuid, subscriber_id uuid) returns uuid
  language sql immutable strict parallel safe
  return (
    select overlay(
      overlay(hash placing '3' from 13)
      placing translate(substr(hash, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') from 17)::uuid
    from (select md5(uuid_send(mailing_list_id) || uuid_send(subscriber_id)) as hash) h);

-- People of a list by status. Moved in the transaction that moves the memberships.
create table list_counters (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  active integer not null default 0,
  unsubscribed integer not null default 0,
  bounced integer not null default 0,
  complained integer not null default 0,
  -- Rises with every change of the members: what was read at one revision holds as long as it stands.
  revision bigint not null default 1,
  primary key (workspace_id, mailing_list_id)
)
with (fillfactor = 50);

-- The same of all people of a workspace, each counted once.
create table subscriber_counters (
  workspace_id uuid primary key references workspaces (id),
  active integer not null default 0,
  unsubscribed integer not null default 0,
  bounced integer not null default 0,
  complained integer not null default 0,
  revision bigint not null default 1
)
with (fillfactor = 50);

-- What happened to a list on a day of the workspace's time zone.
create table list_days (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  day date not null,
  -- Members who became active, new ones and returning ones; who stopped being it by leaving, a bounce, a complaint.
  subscribed integer not null default 0,
  unsubscribed integer not null default 0,
  bounced integer not null default 0,
  complained integer not null default 0,
  -- Messages of campaigns to the list; opens and clicks count recipients, engaged those who did either.
  sent_count integer not null default 0,
  delivered_count integer not null default 0,
  bounce_count integer not null default 0,
  complaint_count integer not null default 0,
  open_count integer not null default 0,
  click_count integer not null default 0,
  engaged_count integer not null default 0,
  primary key (workspace_id, mailing_list_id, day)
)
with (fillfactor = 50);

create table custom_fields (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Null: a global field, which every list has.
  mailing_list_id uuid,
  field_name text not null,
  field_label text not null,
  field_type text not null check (field_type in
    ('text', 'textarea', 'number', 'date', 'email', 'url', 'boolean', 'select', 'multiselect')),
  -- [ "choice", { "label", "value" }, … ] of select and multiselect.
  field_options jsonb,
  placeholder text,
  default_value jsonb,
  help_text text,
  -- { min, max, min_length, max_length, pattern }
  validation_rules jsonb,
  is_required boolean not null default false,
  is_active boolean not null default true,
  display_order integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique nulls not distinct (workspace_id, mailing_list_id, field_name),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);

-- Who was removed, by the address they had: somebody who comes back is a new person, and whoever goes through people one
-- after the other knows by this that the address had its turn. Kept while a campaign is doing so.
create table removed_people (
  workspace_id uuid not null,
  email text collate "C" not null,
  subscriber_id uuid not null,
  primary key (workspace_id, email, subscriber_id)
);

-- Which batches of an import's file are written: one transaction writes the people, and the row that says so.
create table import_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  created integer not null default 0,
  updated integer not null default 0,
  unchanged integer not null default 0,
  primary key (workspace_id, job_id, batch),
  foreign key (workspace_id, job_id) references jobs (workspace_id, id) on delete cascade
);
