-- What is put off counts with the address it was tried from, and is counted over when it leaves from another one.
alter table messages add column previous_source_ip inet;
