-- A mailing list of a workspace.
create table mailing_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text not null default '',
  -- The default sender of campaigns to the list.
  from_name text,
  from_email text,
  reply_to_email text,
  -- A label of the list. The service sends no confirmation mails because of it.
  opt_in_type text not null default 'single',
  enable_open_tracking boolean not null default true,
  enable_click_tracking boolean not null default true,
  -- Whether the list is being deleted. Its members are removed in steps, and no campaign or autoresponder starts for it
  -- meanwhile.
  is_going boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The language of texts for members; null: that of the workspace.
  language text,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  check (opt_in_type in ('single', 'double', 'api', 'import'))
);

-- The words that a search compares: those of the name, and of the address before the @. Trigrams would also match
-- inside words, but add 17 microseconds a row to an import, and words 3. Nested replace calls are faster than one
-- translate, which compares every letter with all its characters. In front of each word is the end of the workspace's
-- id: the index has the words of all workspaces, and the beginning of a word, in one of them, must be one range of it.
create function subscriber_words(workspace_id uuid, email text, first_name text, last_name text) returns tsvector
  language sql immutable parallel safe
  return array_to_tsvector(array_remove(string_to_array(
    encode(substr(uuid_send(workspace_id), 11), 'base64') || replace(
      replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      lower(split_part(email, '@', 1) || ' ' || coalesce(first_name, '') || ' ' || coalesce(last_name, '')),
      '.', ' '), ',', ' '), '+', ' '), '_', ' '), '-', ' '), '''', ' '), '’', ' '), '"', ' '), '/', ' '), '(', ' '),
      ')', ' '), ' ', ' ' || encode(substr(uuid_send(workspace_id), 11), 'base64')), ' '),
    encode(substr(uuid_send(workspace_id), 11), 'base64')));

-- A person of a workspace, whatever lists they are on. A segment reads all rows, and reaching a column takes longer the
-- more columns precede it. So the columns that conditions use most come first: with counters and names in front, a
-- count takes a quarter longer. What every message changes is in subscriber_stats. What opens and clicks change is here,
-- because most segments read it, and reading two tables takes three times as long. These columns are in no index, so an
-- update needs no new entries and stays within the page.
create table subscribers (
  workspace_id uuid not null,
  -- The ids of the lists on which the person is active, 16 octets each. Together with status it spares segments the
  -- table memberships. It is bytea, because finding an id in an array, which is unpacked for each row, takes 95 ns
  -- instead of 6 ns. Both columns are updated with the memberships (src/audience/subscribers/memberships/).
  active_lists bytea not null,
  -- The worst status of all memberships: complained, bounced, active, unsubscribed.
  status text not null,
  email_domain text collate "C" generated always as (split_part(email, '@', 2)) stored not null,
  -- Engagement with campaigns and autoresponders, like the counters below.
  engagement_score smallint not null default 0,
  last_opened_at timestamptz,
  last_clicked_at timestamptz,
  custom_fields jsonb not null default '{}',
  created_at timestamptz not null,
  -- Lower case, the domain in A-labels (src/mail/address.ts). Collation "C" allows prefix searches by index.
  email text collate "C" not null,
  first_name text,
  last_name text,
  -- How the person was first added.
  source text,
  id uuid not null,
  open_count integer not null default 0,
  unique_open_count integer not null default 0,
  click_count integer not null default 0,
  unique_click_count integer not null default 0,
  updated_at timestamptz not null,
  primary key (workspace_id, id) include (status),
  unique (workspace_id, email),
  check (status in ('active', 'unsubscribed', 'bounced', 'complained'))
) with (fillfactor = 90, autovacuum_analyze_scale_factor = 0.3);
-- Active people are found by the primary key. As nearly all are active, entries for them would add 3 microseconds a row
-- to an import.
create index subscribers_by_status on subscribers (workspace_id, status, id) where status <> 'active';
-- Also serves searches for the end of an address: after the @ it is a domain, or the end of one.
create index subscribers_by_domain on subscribers (workspace_id, email_domain);
-- The workspace is an array, for which PostgreSQL has an operator class of GIN. A scan with both columns skips the
-- people of other workspaces.
create index subscribers_by_custom_fields
  on subscribers using gin ((array[workspace_id]), custom_fields jsonb_path_ops) with (gin_pending_list_limit='1024');
-- The pending list is short, because every search reads all of it.
create index subscribers_by_words
  on subscribers using gin (subscriber_words(workspace_id, email, first_name, last_name)) with (gin_pending_list_limit='1024');
create index subscribers_by_joining on subscribers (workspace_id, created_at, id);

-- Figures of the mail to a person that every message changes. They are not in the row of the person, which is wider and
-- has two GIN indexes. A page has room for new versions of its rows, and no counter is in an index. Each person has a
-- row, which is inserted and deleted with the person's.
create table subscriber_stats (
  workspace_id uuid not null,
  subscriber_id uuid not null,
  -- As in subscribers, for the indexes: there each open would add an entry to all indexes of people.
  last_opened_at timestamptz,
  last_clicked_at timestamptz,
  first_sent_at timestamptz,
  last_sent_at timestamptz,
  sent_count integer not null default 0,
  delivered_count integer not null default 0,
  bounce_count integer not null default 0,
  complaint_count integer not null default 0,
  primary key (workspace_id, subscriber_id)
) with (fillfactor = 80, autovacuum_analyze_scale_factor = 0.3);
-- Filters and orders of GET /subscribers. Entries for new people would add to the time of an import.
create index subscriber_stats_by_opening on subscriber_stats (workspace_id, last_opened_at desc, subscriber_id desc)
  where last_opened_at is not null;
create index subscriber_stats_by_clicking on subscriber_stats (workspace_id, last_clicked_at desc, subscriber_id desc)
  where last_clicked_at is not null;

-- The id of a membership in answers, which is not used for look-ups. It is a UUID of version 3 (RFC 9562 section 5.3)
-- with the list as name space and the person as name. A column with random ids would add a microsecond a row to an
-- import.
create function membership_id(mailing_list_id uuid, subscriber_id uuid) returns uuid
  language sql immutable strict parallel safe
  return (
    select overlay(
      overlay(hash placing '3' from 13)
      placing translate(substr(hash, 17, 1), '0123456789abcdef', '89ab89ab89ab89ab') from 17)::uuid
    from (select md5(uuid_send(mailing_list_id) || uuid_send(subscriber_id)) as hash) h);

-- A membership: a person on a list, with a status for that list. Only the statements in
-- src/audience/subscribers/memberships/ write it, because counters and the row of the person change with it.
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
  -- Whether autoresponders ignore the membership, as an import may ask. Other members are found by the time when they
  -- joined; quiet ones are not in that index, which makes such imports faster.
  is_quiet boolean not null default false,
  primary key (workspace_id, mailing_list_id, subscriber_id) include (status),
  check (status in ('active', 'unsubscribed', 'bounced', 'complained'))
);
create index memberships_by_status on memberships (workspace_id, mailing_list_id, status, subscriber_id)
  where status <> 'active';
create index memberships_by_subscriber on memberships (workspace_id, subscriber_id);
create index memberships_by_joining on memberships (workspace_id, mailing_list_id, subscribed_at, subscriber_id)
  where not is_quiet;

-- Members of a list by status. They are updated in the transaction that changes the memberships.
create table list_counters (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  active bigint not null default 0,
  unsubscribed bigint not null default 0,
  bounced bigint not null default 0,
  complained bigint not null default 0,
  -- Rises with every change of the members. A result that was read at one revision is valid until the revision rises.
  revision bigint not null default 1,
  primary key (workspace_id, mailing_list_id)
) with (fillfactor = 50);

-- People of a workspace by status, each counted once. They are updated like list_counters.
create table subscriber_counters (
  workspace_id uuid not null,
  active bigint not null default 0,
  unsubscribed bigint not null default 0,
  bounced bigint not null default 0,
  complained bigint not null default 0,
  revision bigint not null default 1,
  primary key (workspace_id),
  foreign key (workspace_id) references workspaces (id)
) with (fillfactor = 50);

-- Counters of a list for one day in the time zone of the workspace.
create table list_days (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  day date not null,
  -- Members who became active, new or returning.
  subscribed bigint not null default 0,
  -- Members who stopped being active, by cause: they unsubscribed, bounced or complained.
  unsubscribed bigint not null default 0,
  bounced bigint not null default 0,
  complained bigint not null default 0,
  -- Messages of campaigns to the list. The counts of opens and clicks are recipients; engaged recipients did either.
  sent_count bigint not null default 0,
  delivered_count bigint not null default 0,
  bounce_count bigint not null default 0,
  complaint_count bigint not null default 0,
  open_count bigint not null default 0,
  click_count bigint not null default 0,
  engaged_count bigint not null default 0,
  primary key (workspace_id, mailing_list_id, day)
) with (fillfactor = 50);

-- A custom field of people, on one list or on all lists of a workspace.
create table custom_fields (
  workspace_id uuid not null,
  id uuid not null,
  -- Null: a global field, which applies to every list.
  mailing_list_id uuid,
  field_name text not null,
  field_label text not null,
  field_type text not null,
  -- Of select and multiselect: [ "choice", { "label", "value" }, … ].
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

-- A person who was deleted while a campaign prepares its audience. A person who is added again has a new id; this row
-- tells the campaign that the address may already be among its recipients.
create table removed_people (
  workspace_id uuid not null,
  email text collate "C" not null,
  subscriber_id uuid not null,
  primary key (workspace_id, email, subscriber_id)
);

-- A batch of an import that is done. The transaction that writes its people inserts the row.
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

-- A segment of a list: conditions that select people.
create table segments (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid not null,
  name text not null,
  description text not null default '',
  -- { logic, rules } as in the API.
  conditions jsonb not null,
  -- The other segments that the conditions name, to detect circular references and to limit their size.
  referenced_segments uuid[] not null,
  -- Number of conditions, for the same limit.
  rule_count smallint not null,
  -- Whether the count is renewed from time to time.
  is_active boolean not null,
  -- Null: not counted yet.
  subscriber_count bigint,
  counted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);
create index segments_by_list on segments (workspace_id, mailing_list_id, id);

-- The public sign-up form of a list. A list without a row has none.
create table signup_forms (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  created_at timestamptz not null,
  -- The last abuse of the form: its start, its last refusal, and the limit that was reached.
  abused_since timestamptz,
  abused_at timestamptz,
  abuse_reason text,
  -- Whether people can sign up. A closed form keeps its texts.
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

-- A wording of the consent that a sign-up form asks for.
create table consent_wordings (
  workspace_id uuid not null,
  -- SHA-256 of the text in UTF-8.
  hash bytea not null,
  text text not null,
  -- When a sign-up last referred to it, to the day. Unused wordings are removed after some days.
  used_at timestamptz not null,
  primary key (workspace_id, hash),
  foreign key (workspace_id) references workspaces (id)
);
create index consent_wordings_by_use on consent_wordings (used_at);

-- A sign-up by a form. It waits for confirmation until its link expires, and is kept as a proof if the person has
-- confirmed a consent. Rows are also counted to limit confirmation mails.
create table signup_requests (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid not null,
  email text not null,
  first_name text,
  last_name text,
  requested_at timestamptz not null,
  -- When the person confirmed by the link.
  confirmed_at timestamptz,
  custom_fields jsonb not null default '{}',
  language text,
  -- The wording of the consent that the person agreed to.
  consent_hash bytea,
  primary key (workspace_id, id),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade,
  foreign key (workspace_id, consent_hash) references consent_wordings (workspace_id, hash)
);
create index signup_requests_by_time on signup_requests (workspace_id, requested_at);
create index signup_requests_by_list on signup_requests (workspace_id, mailing_list_id);
-- Serves the copy and the erasure of a person's data.
create index signup_requests_by_email on signup_requests (workspace_id, email);
create index signup_requests_by_consent on signup_requests (workspace_id, consent_hash) where consent_hash is not null;
-- Serves the removal of expired requests in all workspaces, which keeps proofs of consent.
create index signup_requests_without_proof on signup_requests (requested_at)
  where not (confirmed_at is not null and consent_hash is not null);

-- Sign-ups that a form refused at a limit, by network, in an interval of five minutes. They are kept for two days and
-- show the workspace that the form is abused.
create table signup_refusals (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  -- Start of the interval.
  at timestamptz not null,
  -- The limit that was reached: that of the network, the list or the workspace.
  reason text not null,
  -- The network of the caller.
  network text not null,
  refused integer not null,
  primary key (workspace_id, mailing_list_id, at, reason, network),
  foreign key (workspace_id) references workspaces (id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);
-- Serves the removal of old rows of all workspaces.
create index signup_refusals_by_time on signup_refusals (at);
