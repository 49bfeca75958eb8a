-- Where clicks on a tracked link lead since its target was changed; null: to its url.
alter table campaign_links add column target_url text, add column target_changed_at timestamp with time zone;
