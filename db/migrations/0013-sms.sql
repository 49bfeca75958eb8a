-- Short messages of which a delivery receipt is awaited. They are out of the delivery queue: nobody sends them again.
create table sms_submissions (
  workspace_id uuid not null,
  message_id uuid not null,
  -- Which gateway gave the id: ids of two gateways may be alike.
  gateway text not null,
  gateway_id text not null,
  -- From then on no receipt is awaited any more, and the message has failed.
  expires_at timestamptz not null,
  primary key (workspace_id, message_id, gateway, gateway_id)
);
create index sms_submissions_by_gateway_id on sms_submissions (gateway, gateway_id);
create index sms_submissions_by_expiry on sms_submissions (expires_at);

-- Receipts as they came. One may be faster than the news that its message was taken, and it may come to any machine: it
-- waits here until both are known.
create table sms_receipts (
  gateway text not null,
  gateway_id text not null,
  status text not null,
  detail text not null,
  received_at timestamptz not null,
  -- Which message of ours a receipt is of, where whoever tells knows that (HTTP gateways): it then ends the message also
  -- while nobody here knows yet that it was taken, and it waits to be sent again.
  message_id uuid,
  -- The workspace of the message that a receipt is of, which whoever tells knows as well: the message is then found by its
  -- key, and not by asking every workspace.
  workspace_id uuid,
  primary key (gateway, gateway_id),
  check (status in ('delivered', 'failed'))
);
create index sms_receipts_by_age on sms_receipts (received_at);
