-- How the schema lies on Citus: every tenant table in shards by its workspace, all of them together, so that whatever
-- concerns one workspace stays on one node. test/citus.test.ts holds this list complete and the schema fit for it.
--
-- The service does not run on this layout yet: docs/operations.md, "Many database nodes", says which statements are in
-- the way. To be run once on the coordinator, by the schema's owner, over a migrated schema while the service is
-- stopped, after "create extension citus", citus_set_coordinator_host and citus_add_node.

-- On every node: what others refer to, and what is unique over all workspaces (a name, an address), which a sharded
-- table cannot promise.
select create_reference_table('workspaces');
select create_reference_table('domain_claims');
select create_reference_table('domain_switches');
select create_reference_table('quota_uses');
select create_reference_table('sending_ips');
select create_reference_table('tracking_domains');

-- By workspace; before a table stand those that its foreign keys lead to. Partitions follow their table.
select create_distributed_table('mailing_lists', 'workspace_id', colocate_with => 'none');
select create_distributed_table('api_keys', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_contents', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_counters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_links', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_mails', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_runs', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponder_steps', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('autoresponders', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('billing_accounts', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('billing_transactions', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('blacklist_checks', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('blacklist_monitors', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('bounces', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_counters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_domains', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_hours', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_link_clicks', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_links', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaign_recipients', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('campaigns', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('captured_messages', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('complaints', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('confirmation_mails', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('custom_fields', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('delivery_queue', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('idempotency_keys', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('jobs', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('job_file_parts', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('job_turns', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('import_batches', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('list_counters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('list_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('memberships', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('message_contents', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('message_events', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('messages', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('meter_entries', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('meter_hours', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('content_months', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('meters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('origin_names', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('payment_events', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('receipt_counters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('removed_people', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_category_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_domain_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_domain_weeks', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_ip_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_notes', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_origins', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_quarters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_sender_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('routed_workspaces', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('routing_rules', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('segments', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('sending_domains', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('dkim_keys', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('dmarc_reports', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('dmarc_records', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('signup_forms', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('signup_refusals', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('signup_requests', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('sms_submissions', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('soft_bounces', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('submissions', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('subscriber_counters', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('subscribers', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('subscriptions', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('suppression_entries', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('suppression_lists', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('refused_reports', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('tls_reports', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('validation_batches', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('validation_days', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('validations', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('verified_senders', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('warm_up_lanes', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('webhook_deliveries', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('webhooks', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('postmaster_domains', 'workspace_id', colocate_with => 'mailing_lists');
select create_distributed_table('report_eighths', 'workspace_id', colocate_with => 'mailing_lists');

-- On the coordinator alone: what is of no workspace. So are the tables of Graphile Worker, which are not named here.
select citus_add_local_table_to_metadata('delivery_addresses');
select citus_add_local_table_to_metadata('inbound_mails');
select citus_add_local_table_to_metadata('job_runners');
select citus_add_local_table_to_metadata('postmaster_standing');
select citus_add_local_table_to_metadata('schema_migrations');
select citus_add_local_table_to_metadata('secret_key_rings');
select citus_add_local_table_to_metadata('secret_keys');
select citus_add_local_table_to_metadata('sms_receipts');
select citus_add_local_table_to_metadata('sts_policies');
