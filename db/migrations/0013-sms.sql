-- An SMS that a gateway has accepted and whose delivery receipt is awaited. It is not in the delivery queue, so it is
-- not sent again.
create table sms_submissions (
  workspace_id uuid not null,
  message_id uuid not null,
  -- The gateway that assigned the id. Two gateways may assign the same one.
  gateway text not null,
  -- The id of the SMS at the gateway.
  gateway_id text not null,
  -- If no receipt has arrived by then, the message fails.
  expires_at timestamptz not null,
  primary key (workspace_id, message_id, gateway, gateway_id)
);
create index sms_submissions_by_gateway_id on sms_submissions (gateway, gateway_id);
create index sms_submissions_by_expiry on sms_submissions (expires_at);

-- A delivery receipt of a gateway. It may arrive before the acceptance of its message is recorded, and on any machine,
-- so it is stored until both are known.
create table sms_receipts (
  gateway text not null,
  gateway_id text not null,
  status text not null,
  detail text not null,
  received_at timestamptz not null,
  -- The message, if the gateway reports it (HTTP gateways). The receipt then ends the message even if its acceptance by
  -- the gateway is not recorded and it waits to be sent again.
  message_id uuid,
  -- The workspace of the message, so that it is found by its primary key.
  workspace_id uuid,
  primary key (gateway, gateway_id),
  check (status in ('delivered', 'failed'))
);
create index sms_receipts_by_age on sms_receipts (received_at);
