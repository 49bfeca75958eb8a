-- The document of a block editor, from which it makes html_content. It is stored as text (json, not jsonb), because the
-- service does not interpret it: the order of keys stays, and a text may hold any escaped character.
alter table campaigns add column design json;

-- The attachments without their content, with their sizes in bytes. An editor reads a draft every few seconds; reading 20 MB of
-- attachments for their names takes half a second. Null in campaigns that were stored before: then they are read.
alter table campaigns add column attachment_files jsonb;
