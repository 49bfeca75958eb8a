-- Whether the next step of a campaign's expansion waits for its workspace's hourly cap.
alter table campaigns add column waits_for_cap boolean not null default false;
