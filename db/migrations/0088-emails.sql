-- Mail of POST /emails. `email_details` is what the log shows of it: the kind of recipient, tags, metadata, the time that it
-- was scheduled for. Its messages have neighbouring ids (messages/message/email-id.ts), so that they need no index.
alter table messages add column email_details jsonb;

-- Finds messages by tag or metadata. `label` is the hash of one of them (messages/labels-store.ts).
create table message_labels (
  workspace_id uuid not null,
  label bigint not null,
  message_id uuid not null,
  primary key (workspace_id, label, message_id)
) partition by range (message_id);
create table message_labels_default partition of message_labels default;

-- A submission has either the complete message or, for mail of POST /emails to several recipients, the parts that their
-- messages are composed from.
alter table submissions alter column raw drop not null;
alter table submissions add column html text;
alter table submissions add column text text;
alter table submissions add column attachments jsonb;
alter table submissions add column particulars jsonb;
