-- What clients hand in over SMTP: stored once, however many recipients it has. Partitioned as the message log is.
create table submissions (
  workspace_id uuid not null,
  id uuid not null,
  -- Header section and body with CRLF line ends. What differs between recipients is added when each is composed.
  raw bytea not null,
  primary key (workspace_id, id)
) partition by range (id);

-- Most of it is Base64: compressing that costs much and saves little.
alter table submissions alter column raw set storage external;

create table submissions_default partition of submissions default;

-- In place of html, text and attachments.
alter table message_contents add column submission_id uuid;
