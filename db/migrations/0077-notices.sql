-- What needs a hand is derived from what is stored. These columns keep when a cause began, where it was not stored.
alter table webhooks add failing_since timestamptz; -- the first delivery given up since the last successful one
update webhooks set failing_since = updated_at where consecutive_failures > 0 or disabled_reason is not null;

alter table blacklist_monitors add listed_since timestamptz; -- null: listed by no zone
update blacklist_monitors set listed_since = last_checked_at where cardinality(last_listed_zones) > 0;

-- Verifications that a domain had and lost: the name of the check, and since when its record was not found.
alter table sending_domains add lost_checks jsonb not null default '{}';

-- Someone asks for approval of a draft in one revision. A change of the draft ends it, because the revision rises.
alter table campaigns add approval_requested_at timestamptz, add approval_requested_by text,
  add approval_message text, add approval_revision integer;

create index campaigns_paused on campaigns (workspace_id, paused_at) where status = 'paused';
create index campaigns_to_approve on campaigns (workspace_id, approval_requested_at)
  where status = 'draft' and approval_requested_at is not null;
create index jobs_failed on jobs (workspace_id, completed_at) where status = 'failed';

-- The id of a notice names its cause, so that a dismissal does not cover the next one.
create table notice_dismissals (
  workspace_id uuid not null references workspaces (id),
  notice_id uuid not null,
  dismissed_at timestamptz not null,
  dismissed_by text not null, -- name of the API key or person
  primary key (workspace_id, notice_id)
);
