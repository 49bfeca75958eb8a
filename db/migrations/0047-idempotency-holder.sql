-- The advisory lock of the process that reserved an Idempotency-Key: while the lock is not held, that process is dead, and
-- the key is free.
alter table idempotency_keys add column holder bigint;
