-- Why people cannot reach a tracking domain by HTTPS, as far as that can be told from here; null: nothing is wrong.
alter table tracking_domains add column https_fault text;
