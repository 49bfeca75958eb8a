-- One row while the whole installation sends nothing: no mail, no SMS, no webhook deliveries.
create table sending_hold (
  only_row boolean primary key default true check (only_row),
  held_at timestamptz not null default now(),
  -- The moment of the backup, if a restore has held the sending.
  backup_at timestamptz
);
