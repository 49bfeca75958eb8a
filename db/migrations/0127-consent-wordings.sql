-- The wordings that people agreed to, each once in a workspace; sign-up requests refer to them.
set local lock_timeout = '10s';
create table consent_wordings (
  workspace_id uuid not null references workspaces (id),
  hash bytea not null, -- SHA-256 of the text in UTF-8
  text text not null,
  -- When a request last referred to it, to the day: an unused wording is removed some days later.
  used_at timestamptz not null,
  primary key (workspace_id, hash)
);
create index consent_wordings_by_use on consent_wordings (used_at);

insert into consent_wordings (workspace_id, hash, text, used_at)
select workspace_id, sha256(convert_to(consent_text, 'UTF8')), consent_text, max(requested_at)
from signup_requests where consent_text is not null group by workspace_id, consent_text;

alter table signup_requests add column consent_hash bytea;
update signup_requests set consent_hash = sha256(convert_to(consent_text, 'UTF8')) where consent_text is not null;
-- Its index on requests that are no proof goes with it.
alter table signup_requests drop column consent_text;
alter table signup_requests
  add foreign key (workspace_id, consent_hash) references consent_wordings (workspace_id, hash);
create index signup_requests_by_consent on signup_requests (workspace_id, consent_hash) where consent_hash is not null;
create index signup_requests_without_proof on signup_requests (requested_at)
  where not (confirmed_at is not null and consent_hash is not null);
