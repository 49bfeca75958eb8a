-- When the lease began under which the first attempt was made. Until then each lease sets it anew: it is the Date of the
-- message, which later attempts keep. Null in a message that was tried before: its Date is when it was accepted.
alter table delivery_queue add column first_attempt_at timestamptz;
