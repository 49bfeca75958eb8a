-- What the web view of a message shows of its recipient, as JSON, where the address of the web view does not carry it.
alter table messages add column shown text;
