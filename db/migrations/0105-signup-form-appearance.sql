-- What a sign-up form asks for and says. A closed form keeps it; until now the row of a closed form was deleted.
alter table signup_forms
  add column is_open boolean not null default true,
  add column title text,
  add column description text,
  -- [{ field, is_required, label }]; null: the names.
  add column fields jsonb,
  add column button_text text,
  add column consent_text text,
  -- A language, or visitor; null: the list's.
  add column language text,
  add column thank_you_url text;

alter table signup_requests
  add column custom_fields jsonb not null default '{}',
  add column language text,
  -- What the person agreed to. A confirmed request with it is the proof, and is kept as long as the list.
  add column consent_text text;
-- For the copy and the erasure of a person's data.
create index signup_requests_by_email on signup_requests (workspace_id, email);
-- For the removal of expired requests of all workspaces, which keeps the proofs.
create index signup_requests_without_proof on signup_requests (requested_at)
  where not (confirmed_at is not null and consent_text is not null);
