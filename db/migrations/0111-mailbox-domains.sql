-- Which mailbox provider has the mail of a domain, by its MX. It belongs to the installation, like the DNS it comes from.
-- `provider` is the name of a lane; null while the DNS gave no answer.
create table mailbox_domains (
  domain text primary key,
  provider text,
  -- When it is looked up again.
  due_at timestamptz not null
);
