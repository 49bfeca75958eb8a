-- PostgreSQL tries to compress what it stores beside the row. Attachments are Base64 of files that are compressed already
-- as a rule: the attempt takes most of a second for 20 MB and saves nothing.
alter table message_contents alter column attachments set storage external;
alter table campaigns alter column attachments set storage external;
