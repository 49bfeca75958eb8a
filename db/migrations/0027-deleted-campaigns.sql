-- A campaign that had begun when it was deleted is out of everybody's sight, and its row stays while the log has messages of
-- it: the links of its mails, the mail in the browser and what is deferred are made of it.
alter table campaigns add column deleted_at timestamptz;
