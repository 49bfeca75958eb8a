-- A migration that programs of an older version cannot work with is not applied while one of them runs.
alter table secret_key_rings rename to running_processes;
alter table running_processes add column version text not null default '0.1.0';
alter table running_processes alter column version drop default;
