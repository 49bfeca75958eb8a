-- Mail to signed addresses (return paths, unsubscribe addresses) is processed apart from mail to open addresses, which
-- everyone can write to. Within a class, mail is taken in turns by source network: `turn` says in which order.

alter table inbound_mails
  add column class text not null default 'open' check (class in ('signed', 'open')),
  add column turn bigint not null default 0,
  -- Octets of `raw` when it was stored.
  add column stored_bytes integer not null default 0;

update inbound_mails set
  class = case when kind in ('return_path', 'unsubscribe') then 'signed' else 'open' end,
  stored_bytes = octet_length(raw)
where status = 'received' or kind in ('return_path', 'unsubscribe');

alter table inbound_mails
  add constraint inbound_mails_class_of_kind check ((class = 'signed') = (kind in ('return_path', 'unsubscribe')));

drop index inbound_mails_due;
create index inbound_mails_waiting on inbound_mails (class, turn, id) include (due_at, network, stored_bytes)
  where status = 'received';
-- How much waits at one signed address, whatever the domain and the case it is written in.
create index inbound_mails_by_local_part on inbound_mails (lower(split_part(rcpt_to, '@', 1)))
  where status = 'received' and class = 'signed';
