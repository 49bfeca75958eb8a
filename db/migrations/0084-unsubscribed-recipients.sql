-- The list of those who unsubscribed through a campaign reads them alone. They are few, so the index is small, and no
-- opening or click changes it.
create index campaign_recipients_unsubscribed on campaign_recipients (workspace_id, campaign_id, subscriber_id)
  where unsubscribed_at is not null;
