-- What an operator may set on a workspace beside its plan, time zone and hourly cap.
alter table workspaces
  -- From whom its transactional mail is where the caller names nobody; null: the installation's own sender.
  add column default_sender text,
  -- How long mail that was put off is tried again.
  add column retry_hours smallint not null default 72 check (retry_hours between 1 and 168);
