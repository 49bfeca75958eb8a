-- Filters and orders of GET /subscribers. The times of opens and clicks change with engagement; their indexes make an
-- update of a person's row dearer by one entry each. On a table of a million people each index takes a second.
create index subscribers_by_joining on subscribers (workspace_id, created_at, id);
create index subscribers_by_opening on subscribers (workspace_id, last_opened_at desc nulls last, id desc);
create index subscribers_by_clicking on subscribers (workspace_id, last_clicked_at desc nulls last, id desc);
