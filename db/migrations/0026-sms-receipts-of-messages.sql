-- Which message of ours a receipt is of, where whoever tells knows that (HTTP gateways): it then ends the message also
-- while nobody here knows yet that it was taken, and it waits to be sent again.
alter table sms_receipts add column message_id uuid;
