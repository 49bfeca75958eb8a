-- Sign-ups that a form refused because a limit was reached, in stretches of five minutes, for two days: how the owner of
-- a form learns that it is abused.
create table signup_refusals (
  workspace_id uuid not null references workspaces (id),
  mailing_list_id uuid not null,
  -- When the stretch begins.
  at timestamptz not null,
  -- network, list or workspace: whose limit it was.
  reason text not null,
  -- The network that asked.
  network text not null,
  refused integer not null,
  primary key (workspace_id, mailing_list_id, at, reason, network),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);

-- The last abuse of the form: since when, when it was last seen, and which limit was reached.
alter table signup_forms
  add column abused_since timestamptz,
  add column abused_at timestamptz,
  add column abuse_reason text;
