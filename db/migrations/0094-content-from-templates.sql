-- Campaigns and steps of autoresponders have a copy of the content of a template. The columns say where it was taken from;
-- the template may be deleted since. mjml is the source of html_content, where that was made from MJML.
alter table campaigns add column template_id uuid;
alter table campaigns add column template_version integer;
alter table campaigns add column mjml text;
create index campaigns_by_template on campaigns (workspace_id, template_id) where template_id is not null;

alter table autoresponder_contents add column template_id uuid;
alter table autoresponder_contents add column template_version integer;
alter table autoresponder_contents add column mjml text;
alter table autoresponder_contents add column design json;
