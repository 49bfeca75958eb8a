-- Inbound routes: which mail to addresses of a verified domain a workspace receives, and what becomes of it.
create table inbound_routes (
  workspace_id uuid not null references workspaces (id),
  id uuid not null,
  -- Lower case, with at most one * for any text.
  local_part text not null,
  -- Lower-case A-labels: a verified sending domain of the workspace, or a name below it.
  domain text not null,
  priority integer not null,
  -- Whether mail is announced to webhooks, and whether it is kept for reading. One of them is true.
  webhook boolean not null,
  keep boolean not null,
  -- Octets of the largest mail.
  max_bytes integer not null,
  -- From this score of the spam scanner on, mail is rejected or marked; null: the scanner's own threshold marks it.
  spam_threshold double precision,
  spam_action text not null check (spam_action in ('reject', 'mark')),
  is_active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  unique (workspace_id, domain, local_part),
  check (webhook or keep)
);

-- RCPT knows only the domain.
create index inbound_routes_by_domain on inbound_routes (domain) where is_active;
