-- The message log is read newest first, whatever it is filtered by.

-- By source and status; several of either are merged.
create index messages_by_status on messages (workspace_id, source, status, id);

-- By the recipient's whole address, in any case. A random place in an index is what costs the most when a row comes in:
-- a message gets its place with its first outcome, and acceptance does not pay for it.
create index messages_by_address on messages (workspace_id, hashtext(lower(localpart || '@' || domain)), id)
  where status <> 'queued';
