-- Lists that people may join by a public form; a list without a row here has none.
create table signup_forms (
  workspace_id uuid not null references workspaces (id),
  mailing_list_id uuid not null,
  created_at timestamptz not null,
  primary key (workspace_id, mailing_list_id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);

-- Who asked to join by it, until they confirm or their link lapses. How many confirmation mails may be sent is counted here.
create table signup_requests (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  mailing_list_id uuid not null,
  email text not null,
  first_name text,
  last_name text,
  requested_at timestamptz not null,
  -- Their link has done its work.
  confirmed_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, mailing_list_id) references mailing_lists (workspace_id, id) on delete cascade
);
create index signup_requests_by_time on signup_requests (workspace_id, requested_at);
create index signup_requests_by_list on signup_requests (workspace_id, mailing_list_id);
