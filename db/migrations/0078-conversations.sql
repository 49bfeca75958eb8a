-- The SMTP conversation of each attempt, kept as long as the log. `conversation` has the lines of the message's own
-- transaction (messages/message/conversation.ts). Those of the opening (greeting, EHLO, TLS) are stored once for each
-- workspace whose messages the connection carried: repeated for each message they would be two thirds of its size.
create table smtp_openings (
  workspace_id uuid not null,
  id uuid not null,
  lines text not null,
  primary key (workspace_id, id)
) partition by range (id);
create table smtp_openings_default partition of smtp_openings default;

alter table message_events add column opening_id uuid;
alter table message_events add column conversation text;
