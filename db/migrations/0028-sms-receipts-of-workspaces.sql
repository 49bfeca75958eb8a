-- The workspace of the message that a receipt is of, which whoever tells knows as well: the message is then found by its
-- key, and not by asking every workspace.
alter table sms_receipts add column workspace_id uuid;
