-- Each filter of bounces and complaints has an index in the order of the lists, so that a page reads few rows.
create index bounces_by_domain on bounces (workspace_id, domain, created_at, id);
create index bounces_by_category on bounces (workspace_id, category, created_at, id);
create index bounces_by_code on bounces (workspace_id, smtp_code, created_at, id) where smtp_code is not null;
create index bounces_by_campaign on bounces (workspace_id, campaign_id, created_at, id) where campaign_id is not null;
create index complaints_by_domain on complaints (workspace_id, domain, created_at, id);
create index complaints_by_campaign on complaints (workspace_id, campaign_id, created_at, id)
  where campaign_id is not null;
