create table mailing_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  -- The default sender of campaigns to this list.
  from_name text,
  from_email text,
  reply_to_email text,
  -- A label; no mail is sent because of it.
  opt_in_type text not null default 'single',
  enable_open_tracking boolean not null default true,
  enable_click_tracking boolean not null default true,
  -- Its deletion has begun and is not refused any more; while its members go, in steps, nobody begins to write to them.
  is_going boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  language text,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (opt_in_type in ('single', 'double', 'api', 'import'))
);

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
  status text not null,
  email_domain text collate "C" generated always as (split_part(email, '@'::text, 2)) stored not null,
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
  unique (workspace_id, email),
  check (status in ('active', 'unsubscribed', 'bounced', 'complained'))
) with (fillfactor = 90, autovacuum_analyze_scale_factor = 0.3);
-- Nearly everybody is active, and is found by way of the primary key: an entry here would cost an import 3 microseconds.
create index subscribers_by_status on subscribers (workspace_id, status, id) where (status <> 'active'::text);
-- Also serves the ends of addresses: the part of a suffix behind its @ is a domain, or the end of one.
create index subscribers_by_domain on subscribers (workspace_id, email_domain);
create index subscribers_by_custom_fields on subscribers using gin (custom_fields jsonb_path_ops) with (gin_pending_list_limit='1024');
-- A short pending list: every search reads it from end to end.
create index subscribers_by_words on subscribers using gin (subscriber_words(email, first_name, last_name)) with (gin_pending_list_limit='1024');
-- Filters and orders of GET /subscribers. The times of opens and clicks change with engagement; their indexes make an
-- update of a person's row dearer by one entry each. On a table of a million people each index takes a second.
create index subscribers_by_joining on subscribers (workspace_id, created_at, id);
create index subscribers_by_opening on subscribers (workspace_id, last_opened_at desc nulls last, id desc);
create index subscribers_by_clicking on subscribers (workspace_id, last_clicked_at desc nulls last, id desc);

-- A membership's own name in answers, by which nothing is looked up: a UUID of version 3 (RFC 9562 section 5.3), of the
-- person in the name space of the list. A column of random ones would cost an import a microsecond a row.
create function membership_id(mailing_list_id uuid, subscriber_id uuid) returns uuid
  language sql immutable strict parallel safe
  return (
    select overlay(
      overlay(hash placing '3' from 13)
      placing translate(substr(hash, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') from 17)::uuid
    from (select md5(uuid_send(mailing_list_id) || uuid_send(subscriber_id)) as hash) h);

-- Who is on which list. Written by the membership door alone.
create table memberships (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  subscriber_id uuid not null,
  status text not null,
  source text,
  subscribed_at timestamptz not null,
  unsubscribed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Came by an import that asked for no autoresponders: then no series begins. Everybody else is found by when they joined;
  -- an import pays nothing for the index.
  is_quiet boolean not null default false,
  primary key (workspace_id, mailing_list_id, subscriber_id) include (status),
  check (status in ('active', 'unsubscribed', 'bounced', 'complained'))
);
create index memberships_by_status on memberships (workspace_id, mailing_list_id, status, subscriber_id) where (status <> 'active'::text);
create index memberships_by_subscriber on memberships (workspace_id, subscriber_id);
create index memberships_by_joining on memberships (workspace_id, mailing_list_id, subscribed_at, subscriber_id) where (not is_quiet);

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
) with (fillfactor = 50);

-- The same of all people of a workspace, each counted once.
create table subscriber_counters (
  workspace_id uuid not null,
  active integer not null default 0,
  unsubscribed integer not null default 0,
  bounced integer not null default 0,
  complained integer not null default 0,
  revision bigint not null default 1,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
) with (fillfactor = 50);

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
) with (fillfactor = 50);

create table custom_fields (
  workspace_id uuid not null,
  id uuid not null,
  -- Null: a global field, which every list has.
  mailing_list_id uuid,
  field_name text not null,
  field_label text not null,
  field_type text not null,
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
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade,
  check (field_type in ('text', 'textarea', 'number', 'date', 'email', 'url', 'boolean', 'select', 'multiselect'))
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

create table segments (
  workspace_id uuid not null,
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
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);
create index segments_by_list on segments (workspace_id, mailing_list_id, id);

-- Lists that people may join by a public form; a list without a row here has none.
create table signup_forms (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  created_at timestamptz not null,
  -- The last abuse of the form: since when, when it was last seen, and which limit was reached.
  abused_since timestamptz,
  abused_at timestamptz,
  abuse_reason text,
  -- What a sign-up form asks for and says. A closed form keeps it; until now the row of a closed form was deleted.
  is_open boolean not null default true,
  title text,
  description text,
  fields jsonb,
  button_text text,
  consent_text text,
  language text,
  thank_you_url text,
  primary key (workspace_id, mailing_list_id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);

create table consent_wordings (
  workspace_id uuid not null,
  -- SHA-256 of the text in UTF-8
  hash bytea not null,
  text text not null,
  -- When a request last referred to it, to the day: an unused wording is removed some days later.
  used_at timestamptz not null,
  primary key (workspace_id, hash),
  foreign key (workspace_id) references workspaces (id)
);
create index consent_wordings_by_use on consent_wordings (used_at);

-- Who asked to join by it, until they confirm or their link lapses. How many confirmation mails may be sent is counted here.
create table signup_requests (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid not null,
  email text not null,
  first_name text,
  last_name text,
  requested_at timestamptz not null,
  -- Their link has done its work.
  confirmed_at timestamptz,
  custom_fields jsonb not null default '{}',
  language text,
  consent_hash bytea,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade,
  foreign key (workspace_id, consent_hash) references consent_wordings (workspace_id, hash)
);
create index signup_requests_by_time on signup_requests (workspace_id, requested_at);
create index signup_requests_by_list on signup_requests (workspace_id, mailing_list_id);
-- For the copy and the erasure of a person's data.
create index signup_requests_by_email on signup_requests (workspace_id, email);
create index signup_requests_by_consent on signup_requests (workspace_id, consent_hash) where (consent_hash is not null);
-- For the removal of expired requests of all workspaces, which keeps the proofs.
create index signup_requests_without_proof on signup_requests (requested_at) where (not ((confirmed_at is not null) and (consent_hash is not null)));

-- Sign-ups that a form refused because a limit was reached, in stretches of five minutes, for two days: how the owner of
-- a form learns that it is abused.
create table signup_refusals (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  -- When the stretch begins.
  at timestamptz not null,
  -- network, list or workspace: whose limit it was.
  reason text not null,
  -- The network that asked.
  network text not null,
  refused integer not null,
  primary key (workspace_id, mailing_list_id, at, reason, network),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);
