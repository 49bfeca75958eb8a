CREATE OR REPLACE FUNCTION public.membership_id(mailing_list_id uuid, subscriber_id uuid)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (SELECT (OVERLAY(OVERLAY(h.hash PLACING '3'::text FROM 13) PLACING translate(substr(h.hash, 17, 1), '0123456789abcdef'::text, '89ab89ab89ab89ab'::text) FROM 17))::uuid AS "overlay" FROM (SELECT md5((uuid_send(membership_id.mailing_list_id) || uuid_send(membership_id.subscriber_id))) AS hash) h)
;
CREATE OR REPLACE FUNCTION public.refuse_audit_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'audit events are never changed';
end $function$
;
CREATE OR REPLACE FUNCTION public.subscriber_words(workspace_id uuid, email text, first_name text, last_name text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN array_to_tsvector(array_remove(string_to_array((encode(substr(uuid_send(workspace_id), 11), 'base64'::text) || replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(((((split_part(email, '@'::text, 1) || ' '::text) || COALESCE(first_name, ''::text)) || ' '::text) || COALESCE(last_name, ''::text))), '.'::text, ' '::text), ','::text, ' '::text), '+'::text, ' '::text), '_'::text, ' '::text), '-'::text, ' '::text), ''''::text, ' '::text), '’'::text, ' '::text), '"'::text, ' '::text), '/'::text, ' '::text), '('::text, ' '::text), ')'::text, ' '::text), ' '::text, (' '::text || encode(substr(uuid_send(workspace_id), 11), 'base64'::text)))), ' '::text), encode(substr(uuid_send(workspace_id), 11), 'base64'::text)))
;
CREATE TRIGGER audit_events_append_only BEFORE UPDATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_update();
create collation case_folding;

create table account_links (
  token_hash bytea not null,
  purpose text not null,
  user_id uuid,
  email text,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (token_hash),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CHECK (((user_id IS NULL) = (purpose = 'first_owner'::text))),
  CHECK (((email IS NOT NULL) = (purpose = 'change_email'::text))),
  CHECK ((purpose = ANY (ARRAY['first_owner'::text, 'set_password'::text, 'change_email'::text])))
);
CREATE INDEX account_links_by_end ON account_links USING btree (expires_at);
CREATE INDEX account_links_of_user ON account_links USING btree (user_id, purpose);

create table api_keys (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  key_hash bytea not null,
  key_prefix text not null,
  is_active boolean default true not null,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX api_keys_by_hash ON api_keys USING btree (key_hash);

create table api_requests (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  operation text,
  status smallint not null,
  ms integer not null,
  request_id text not null,
  left_out integer default 0 not null,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX api_requests_by_time ON api_requests USING btree (id);
CREATE INDEX api_requests_of_key ON api_requests USING btree (workspace_id, key_id, id);

create table attempt_buckets (
  bucket text not null,
  full_at timestamp with time zone not null,
  PRIMARY KEY (bucket)
);
CREATE INDEX attempt_buckets_by_time ON attempt_buckets USING btree (full_at);

create table audit_events (
  workspace_id uuid not null,
  id uuid not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  operation text not null,
  resource_kind text not null,
  resource_id uuid,
  resource_name text,
  result text not null,
  code text,
  changes jsonb not null,
  ip text,
  agent text,
  request_id text,
  reason text,
  PRIMARY KEY (workspace_id, id),
  CHECK ((actor_kind = ANY (ARRAY['key'::text, 'person'::text, 'system'::text, 'visitor'::text]))),
  CHECK ((result = ANY (ARRAY['done'::text, 'refused'::text])))
);
CREATE INDEX audit_events_by_actor ON audit_events USING btree (workspace_id, actor_id, id);
CREATE INDEX audit_events_by_kind ON audit_events USING btree (workspace_id, resource_kind, id);
CREATE INDEX audit_events_by_operation ON audit_events USING btree (workspace_id, operation, id);
CREATE INDEX audit_events_by_result ON audit_events USING btree (workspace_id, result, id);
CREATE INDEX audit_events_by_time ON audit_events USING btree (id);
CREATE INDEX audit_events_of_resource ON audit_events USING btree (workspace_id, resource_id, id);

create table authenticator_apps (
  id uuid not null,
  user_id uuid not null,
  name text not null,
  secret bytea not null,
  last_step bigint,
  created_at timestamp with time zone default now() not null,
  confirmed_at timestamp with time zone,
  last_used_at timestamp with time zone,
  PRIMARY KEY (id),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX authenticator_apps_being_set_up ON authenticator_apps USING btree (created_at) WHERE (confirmed_at IS NULL);
CREATE INDEX authenticator_apps_of_user ON authenticator_apps USING btree (user_id);

create table autoresponder_contents (
  workspace_id uuid not null,
  id uuid not null,
  autoresponder_id uuid not null,
  mailing_list_id uuid not null,
  subject text not null,
  html_content text,
  text_content text,
  tracks_opens boolean not null,
  tracks_clicks boolean not null,
  warnings jsonb not null,
  template_id uuid,
  template_version integer,
  mjml text,
  design json,
  media_ids uuid[] default '{}'::uuid[] not null,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX autoresponder_contents_by_autoresponder ON autoresponder_contents USING btree (workspace_id, autoresponder_id);
CREATE INDEX autoresponder_contents_with_media ON autoresponder_contents USING gin (media_ids) WHERE (media_ids <> '{}'::uuid[]);

create table autoresponder_counters (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  sent bigint default 0 not null,
  hard_bounced bigint default 0 not null,
  failures_in_a_row bigint default 0 not null,
  opens bigint default 0 not null,
  unique_opens bigint default 0 not null,
  clicks bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  activities bigint default 0 not null,
  PRIMARY KEY (workspace_id, autoresponder_id)
);

create table autoresponder_links (
  workspace_id uuid not null,
  content_id uuid not null,
  index smallint not null,
  url text not null,
  is_personal boolean not null,
  PRIMARY KEY (workspace_id, content_id, index)
);

create table autoresponder_mails (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  occasion timestamp with time zone not null,
  step_id uuid not null,
  message_id uuid not null,
  content_id uuid not null,
  first_opened_at timestamp with time zone,
  first_clicked_at timestamp with time zone,
  unsubscribed_at timestamp with time zone,
  PRIMARY KEY (workspace_id, autoresponder_id, subscriber_id, occasion, step_id)
);
CREATE INDEX autoresponder_mails_by_content ON autoresponder_mails USING btree (workspace_id, content_id);
CREATE UNIQUE INDEX autoresponder_mails_by_message ON autoresponder_mails USING btree (workspace_id, message_id);
CREATE INDEX autoresponder_mails_by_subscriber ON autoresponder_mails USING btree (workspace_id, subscriber_id);

create table autoresponder_runs (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  subscriber_id uuid not null,
  occasion timestamp with time zone not null,
  generation integer not null,
  member_since timestamp with time zone not null,
  next_step_id uuid,
  due_at timestamp with time zone,
  PRIMARY KEY (workspace_id, autoresponder_id, subscriber_id, occasion)
);
CREATE INDEX autoresponder_runs_due ON autoresponder_runs USING btree (workspace_id, autoresponder_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX autoresponder_runs_waiting ON autoresponder_runs USING btree (workspace_id, autoresponder_id, next_step_id, due_at, subscriber_id) WHERE (due_at IS NOT NULL);

create table autoresponder_step_counters (
  workspace_id uuid not null,
  step_id uuid not null,
  autoresponder_id uuid not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  sent bigint default 0 not null,
  hard_bounced bigint default 0 not null,
  failures_in_a_row bigint default 0 not null,
  opens bigint default 0 not null,
  unique_opens bigint default 0 not null,
  clicks bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  activities bigint default 0 not null,
  PRIMARY KEY (workspace_id, step_id)
);

create table autoresponder_steps (
  workspace_id uuid not null,
  autoresponder_id uuid not null,
  id uuid not null,
  position smallint,
  successor_id uuid,
  delay_minutes integer not null,
  content_id uuid not null,
  PRIMARY KEY (workspace_id, autoresponder_id, id)
);

create table autoresponders (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  mailing_list_id uuid not null,
  from_email text not null,
  from_name text,
  reply_to text,
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  trigger_type text not null,
  date_field text,
  is_yearly boolean default false not null,
  at text,
  status text default 'inactive'::text not null,
  generation integer default 1 not null,
  active_times tstzmultirange default '{}'::tstzmultirange not null,
  scanned_to timestamp with time zone,
  day_done date,
  activated_at timestamp with time zone,
  deactivated_at timestamp with time zone,
  deactivation_reason text,
  waiting_reason text,
  stood_still interval default '00:00:00'::interval not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((status = ANY (ARRAY['inactive'::text, 'active'::text]))),
  CHECK ((trigger_type = ANY (ARRAY['subscribed'::text, 'date'::text])))
);
CREATE INDEX autoresponders_active ON autoresponders USING btree (mailing_list_id) WHERE (status = 'active'::text);
CREATE INDEX autoresponders_stopped ON autoresponders USING btree (id) WHERE ((status = 'inactive'::text) AND (activated_at IS NOT NULL));

create table billing_accounts (
  workspace_id uuid not null,
  balance numeric(20,6) default 0 not null,
  is_prepaid boolean default false not null,
  email_headroom bigint default 0,
  headroom_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  content_headroom bigint default 0,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((balance >= (0)::numeric))
);

create table billing_transactions (
  workspace_id uuid not null,
  id uuid not null,
  gateway text,
  transaction_type text not null,
  amount numeric(20,6) not null,
  currency text default 'USD'::text not null,
  status text not null,
  receipt_number text,
  description text not null,
  kind text,
  quantity bigint,
  unit_rate numeric(20,6),
  day date,
  gateway_reference text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((gateway = ANY (ARRAY['stripe'::text, 'manual'::text]))),
  CHECK ((status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text]))),
  CHECK ((transaction_type = ANY (ARRAY['topup'::text, 'subscription'::text, 'usage'::text, 'refund'::text, 'adjustment'::text])))
);
CREATE UNIQUE INDEX billing_transactions_by_receipt ON billing_transactions USING btree (workspace_id, receipt_number);
CREATE UNIQUE INDEX billing_transactions_by_reference ON billing_transactions USING btree (workspace_id, gateway, gateway_reference) WHERE (gateway_reference IS NOT NULL);
CREATE UNIQUE INDEX billing_transactions_of_day ON billing_transactions USING btree (workspace_id, transaction_type, kind, day, unit_rate) WHERE (day IS NOT NULL);
CREATE INDEX billing_transactions_pending ON billing_transactions USING btree (created_at) WHERE (status = 'pending'::text);

create table blacklist_checks (
  workspace_id uuid not null,
  id uuid not null,
  monitor_id uuid,
  target text not null,
  target_type text not null,
  check_type text not null,
  status text not null,
  listed_count integer not null,
  total_checked integer not null,
  cost integer not null,
  result json not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((check_type = ANY (ARRAY['manual'::text, 'scheduled'::text]))),
  CHECK ((status = ANY (ARRAY['clean'::text, 'listed'::text, 'error'::text, 'skipped'::text]))),
  CHECK ((target_type = ANY (ARRAY['ip'::text, 'domain'::text])))
);
CREATE INDEX blacklist_checks_by_age ON blacklist_checks USING btree (created_at);
CREATE INDEX blacklist_checks_by_monitor ON blacklist_checks USING btree (workspace_id, monitor_id, created_at, id) WHERE (monitor_id IS NOT NULL);
CREATE INDEX blacklist_checks_by_target ON blacklist_checks USING btree (workspace_id, target, created_at, id);
CREATE INDEX blacklist_checks_by_time ON blacklist_checks USING btree (workspace_id, created_at, id);

create table blacklist_monitors (
  workspace_id uuid not null,
  id uuid not null,
  target text not null,
  target_type text not null,
  frequency_minutes integer not null,
  notify boolean not null,
  status text not null,
  last_checked_at timestamp with time zone,
  next_run_at timestamp with time zone,
  last_listed_zones text[] default '{}'::text[] not null,
  last_error text,
  lease_number bigint default 0 not null,
  leased_until timestamp with time zone,
  created_at timestamp with time zone not null,
  listed_since timestamp with time zone,
  UNIQUE (workspace_id, target),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK (((frequency_minutes >= 60) AND (frequency_minutes <= 43200))),
  CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text]))),
  CHECK ((target_type = ANY (ARRAY['ip'::text, 'domain'::text])))
);
CREATE INDEX blacklist_monitors_due ON blacklist_monitors USING btree (next_run_at) WHERE (status = 'active'::text);

create table bounces (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  bounce_type text not null,
  category text not null,
  smtp_code smallint,
  enhanced_code text,
  error_message text not null,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  CHECK ((bounce_type = ANY (ARRAY['hard'::text, 'soft'::text, 'block'::text])))
);
CREATE INDEX bounces_by_campaign ON bounces USING btree (workspace_id, campaign_id, created_at, id) WHERE (campaign_id IS NOT NULL);
CREATE INDEX bounces_by_category ON bounces USING btree (workspace_id, category, created_at, id);
CREATE INDEX bounces_by_code ON bounces USING btree (workspace_id, smtp_code, created_at, id) WHERE (smtp_code IS NOT NULL);
CREATE INDEX bounces_by_domain ON bounces USING btree (workspace_id, domain, created_at, id);
CREATE INDEX bounces_by_time ON bounces USING btree (workspace_id, created_at, id) INCLUDE (domain);
CREATE INDEX bounces_by_type ON bounces USING btree (workspace_id, bounce_type, created_at, id);

create table brands (
  workspace_id uuid not null,
  display_name text,
  website text,
  accent_color text,
  background_color text,
  text_color text,
  footer_text text,
  postal_address text,
  updated_at timestamp with time zone not null,
  logo_media_id uuid,
  logo_path text,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, logo_media_id) REFERENCES media(workspace_id, id)
);

create table bulk_action_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  subscriber_ids uuid[] not null,
  is_done boolean default false not null,
  changed integer default 0 not null,
  unchanged integer default 0 not null,
  refused jsonb default '[]'::jsonb not null,
  PRIMARY KEY (workspace_id, job_id, batch),
  FOREIGN KEY (workspace_id, job_id) REFERENCES jobs(workspace_id, id) ON DELETE CASCADE
);

create table campaign_counters (
  workspace_id uuid not null,
  campaign_id uuid not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  sent bigint default 0 not null,
  hard_bounced bigint default 0 not null,
  failures_in_a_row bigint default 0 not null,
  opens bigint default 0 not null,
  unique_opens bigint default 0 not null,
  clicks bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  activities bigint default 0 not null,
  PRIMARY KEY (workspace_id, campaign_id)
);

create table campaign_domains (
  workspace_id uuid not null,
  campaign_id uuid not null,
  domain text not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  PRIMARY KEY (workspace_id, campaign_id, domain)
);

create table campaign_hours (
  workspace_id uuid not null,
  campaign_id uuid not null,
  hour timestamp with time zone not null,
  sent integer default 0 not null,
  opens integer default 0 not null,
  clicks integer default 0 not null,
  unsubscribes integer default 0 not null,
  complaints integer default 0 not null,
  PRIMARY KEY (workspace_id, campaign_id, hour)
);

create table campaign_link_clicks (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  message_id uuid not null,
  PRIMARY KEY (workspace_id, campaign_id, index, message_id)
);

create table campaign_links (
  workspace_id uuid not null,
  campaign_id uuid not null,
  index smallint not null,
  url text not null,
  is_personal boolean not null,
  click_count bigint default 0 not null,
  unique_click_count bigint default 0 not null,
  target_url text,
  target_changed_at timestamp with time zone,
  PRIMARY KEY (workspace_id, campaign_id, index)
);

create table campaign_recipients (
  workspace_id uuid not null,
  campaign_id uuid not null,
  subscriber_id uuid not null,
  message_id uuid not null,
  first_opened_at timestamp with time zone,
  first_clicked_at timestamp with time zone,
  unsubscribed_at timestamp with time zone,
  PRIMARY KEY (workspace_id, campaign_id, subscriber_id)
);
CREATE UNIQUE INDEX campaign_recipients_by_message ON campaign_recipients USING btree (workspace_id, message_id);
CREATE INDEX campaign_recipients_by_subscriber ON campaign_recipients USING btree (workspace_id, subscriber_id);
CREATE INDEX campaign_recipients_unsubscribed ON campaign_recipients USING btree (workspace_id, campaign_id, subscriber_id) WHERE (unsubscribed_at IS NOT NULL);

create table campaigns (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  subject text not null,
  from_email text not null,
  from_name text,
  reply_to text,
  message_type text not null,
  phone_field_name text,
  recipient_type text not null,
  mailing_list_id uuid,
  segment_id uuid,
  segment_conditions jsonb,
  audience_segments uuid[] default '{}'::uuid[] not null,
  html_content text,
  text_content text,
  enable_open_tracking boolean,
  enable_click_tracking boolean,
  url_domain_id uuid,
  use_custom_headers boolean not null,
  custom_headers text,
  virtual_mta_ip text,
  routing_rule_id uuid,
  bounce_email text,
  sender_email text,
  scheduled_at timestamp with time zone,
  attachments jsonb,
  warnings jsonb default '[]'::jsonb not null,
  status text default 'draft'::text not null,
  revision integer default 1 not null,
  audience_list_id uuid,
  mailing_list_name text,
  default_from_name text,
  default_reply_to text,
  segment_name text,
  tracks_opens boolean,
  tracks_clicks boolean,
  total_recipients bigint default 0 not null,
  estimated_recipients bigint default 0 not null,
  expanded_to uuid,
  expanded_at timestamp with time zone,
  expand_after timestamp with time zone,
  expansion_failures smallint default 0 not null,
  excluded_suppressed bigint default 0 not null,
  excluded_unsubscribed bigint default 0 not null,
  excluded_invalid bigint default 0 not null,
  excluded_duplicate bigint default 0 not null,
  sent_at timestamp with time zone,
  completed_at timestamp with time zone,
  paused_at timestamp with time zone,
  pause_reason text,
  brake_sent bigint default 0 not null,
  brake_bounced bigint default 0 not null,
  brake_complained bigint default 0 not null,
  brake_failures bigint default 0 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  waits_for_cap boolean default false not null,
  design json,
  attachment_files jsonb,
  approval_requested_at timestamp with time zone,
  approval_requested_by text,
  approval_message text,
  approval_revision integer,
  template_id uuid,
  template_version integer,
  mjml text,
  media_ids uuid[] default '{}'::uuid[] not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((message_type = ANY (ARRAY['email'::text, 'sms'::text]))),
  CHECK ((recipient_type = ANY (ARRAY['mailing_list'::text, 'segment'::text, 'custom'::text]))),
  CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'sending'::text, 'sent'::text, 'paused'::text, 'cancelled'::text])))
);
CREATE INDEX campaigns_at_work ON campaigns USING btree (status) WHERE (status = ANY (ARRAY['scheduled'::text, 'sending'::text, 'paused'::text]));
CREATE INDEX campaigns_by_list ON campaigns USING btree (workspace_id, audience_list_id, sent_at);
CREATE INDEX campaigns_by_template ON campaigns USING btree (workspace_id, template_id) WHERE (template_id IS NOT NULL);
CREATE INDEX campaigns_cancelled ON campaigns USING btree (completed_at) WHERE (status = 'cancelled'::text);
CREATE INDEX campaigns_paused ON campaigns USING btree (workspace_id, paused_at) WHERE (status = 'paused'::text);
CREATE INDEX campaigns_to_approve ON campaigns USING btree (workspace_id, approval_requested_at) WHERE ((status = 'draft'::text) AND (approval_requested_at IS NOT NULL));
CREATE INDEX campaigns_with_media ON campaigns USING gin (media_ids) WHERE (media_ids <> '{}'::uuid[]);

create table captured_messages (
  workspace_id uuid not null,
  message_id uuid not null,
  from_email text not null,
  mail_from text not null,
  rcpt_to text not null,
  subject text not null,
  raw bytea not null,
  received_at timestamp with time zone default now() not null,
  PRIMARY KEY (workspace_id, message_id)
);
CREATE INDEX captured_messages_by_age ON captured_messages USING btree (message_id);

create table complaints (
  workspace_id uuid not null,
  id uuid not null,
  message_id uuid not null,
  localpart text not null,
  domain text not null,
  feedback_type text not null,
  provider text,
  source text not null,
  campaign_id uuid,
  origin_name text not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX complaints_by_campaign ON complaints USING btree (workspace_id, campaign_id, created_at, id) WHERE (campaign_id IS NOT NULL);
CREATE INDEX complaints_by_domain ON complaints USING btree (workspace_id, domain, created_at, id);
CREATE INDEX complaints_by_time ON complaints USING btree (workspace_id, created_at, id);
CREATE INDEX complaints_by_type ON complaints USING btree (workspace_id, feedback_type, created_at, id);

create table confirmation_mails (
  workspace_id uuid not null,
  id uuid not null,
  mailbox text not null,
  sent_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX confirmation_mails_by_mailbox ON confirmation_mails USING btree (mailbox, sent_at);

create table consent_wordings (
  workspace_id uuid not null,
  hash bytea not null,
  text text not null,
  used_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, hash),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX consent_wordings_by_use ON consent_wordings USING btree (used_at);

create table content_days (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null,
  PRIMARY KEY (workspace_id, day),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX content_days_by_age ON content_days USING btree (day);

create unlogged table content_previews (
  workspace_id uuid not null,
  id uuid not null,
  light text not null,
  dark text not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX content_previews_by_end ON content_previews USING btree (expires_at);

create table custom_fields (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid,
  field_name text not null,
  field_label text not null,
  field_type text not null,
  field_options jsonb,
  placeholder text,
  default_value jsonb,
  help_text text,
  validation_rules jsonb,
  is_required boolean default false not null,
  is_active boolean default true not null,
  display_order integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  UNIQUE NULLS NOT DISTINCT (workspace_id, mailing_list_id, field_name),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id) ON DELETE CASCADE,
  CHECK ((field_type = ANY (ARRAY['text'::text, 'textarea'::text, 'number'::text, 'date'::text, 'email'::text, 'url'::text, 'boolean'::text, 'select'::text, 'multiselect'::text])))
);

create table delivery_addresses (
  ip inet not null,
  seen_at timestamp with time zone not null,
  PRIMARY KEY (ip)
);

create table delivery_queue (
  workspace_id uuid not null,
  message_id uuid not null,
  priority smallint not null,
  domain text not null,
  bytes integer not null,
  due_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  attempts smallint default 0 not null,
  lease_number integer default 0 not null,
  leased_by uuid,
  campaign_id uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  source_ip inet,
  first_attempt_at timestamp with time zone,
  PRIMARY KEY (workspace_id, message_id)
);
CREATE INDEX delivery_queue_due ON delivery_queue USING btree (priority, workspace_id, campaign_id, due_at);
CREATE INDEX delivery_queue_held_back ON delivery_queue USING btree (workspace_id, message_id) WHERE ((source_ip IS NOT NULL) AND (attempts = 0));
CREATE INDEX delivery_queue_leases ON delivery_queue USING btree (leased_by) WHERE (leased_by IS NOT NULL);

create table dkim_keys (
  workspace_id uuid not null,
  id uuid not null,
  domain text not null,
  selector text not null,
  bits smallint not null,
  public_key text not null,
  private_key bytea not null,
  is_automatic boolean default false not null,
  verified_at timestamp with time zone,
  failed_checks jsonb,
  created_at timestamp with time zone default now() not null,
  UNIQUE (workspace_id, domain, selector),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, domain) REFERENCES sending_domains(workspace_id, domain) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table dmarc_records (
  workspace_id uuid not null,
  dmarc_report_id uuid not null,
  position integer not null,
  source_ip inet not null,
  count bigint not null,
  disposition text,
  dkim text,
  spf text,
  header_from text not null,
  envelope_from text,
  PRIMARY KEY (workspace_id, dmarc_report_id, "position"),
  FOREIGN KEY (workspace_id, dmarc_report_id) REFERENCES dmarc_reports(workspace_id, id) ON DELETE CASCADE
);

create table dmarc_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  org_name text not null,
  email text,
  report_id text not null,
  policy_domain text not null,
  policy jsonb not null,
  begins_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  records integer not null,
  messages bigint not null,
  passed bigint not null,
  dkim_aligned bigint not null,
  spf_aligned bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  received_at timestamp with time zone not null,
  unread jsonb default '[]'::jsonb not null,
  xml bytea,
  UNIQUE (workspace_id, sending_domain_id, org_name, report_id, policy_domain),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, sending_domain_id) REFERENCES sending_domains(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX dmarc_reports_by_arrival ON dmarc_reports USING btree (workspace_id, sending_domain_id, received_at) INCLUDE (records);
CREATE INDEX dmarc_reports_by_time ON dmarc_reports USING btree (workspace_id, sending_domain_id, ends_at);

create table domain_claims (
  domain text not null,
  workspace_id uuid not null,
  claimed_at timestamp with time zone default now() not null,
  PRIMARY KEY (domain),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table domain_switches (
  domain text not null,
  workspace_id uuid,
  is_active boolean not null,
  UNIQUE NULLS NOT DISTINCT (domain, workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table external_accounts (
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone default now() not null,
  PRIMARY KEY (issuer, subject),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX external_accounts_of_user ON external_accounts USING btree (user_id);

create table idempotency_keys (
  workspace_id uuid not null,
  path text not null,
  key text not null,
  token uuid not null,
  request_hash bytea not null,
  answer_status smallint,
  answer_body text,
  reserved_until timestamp with time zone not null,
  created_at timestamp with time zone default now() not null,
  holder bigint,
  PRIMARY KEY (workspace_id, path, key),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

create table import_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  created integer default 0 not null,
  updated integer default 0 not null,
  unchanged integer default 0 not null,
  PRIMARY KEY (workspace_id, job_id, batch),
  FOREIGN KEY (workspace_id, job_id) REFERENCES jobs(workspace_id, id) ON DELETE CASCADE
);

create table inbound_mails (
  id uuid not null,
  kind text not null,
  mail_from text not null,
  rcpt_to text not null,
  network text not null,
  raw bytea not null,
  bytes integer not null,
  status text default 'received'::text not null,
  result text,
  due_at timestamp with time zone not null,
  lease_number integer default 0 not null,
  received_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  class text default 'open'::text not null,
  turn bigint default 0 not null,
  stored_bytes integer default 0 not null,
  PRIMARY KEY (id),
  CHECK ((class = ANY (ARRAY['signed'::text, 'open'::text]))),
  CHECK (((class = 'signed'::text) = (kind = ANY (ARRAY['return_path'::text, 'unsubscribe'::text])))),
  CHECK ((kind = ANY (ARRAY['return_path'::text, 'complaint'::text, 'report'::text, 'unsubscribe'::text, 'operator'::text]))),
  CHECK ((status = ANY (ARRAY['received'::text, 'processed'::text, 'quarantined'::text, 'kept'::text])))
);
CREATE INDEX inbound_mails_by_local_part ON inbound_mails USING btree (lower(split_part(rcpt_to, '@'::text, 1))) WHERE ((status = 'received'::text) AND (class = 'signed'::text));
CREATE INDEX inbound_mails_settled ON inbound_mails USING btree (settled_at) WHERE (status = 'processed'::text);
CREATE INDEX inbound_mails_shown ON inbound_mails USING btree (status, id) WHERE (status = ANY (ARRAY['quarantined'::text, 'kept'::text]));
CREATE INDEX inbound_mails_waiting ON inbound_mails USING btree (class, turn, id) INCLUDE (due_at, network, stored_bytes) WHERE (status = 'received'::text);

create table inbound_routes (
  workspace_id uuid not null,
  id uuid not null,
  local_part text not null,
  domain text not null,
  priority integer not null,
  webhook boolean not null,
  keep boolean not null,
  max_bytes integer not null,
  spam_threshold double precision,
  spam_action text not null,
  is_active boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  UNIQUE (workspace_id, domain, local_part),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((webhook OR keep)),
  CHECK ((spam_action = ANY (ARRAY['reject'::text, 'mark'::text])))
);
CREATE INDEX inbound_routes_by_domain ON inbound_routes USING btree (domain) WHERE is_active;

create table invitations (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  built_in_role text,
  role_id uuid,
  token_hash bytea not null,
  invited_by uuid,
  invited_by_name text not null,
  created_at timestamp with time zone not null,
  sent_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  invited_by_key uuid,
  UNIQUE (workspace_id, email),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, role_id) REFERENCES roles(workspace_id, id),
  CHECK ((num_nonnulls(built_in_role, role_id) = 1))
);
CREATE INDEX invitations_by_email ON invitations USING btree (email);
CREATE INDEX invitations_by_end ON invitations USING btree (expires_at);
CREATE INDEX invitations_by_token ON invitations USING btree (token_hash);
CREATE INDEX invitations_of_role ON invitations USING btree (workspace_id, role_id) WHERE (role_id IS NOT NULL);

create table job_file_parts (
  workspace_id uuid not null,
  job_id uuid not null,
  name text not null,
  number integer not null,
  octets bytea not null,
  PRIMARY KEY (workspace_id, job_id, name, number),
  FOREIGN KEY (workspace_id, job_id) REFERENCES jobs(workspace_id, id) ON DELETE CASCADE
);

create table job_runners (
  id text not null,
  seen_at timestamp with time zone default now() not null,
  PRIMARY KEY (id)
);

create table job_turns (
  workspace_id uuid not null,
  type text not null,
  due_at timestamp with time zone not null,
  lease_id uuid,
  runner_id text,
  leased_at timestamp with time zone,
  PRIMARY KEY (workspace_id, type),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX job_turns_leased ON job_turns USING btree (runner_id) WHERE (lease_id IS NOT NULL);
CREATE INDEX job_turns_waiting ON job_turns USING btree (due_at) WHERE (lease_id IS NULL);

create table jobs (
  workspace_id uuid not null,
  id uuid not null,
  type text not null,
  status text default 'pending'::text not null,
  permission text not null,
  input jsonb default '{}'::jsonb not null,
  total bigint,
  processed bigint default 0 not null,
  succeeded bigint default 0 not null,
  failed bigint default 0 not null,
  skipped bigint default 0 not null,
  counts jsonb default '{}'::jsonb not null,
  result jsonb,
  error text,
  result_file text,
  errors_file text,
  run_number integer default 0 not null,
  cancel_requested boolean default false not null,
  created_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  expires_at timestamp with time zone,
  due_at timestamp with time zone default now() not null,
  attempts smallint default 0 not null,
  input_bytes bigint default 0 not null,
  label text,
  actor_kind text,
  actor_id uuid,
  actor_name text,
  file_name text,
  resource_kind text,
  resource_id uuid,
  resource_name text,
  error_rows_file text,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX jobs_by_expiry ON jobs USING btree (expires_at);
CREATE INDEX jobs_failed ON jobs USING btree (workspace_id, permission, completed_at, id) WHERE (status = 'failed'::text);
CREATE INDEX jobs_of_actor ON jobs USING btree (workspace_id, actor_id, id) WHERE (actor_id IS NOT NULL);
CREATE INDEX jobs_of_resource ON jobs USING btree (workspace_id, resource_id, id) WHERE (resource_id IS NOT NULL);
CREATE INDEX jobs_open ON jobs USING btree (workspace_id, type, due_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));

create table known_browsers (
  token_hash bytea not null,
  user_id uuid not null,
  created_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  PRIMARY KEY (token_hash, user_id),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX known_browsers_by_time ON known_browsers USING btree (seen_at);
CREATE INDEX known_browsers_of_user ON known_browsers USING btree (user_id, seen_at DESC);

create table list_counters (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  active bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  bounced bigint default 0 not null,
  complained bigint default 0 not null,
  revision bigint default 1 not null,
  PRIMARY KEY (workspace_id, mailing_list_id)
);

create table list_days (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  day date not null,
  subscribed bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  bounced bigint default 0 not null,
  complained bigint default 0 not null,
  sent_count bigint default 0 not null,
  delivered_count bigint default 0 not null,
  bounce_count bigint default 0 not null,
  complaint_count bigint default 0 not null,
  open_count bigint default 0 not null,
  click_count bigint default 0 not null,
  engaged_count bigint default 0 not null,
  PRIMARY KEY (workspace_id, mailing_list_id, day)
);

create table mailbox_domain_visits (
  workspace_id uuid not null,
  visited_at timestamp with time zone not null,
  unnoted_from date not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table mailbox_domains (
  domain text not null,
  provider text,
  due_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  PRIMARY KEY (domain)
);
CREATE INDEX mailbox_domains_due ON mailbox_domains USING btree (due_at);

create table mailing_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  from_name text,
  from_email text,
  reply_to_email text,
  opt_in_type text default 'single'::text not null,
  enable_open_tracking boolean default true not null,
  enable_click_tracking boolean default true not null,
  is_going boolean default false not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  language text,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((opt_in_type = ANY (ARRAY['single'::text, 'double'::text, 'api'::text, 'import'::text])))
);

create table media (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  alt_text text not null,
  kind text not null,
  width integer not null,
  height integer not null,
  frames integer not null,
  bytes integer not null,
  source_sha256 bytea not null,
  sha256 bytea not null,
  content bytea not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  UNIQUE (workspace_id, source_sha256),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((kind = ANY (ARRAY['png'::text, 'jpeg'::text, 'gif'::text, 'webp'::text])))
);
CREATE INDEX media_sizes ON media USING btree (workspace_id) INCLUDE (bytes);

create table memberships (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  subscriber_id uuid not null,
  status text not null,
  source text,
  subscribed_at timestamp with time zone not null,
  unsubscribed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  is_quiet boolean default false not null,
  PRIMARY KEY (workspace_id, mailing_list_id, subscriber_id) INCLUDE (status),
  CHECK ((status = ANY (ARRAY['active'::text, 'unsubscribed'::text, 'bounced'::text, 'complained'::text])))
);
CREATE INDEX memberships_by_joining ON memberships USING btree (workspace_id, mailing_list_id, subscribed_at, subscriber_id) WHERE (NOT is_quiet);
CREATE INDEX memberships_by_status ON memberships USING btree (workspace_id, mailing_list_id, status, subscriber_id) WHERE (status <> 'active'::text);
CREATE INDEX memberships_by_subscriber ON memberships USING btree (workspace_id, subscriber_id);

create table message_contents (
  workspace_id uuid not null,
  message_id uuid not null,
  from_name text,
  to_name text,
  html text,
  text text,
  attachments jsonb,
  bounce_email text,
  particulars jsonb,
  submission_id uuid,
  PRIMARY KEY (workspace_id, message_id)
) partition by range (message_id);

create table message_events (
  workspace_id uuid not null,
  message_id uuid not null,
  id uuid not null,
  type text not null,
  time timestamp with time zone not null,
  attempt smallint,
  detail text,
  mx_host text,
  code smallint,
  enhanced_code text,
  campaign_id uuid,
  link_index smallint,
  times integer,
  user_agent text,
  machine_sign text,
  source_ip inet,
  tls jsonb,
  opening_id uuid,
  conversation text,
  PRIMARY KEY (workspace_id, message_id, id)
) partition by range (message_id);
CREATE INDEX message_events_by_campaign ON ONLY message_events USING btree (workspace_id, campaign_id, type, "time", id) WHERE (campaign_id IS NOT NULL);

create table message_labels (
  workspace_id uuid not null,
  label bigint not null,
  message_id uuid not null,
  PRIMARY KEY (workspace_id, label, message_id)
) partition by range (message_id);

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  source text not null,
  origin_id uuid,
  origin_name text not null,
  from_email text not null,
  localpart text not null,
  domain text not null,
  subject text not null,
  status text default 'queued'::text not null,
  attempts smallint default 0 not null,
  error_message text,
  next_attempt_at timestamp with time zone,
  request_id text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  previous_status text,
  is_sms boolean default false not null,
  source_ip inet,
  previous_source_ip inet,
  shown text,
  email_details jsonb,
  PRIMARY KEY (workspace_id, id),
  CHECK ((source = ANY (ARRAY['campaign'::text, 'autoresponder'::text, 'api'::text, 'smtp'::text, 'platform'::text]))),
  CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'delivered'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'suppressed'::text, 'cancelled'::text, 'complained'::text])))
) partition by range (id);
CREATE INDEX messages_by_address ON ONLY messages USING btree (workspace_id, hashtext(lower(((localpart || '@'::text) || domain))), id) WHERE (status <> 'queued'::text);
CREATE INDEX messages_by_status ON ONLY messages USING btree (workspace_id, source, status, id);

create table meter_days (
  workspace_id uuid not null,
  day date not null,
  kind text not null,
  used bigint not null,
  returned bigint not null,
  PRIMARY KEY (workspace_id, day, kind),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table meter_entries (
  workspace_id uuid not null,
  id uuid default gen_random_uuid() not null,
  kind text not null,
  quantity integer not null,
  created_at timestamp with time zone not null,
  bytes bigint default 0 not null,
  PRIMARY KEY (workspace_id, id),
  CHECK ((kind = ANY (ARRAY['email'::text, 'validation'::text, 'blacklist_check'::text])))
);

create table meter_hours (
  workspace_id uuid not null,
  kind text not null,
  hour timestamp with time zone not null,
  used bigint not null,
  PRIMARY KEY (workspace_id, kind, hour),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX meter_hours_by_age ON meter_hours USING btree (hour);

create table meters (
  workspace_id uuid not null,
  kind text not null,
  period_start timestamp with time zone not null,
  used bigint not null,
  paid numeric(20,6) default 0 not null,
  covered bigint default 0 not null,
  PRIMARY KEY (workspace_id, kind, period_start),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((covered >= 0)),
  CHECK ((paid >= (0)::numeric))
);

create table notice_dismissals (
  workspace_id uuid not null,
  notice_id uuid not null,
  dismissed_at timestamp with time zone not null,
  dismissed_by text not null,
  PRIMARY KEY (workspace_id, notice_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table operator_credits (
  workspace_id uuid not null,
  reference text not null,
  transaction_id uuid not null,
  amount numeric(20,6) not null,
  PRIMARY KEY (workspace_id, reference),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table origin_names (
  workspace_id uuid not null,
  source text not null,
  id uuid not null,
  name text not null,
  status text,
  sent_at timestamp with time zone,
  PRIMARY KEY (workspace_id, source, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((source = ANY (ARRAY['campaign'::text, 'autoresponder'::text, 'api'::text])))
);

create table passkeys (
  id uuid not null,
  user_id uuid not null,
  credential_id text not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  UNIQUE (credential_id),
  PRIMARY KEY (id),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX passkeys_of_user ON passkeys USING btree (user_id);

create table payment_events (
  workspace_id uuid not null,
  gateway text not null,
  event_id text not null,
  received_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, gateway, event_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((gateway = 'stripe'::text))
);
CREATE INDEX payment_events_by_age ON payment_events USING btree (received_at);

create table postmaster_domains (
  workspace_id uuid not null,
  domain text not null,
  due_at timestamp with time zone not null,
  is_registered boolean default false not null,
  day date,
  spam_rate double precision,
  spf_success_rate double precision,
  dkim_success_rate double precision,
  dmarc_success_rate double precision,
  encryption_rate double precision,
  delivery_error_rate double precision,
  PRIMARY KEY (workspace_id, domain),
  FOREIGN KEY (workspace_id, domain) REFERENCES sending_domains(workspace_id, domain) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table postmaster_standing (
  only_row boolean default true not null,
  is_authorised boolean not null,
  told_at timestamp with time zone not null,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

create table quota_uses (
  limit_name text not null,
  holder text not null,
  ends_at timestamp with time zone not null,
  used bigint not null,
  PRIMARY KEY (limit_name, holder, ends_at)
);
CREATE INDEX quota_uses_ended ON quota_uses USING btree (ends_at);

create table receipt_counters (
  workspace_id uuid not null,
  year integer not null,
  last integer not null,
  PRIMARY KEY (workspace_id, year),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table received_digests (
  workspace_id uuid not null,
  digest bytea not null,
  received_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, digest),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX received_digests_by_age ON received_digests USING btree (received_at);

create table received_emails (
  workspace_id uuid not null,
  id uuid not null,
  route_id uuid not null,
  keep boolean not null,
  webhook boolean not null,
  mail_from text not null,
  rcpt_to text not null,
  remote_ip text not null,
  helo text not null,
  network text not null,
  raw bytea not null,
  bytes integer not null,
  received_at timestamp with time zone not null,
  status text not null,
  due_at timestamp with time zone not null,
  lease_number integer default 0 not null,
  turn bigint not null,
  from_email text,
  subject text,
  message_id text,
  text text,
  html text,
  details jsonb,
  automatic text,
  in_reply_to_message_id uuid,
  own_message_id uuid,
  authentication jsonb,
  spam_score double precision,
  is_spam boolean default false not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((status = ANY (ARRAY['received'::text, 'parsed'::text, 'unreadable'::text])))
);
CREATE INDEX received_emails_by_age ON received_emails USING btree (received_at);
CREATE INDEX received_emails_by_answered ON received_emails USING btree (workspace_id, in_reply_to_message_id, id) WHERE (in_reply_to_message_id IS NOT NULL);
CREATE INDEX received_emails_by_envelope ON received_emails USING btree (workspace_id, lower(mail_from));
CREATE INDEX received_emails_by_recipient ON received_emails USING btree (workspace_id, lower(rcpt_to), id);
CREATE INDEX received_emails_by_route ON received_emails USING btree (workspace_id, route_id, id);
CREATE INDEX received_emails_by_sender ON received_emails USING btree (workspace_id, from_email, id);
CREATE INDEX received_emails_by_time ON received_emails USING btree (workspace_id, received_at, id);
CREATE INDEX received_emails_spam ON received_emails USING btree (workspace_id, id) WHERE is_spam;
CREATE INDEX received_emails_waiting ON received_emails USING btree (turn, id) INCLUDE (due_at, workspace_id, bytes) WHERE (status = 'received'::text);

create table received_storage (
  workspace_id uuid not null,
  bytes bigint not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table recovery_codes (
  user_id uuid not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  PRIMARY KEY (user_id, code_hash),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

create table refused_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  kind text not null,
  reason text not null,
  detail text,
  file_name text,
  sender text,
  received_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, sending_domain_id) REFERENCES sending_domains(workspace_id, id) ON DELETE CASCADE,
  CHECK ((kind = ANY (ARRAY['dmarc'::text, 'tls'::text])))
);
CREATE INDEX refused_reports_by_domain ON refused_reports USING btree (workspace_id, sending_domain_id, id);

create table removed_people (
  workspace_id uuid not null,
  email text not null,
  subscriber_id uuid not null,
  PRIMARY KEY (workspace_id, email, subscriber_id)
);

create table replaced_texts (
  workspace_id uuid not null,
  language text not null,
  key text not null,
  text text not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, language, key),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table report_category_days (
  workspace_id uuid not null,
  day date not null,
  bounce_type text not null,
  category text not null,
  bounces bigint default 0 not null,
  PRIMARY KEY (workspace_id, day, bounce_type, category)
);

create table report_domain_days (
  workspace_id uuid not null,
  day date not null,
  domain text not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  unique_opens bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  hard_bounces bigint default 0 not null,
  soft_bounces bigint default 0 not null,
  block_bounces bigint default 0 not null,
  complaints bigint default 0 not null,
  PRIMARY KEY (workspace_id, day, domain)
);
CREATE INDEX report_domain_days_with_bounces ON report_domain_days USING btree (workspace_id, day) INCLUDE (domain, hard_bounces, soft_bounces, block_bounces) WHERE (((hard_bounces + soft_bounces) + block_bounces) <> 0);

create table report_domain_weeks (
  workspace_id uuid not null,
  week date not null,
  domain text not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  unique_opens bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  hard_bounces bigint default 0 not null,
  soft_bounces bigint default 0 not null,
  block_bounces bigint default 0 not null,
  complaints bigint default 0 not null,
  PRIMARY KEY (workspace_id, week, domain)
);
CREATE INDEX report_domain_weeks_with_bounces ON report_domain_weeks USING btree (workspace_id, week) INCLUDE (domain, hard_bounces, soft_bounces, block_bounces) WHERE (((hard_bounces + soft_bounces) + block_bounces) <> 0);

create table report_eighths (
  workspace_id uuid not null,
  eighth timestamp with time zone not null,
  source text not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  unique_opens bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  hard_bounces bigint default 0 not null,
  soft_bounces bigint default 0 not null,
  block_bounces bigint default 0 not null,
  complaints bigint default 0 not null,
  PRIMARY KEY (workspace_id, eighth, source)
);

create table report_ip_days (
  workspace_id uuid not null,
  day date not null,
  source_ip inet not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  PRIMARY KEY (workspace_id, day, source_ip)
);

create table report_notes (
  workspace_id uuid not null,
  id bigint not null,
  quarter timestamp with time zone not null,
  source text,
  origin_id uuid,
  domain text,
  from_domain text,
  source_ip inet,
  bounce_type text,
  category text,
  queued integer default 0 not null,
  deferred integer default 0 not null,
  delivered integer default 0 not null,
  bounced integer default 0 not null,
  failed integer default 0 not null,
  suppressed integer default 0 not null,
  cancelled integer default 0 not null,
  complained integer default 0 not null,
  unique_opens integer default 0 not null,
  unique_clicks integer default 0 not null,
  opens integer default 0 not null,
  clicks integer default 0 not null,
  machine_opens integer default 0 not null,
  machine_clicks integer default 0 not null,
  unsubscribed integer default 0 not null,
  hard_bounces integer default 0 not null,
  soft_bounces integer default 0 not null,
  block_bounces integer default 0 not null,
  complaints integer default 0 not null,
  PRIMARY KEY (workspace_id, id)
);

create table report_origins (
  workspace_id uuid not null,
  source text not null,
  origin_id uuid not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  unique_opens bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  hard_bounces bigint default 0 not null,
  soft_bounces bigint default 0 not null,
  block_bounces bigint default 0 not null,
  complaints bigint default 0 not null,
  PRIMARY KEY (workspace_id, source, origin_id)
);

create table report_quarters (
  workspace_id uuid not null,
  quarter timestamp with time zone not null,
  source text not null,
  queued integer default 0 not null,
  deferred integer default 0 not null,
  delivered integer default 0 not null,
  bounced integer default 0 not null,
  failed integer default 0 not null,
  suppressed integer default 0 not null,
  cancelled integer default 0 not null,
  complained integer default 0 not null,
  unique_opens integer default 0 not null,
  unique_clicks integer default 0 not null,
  opens integer default 0 not null,
  clicks integer default 0 not null,
  machine_opens integer default 0 not null,
  machine_clicks integer default 0 not null,
  unsubscribed integer default 0 not null,
  hard_bounces integer default 0 not null,
  soft_bounces integer default 0 not null,
  block_bounces integer default 0 not null,
  complaints integer default 0 not null,
  PRIMARY KEY (workspace_id, quarter, source)
);

create table report_sender_days (
  workspace_id uuid not null,
  day date not null,
  from_domain text not null,
  queued bigint default 0 not null,
  deferred bigint default 0 not null,
  delivered bigint default 0 not null,
  bounced bigint default 0 not null,
  failed bigint default 0 not null,
  suppressed bigint default 0 not null,
  cancelled bigint default 0 not null,
  complained bigint default 0 not null,
  unique_opens bigint default 0 not null,
  unique_clicks bigint default 0 not null,
  opens bigint default 0 not null,
  clicks bigint default 0 not null,
  machine_opens bigint default 0 not null,
  machine_clicks bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  hard_bounces bigint default 0 not null,
  soft_bounces bigint default 0 not null,
  block_bounces bigint default 0 not null,
  complaints bigint default 0 not null,
  PRIMARY KEY (workspace_id, day, from_domain)
);

create table roles (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  permissions text[] not null,
  created_at timestamp with time zone default now() not null,
  description text default ''::text not null,
  UNIQUE (workspace_id, name),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table routed_workspaces (
  workspace_id uuid not null,
  version integer not null,
  released_version integer default 0 not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX routed_workspaces_unreleased ON routed_workspaces USING btree (workspace_id) WHERE (released_version < version);

create table routing_rules (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  priority integer not null,
  is_active boolean not null,
  is_automatic boolean not null,
  recipient_domains text[] not null,
  providers text[] not null,
  source_ip_id uuid,
  pool text,
  relay_url bytea,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, source_ip_id) REFERENCES sending_ips(workspace_id, id),
  CHECK ((num_nonnulls(source_ip_id, pool, relay_url) = 1))
);

create table running_processes (
  id uuid not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  node_version text not null,
  key_fingerprints bytea[],
  waits jsonb default '[]'::jsonb not null,
  paused_lanes jsonb default '{}'::jsonb not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  PRIMARY KEY (id)
);

create table saved_views (
  workspace_id uuid not null,
  id uuid not null,
  owner_id uuid not null,
  owner_name text not null,
  page_name text not null,
  name text not null,
  state text not null,
  is_shared boolean not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX saved_views_of_owner ON saved_views USING btree (workspace_id, owner_id);

create table schema_migrations (
  name text not null,
  applied_at timestamp with time zone default now() not null,
  digest text not null,
  needs_program text,
  PRIMARY KEY (name)
);

create table scored_mail (
  workspace_id uuid not null,
  scored_to uuid not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table secret_keys (
  fingerprint bytea not null,
  added_at timestamp with time zone default now() not null,
  last_used_at timestamp with time zone,
  retired_at timestamp with time zone,
  PRIMARY KEY (fingerprint)
);

create table segments (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid not null,
  name text not null,
  description text default ''::text not null,
  conditions jsonb not null,
  referenced_segments uuid[] not null,
  rule_count smallint not null,
  is_active boolean not null,
  subscriber_count bigint,
  counted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX segments_by_list ON segments USING btree (workspace_id, mailing_list_id, id);

create table sending_domains (
  workspace_id uuid not null,
  id uuid not null,
  domain text not null,
  verification_token text not null,
  is_verified boolean default false not null,
  spf_verified boolean default false not null,
  dkim_verified boolean default false not null,
  dmarc_verified boolean default false not null,
  verified_at timestamp with time zone,
  custom_return_path boolean default false not null,
  return_path_verified boolean default false not null,
  dmarc_ingestion boolean default false not null,
  dmarc_token text not null,
  checked_at timestamp with time zone,
  failed_checks jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone default now() not null,
  dkim_verified_at timestamp with time zone,
  dmarc_verified_at timestamp with time zone,
  lost_checks jsonb default '{}'::jsonb not null,
  UNIQUE (workspace_id, domain),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX sending_domains_by_check ON sending_domains USING btree (COALESCE(checked_at, created_at));
CREATE INDEX sending_domains_by_dmarc_token ON sending_domains USING btree (dmarc_token);

create table sending_hold (
  only_row boolean default true not null,
  held_at timestamp with time zone default now() not null,
  backup_at timestamp with time zone,
  PRIMARY KEY (only_row),
  CHECK (only_row)
);

create table sending_ips (
  workspace_id uuid not null,
  id uuid not null,
  ip inet not null,
  hostname text,
  pool text,
  is_active boolean default true not null,
  warm_up_started_at timestamp with time zone,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE UNIQUE INDEX sending_ips_by_ip ON sending_ips USING btree (ip);

create table sessions (
  token_hash bytea not null,
  id uuid not null,
  user_id uuid not null,
  has_second_factor boolean not null,
  ip text not null,
  agent text not null,
  created_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  confirmed_at timestamp with time zone default now() not null,
  UNIQUE (id),
  PRIMARY KEY (token_hash),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX sessions_by_end ON sessions USING btree (expires_at);
CREATE INDEX sessions_by_use ON sessions USING btree (seen_at);
CREATE INDEX sessions_of_user ON sessions USING btree (user_id, seen_at DESC);

create table share_links (
  workspace_id uuid not null,
  id uuid not null,
  token_hash bytea not null,
  kind text not null,
  resource_id uuid not null,
  name text not null,
  password_hash text,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  view_count integer default 0 not null,
  last_viewed_at timestamp with time zone,
  UNIQUE (workspace_id, token_hash),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((kind = ANY (ARRAY['campaign_report'::text, 'dns_records'::text])))
);

create table sign_in_challenges (
  token_hash bytea not null,
  purpose text not null,
  user_id uuid,
  webauthn_challenge text not null,
  tries integer default 0 not null,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (token_hash),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CHECK (((user_id IS NULL) = (purpose = 'passkey_sign_in'::text))),
  CHECK ((purpose = ANY (ARRAY['second_factor'::text, 'passkey_sign_in'::text, 'confirmation'::text, 'passkey_enrolment'::text])))
);
CREATE INDEX sign_in_challenges_by_end ON sign_in_challenges USING btree (expires_at);
CREATE INDEX sign_in_challenges_of_user ON sign_in_challenges USING btree (user_id);

create table signup_forms (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  created_at timestamp with time zone not null,
  abused_since timestamp with time zone,
  abused_at timestamp with time zone,
  abuse_reason text,
  is_open boolean default true not null,
  title text,
  description text,
  fields jsonb,
  button_text text,
  consent_text text,
  language text,
  thank_you_url text,
  PRIMARY KEY (workspace_id, mailing_list_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id) ON DELETE CASCADE
);

create table signup_refusals (
  workspace_id uuid not null,
  mailing_list_id uuid not null,
  at timestamp with time zone not null,
  reason text not null,
  network text not null,
  refused integer not null,
  PRIMARY KEY (workspace_id, mailing_list_id, at, reason, network),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX signup_refusals_by_time ON signup_refusals USING btree (at);

create table signup_requests (
  workspace_id uuid not null,
  id uuid not null,
  mailing_list_id uuid not null,
  email text not null,
  first_name text,
  last_name text,
  requested_at timestamp with time zone not null,
  confirmed_at timestamp with time zone,
  custom_fields jsonb default '{}'::jsonb not null,
  language text,
  consent_hash bytea,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, consent_hash) REFERENCES consent_wordings(workspace_id, hash),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX signup_requests_by_consent ON signup_requests USING btree (workspace_id, consent_hash) WHERE (consent_hash IS NOT NULL);
CREATE INDEX signup_requests_by_email ON signup_requests USING btree (workspace_id, email);
CREATE INDEX signup_requests_by_list ON signup_requests USING btree (workspace_id, mailing_list_id);
CREATE INDEX signup_requests_by_time ON signup_requests USING btree (workspace_id, requested_at);
CREATE INDEX signup_requests_without_proof ON signup_requests USING btree (requested_at) WHERE (NOT ((confirmed_at IS NOT NULL) AND (consent_hash IS NOT NULL)));

create table sms_receipts (
  gateway text not null,
  gateway_id text not null,
  status text not null,
  detail text not null,
  received_at timestamp with time zone not null,
  message_id uuid,
  workspace_id uuid,
  PRIMARY KEY (gateway, gateway_id),
  CHECK ((status = ANY (ARRAY['delivered'::text, 'failed'::text])))
);
CREATE INDEX sms_receipts_by_age ON sms_receipts USING btree (received_at);

create table sms_submissions (
  workspace_id uuid not null,
  message_id uuid not null,
  gateway text not null,
  gateway_id text not null,
  expires_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, message_id, gateway, gateway_id)
);
CREATE INDEX sms_submissions_by_expiry ON sms_submissions USING btree (expires_at);
CREATE INDEX sms_submissions_by_gateway_id ON sms_submissions USING btree (gateway, gateway_id);

create table smtp_openings (
  workspace_id uuid not null,
  id uuid not null,
  lines text not null,
  PRIMARY KEY (workspace_id, id)
) partition by range (id);

create table soft_bounces (
  workspace_id uuid not null,
  address text not null,
  failures smallint not null,
  first_failed_at timestamp with time zone not null,
  last_failed_at timestamp with time zone not null,
  delivered_message_id uuid,
  PRIMARY KEY (workspace_id, address)
);
CREATE INDEX soft_bounces_by_age ON soft_bounces USING btree (last_failed_at);

create table source_hosts (
  ip inet not null,
  host text,
  seen_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  PRIMARY KEY (ip)
);
CREATE INDEX source_hosts_due ON source_hosts USING btree (due_at);
CREATE INDEX source_hosts_seen ON source_hosts USING btree (seen_at);

create table sts_policies (
  domain text not null,
  id text not null,
  mode text not null,
  mx text[] not null,
  max_age_seconds integer not null,
  fetched_at timestamp with time zone not null,
  PRIMARY KEY (domain),
  CHECK ((mode = ANY (ARRAY['enforce'::text, 'testing'::text, 'none'::text])))
);

create table submissions (
  workspace_id uuid not null,
  id uuid not null,
  raw bytea,
  html text,
  text text,
  attachments jsonb,
  particulars jsonb,
  PRIMARY KEY (workspace_id, id)
) partition by range (id);

create table subscriber_counters (
  workspace_id uuid not null,
  active bigint default 0 not null,
  unsubscribed bigint default 0 not null,
  bounced bigint default 0 not null,
  complained bigint default 0 not null,
  revision bigint default 1 not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table subscriber_stats (
  workspace_id uuid not null,
  subscriber_id uuid not null,
  last_opened_at timestamp with time zone,
  last_clicked_at timestamp with time zone,
  first_sent_at timestamp with time zone,
  last_sent_at timestamp with time zone,
  sent_count integer default 0 not null,
  delivered_count integer default 0 not null,
  bounce_count integer default 0 not null,
  complaint_count integer default 0 not null,
  PRIMARY KEY (workspace_id, subscriber_id)
);
CREATE INDEX subscriber_stats_by_clicking ON subscriber_stats USING btree (workspace_id, last_clicked_at DESC, subscriber_id DESC) WHERE (last_clicked_at IS NOT NULL);
CREATE INDEX subscriber_stats_by_opening ON subscriber_stats USING btree (workspace_id, last_opened_at DESC, subscriber_id DESC) WHERE (last_opened_at IS NOT NULL);

create table subscribers (
  workspace_id uuid not null,
  active_lists bytea not null,
  status text not null,
  email_domain text generated always as (split_part(email, '@'::text, 2)) stored not null,
  engagement_score smallint default 0 not null,
  last_opened_at timestamp with time zone,
  last_clicked_at timestamp with time zone,
  custom_fields jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone not null,
  email text not null,
  first_name text,
  last_name text,
  source text,
  id uuid not null,
  open_count integer default 0 not null,
  unique_open_count integer default 0 not null,
  click_count integer default 0 not null,
  unique_click_count integer default 0 not null,
  updated_at timestamp with time zone not null,
  UNIQUE (workspace_id, email),
  PRIMARY KEY (workspace_id, id) INCLUDE (status),
  CHECK ((status = ANY (ARRAY['active'::text, 'unsubscribed'::text, 'bounced'::text, 'complained'::text])))
);
CREATE INDEX subscribers_by_custom_fields ON subscribers USING gin ((ARRAY[workspace_id]), custom_fields jsonb_path_ops) WITH (gin_pending_list_limit='1024');
CREATE INDEX subscribers_by_domain ON subscribers USING btree (workspace_id, email_domain);
CREATE INDEX subscribers_by_joining ON subscribers USING btree (workspace_id, created_at, id);
CREATE INDEX subscribers_by_status ON subscribers USING btree (workspace_id, status, id) WHERE (status <> 'active'::text);
CREATE INDEX subscribers_by_words ON subscribers USING gin (subscriber_words(workspace_id, email, first_name, last_name)) WITH (gin_pending_list_limit='1024');

create table subscriptions (
  workspace_id uuid not null,
  plan_id text not null,
  billing_interval text not null,
  status text not null,
  anchor timestamp with time zone not null,
  current_period_start timestamp with time zone not null,
  current_period_end timestamp with time zone not null,
  cancel_at_period_end boolean default false not null,
  past_due_since timestamp with time zone,
  retry_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK ((billing_interval = ANY (ARRAY['monthly'::text, 'yearly'::text]))),
  CHECK ((status = ANY (ARRAY['active'::text, 'past_due'::text, 'suspended'::text])))
);
CREATE INDEX subscriptions_by_end ON subscriptions USING btree (current_period_end);
CREATE INDEX subscriptions_by_retry ON subscriptions USING btree (retry_at) WHERE (retry_at IS NOT NULL);

create table suppression_entries (
  workspace_id uuid not null,
  suppression_list_id uuid not null,
  id uuid not null,
  entry_value text not null,
  normalized_value text not null,
  entry_type text not null,
  reason text not null,
  source_message_id uuid,
  created_by text not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, suppression_list_id, id),
  CHECK ((entry_type = ANY (ARRAY['email'::text, 'domain'::text]))),
  CHECK ((reason = ANY (ARRAY['manual'::text, 'hard_bounce'::text, 'complaint'::text])))
);
CREATE INDEX suppression_entries_bounced ON suppression_entries USING btree (created_at) WHERE (reason = 'hard_bounce'::text);
CREATE UNIQUE INDEX suppression_entries_by_value ON suppression_entries USING btree (workspace_id, normalized_value, suppression_list_id);

create table suppression_lists (
  workspace_id uuid not null,
  id uuid not null,
  name text not null,
  description text default ''::text not null,
  suppression_scope text not null,
  mailing_list_id uuid,
  segment_id uuid,
  is_system boolean default false not null,
  is_active boolean default true not null,
  entry_count bigint default 0 not null,
  revision bigint default 1 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, mailing_list_id) REFERENCES mailing_lists(workspace_id, id),
  FOREIGN KEY (workspace_id, segment_id) REFERENCES segments(workspace_id, id),
  CHECK (((mailing_list_id IS NOT NULL) = (suppression_scope = 'mailing_list'::text))),
  CHECK (((segment_id IS NOT NULL) = (suppression_scope = 'segment'::text))),
  CHECK (((NOT is_system) OR ((suppression_scope = 'global'::text) AND is_active))),
  CHECK ((suppression_scope = ANY (ARRAY['global'::text, 'mailing_list'::text, 'segment'::text])))
);
CREATE UNIQUE INDEX suppression_lists_system ON suppression_lists USING btree (workspace_id) WHERE is_system;

create table template_versions (
  workspace_id uuid not null,
  template_id uuid not null,
  version integer not null,
  id uuid not null,
  cause text not null,
  format text not null,
  subject text not null,
  preheader text,
  html_content text,
  mjml text,
  design json,
  text_content text,
  layout_id uuid,
  compiled_html text not null,
  warnings jsonb not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  media_ids uuid[] default '{}'::uuid[] not null,
  UNIQUE (workspace_id, id),
  PRIMARY KEY (workspace_id, template_id, version),
  FOREIGN KEY (workspace_id, template_id) REFERENCES templates(workspace_id, id) ON DELETE CASCADE,
  CHECK ((cause = ANY (ARRAY['created'::text, 'changed'::text, 'restored'::text, 'layout_changed'::text]))),
  CHECK ((format = ANY (ARRAY['html'::text, 'mjml'::text, 'design'::text])))
);
CREATE INDEX template_versions_with_media ON template_versions USING gin (media_ids) WHERE (media_ids <> '{}'::uuid[]);

create table templates (
  workspace_id uuid not null,
  id uuid not null,
  kind text not null,
  name text not null,
  test_data json not null,
  version integer not null,
  layout_id uuid,
  revision integer default 1 not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, layout_id) REFERENCES templates(workspace_id, id),
  CHECK ((kind = ANY (ARRAY['mail'::text, 'layout'::text])))
);
CREATE INDEX templates_by_layout ON templates USING btree (workspace_id, layout_id) WHERE (layout_id IS NOT NULL);

create table tls_reports (
  workspace_id uuid not null,
  id uuid not null,
  sending_domain_id uuid not null,
  organization_name text not null,
  contact_info text,
  report_id text not null,
  begins_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  successful bigint not null,
  failed bigint not null,
  failures jsonb not null,
  received_at timestamp with time zone not null,
  unread jsonb default '[]'::jsonb not null,
  UNIQUE (workspace_id, sending_domain_id, organization_name, report_id),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, sending_domain_id) REFERENCES sending_domains(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX tls_reports_by_arrival ON tls_reports USING btree (workspace_id, sending_domain_id, received_at);
CREATE INDEX tls_reports_by_time ON tls_reports USING btree (workspace_id, sending_domain_id, ends_at);

create table tracking_domains (
  workspace_id uuid not null,
  id uuid not null,
  domain text not null,
  is_verified boolean default false not null,
  verified_at timestamp with time zone,
  checked_at timestamp with time zone,
  created_at timestamp with time zone not null,
  https_fault text,
  UNIQUE (workspace_id, domain),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX tracking_domains_by_check ON tracking_domains USING btree (COALESCE(checked_at, created_at));
CREATE UNIQUE INDEX tracking_domains_by_name ON tracking_domains USING btree (domain) WHERE is_verified;

create table users (
  id uuid not null,
  email text not null,
  name text not null,
  password_hash text,
  language text,
  timezone text,
  preferences jsonb default '{}'::jsonb not null,
  is_operator boolean default false not null,
  created_at timestamp with time zone default now() not null,
  disabled_at timestamp with time zone,
  theme text,
  UNIQUE (email),
  PRIMARY KEY (id),
  CHECK ((theme = ANY (ARRAY['light'::text, 'dark'::text])))
);

create table validation_batches (
  workspace_id uuid not null,
  job_id uuid not null,
  batch integer not null,
  places integer[] default '{}'::integer[] not null,
  rows text[] default '{}'::text[] not null,
  counts jsonb default '{}'::jsonb not null,
  greylisted integer[] default '{}'::integer[] not null,
  put_back integer[] default '{}'::integer[] not null,
  stopped_by text,
  done_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, job_id, batch),
  FOREIGN KEY (workspace_id, job_id) REFERENCES jobs(workspace_id, id) ON DELETE CASCADE
);

create table validation_days (
  workspace_id uuid not null,
  day date not null,
  status text not null,
  count bigint not null,
  PRIMARY KEY (workspace_id, day, status),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table validations (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  status text not null,
  risk_score smallint not null,
  cost smallint not null,
  created_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  CHECK (((risk_score >= 0) AND (risk_score <= 10))),
  CHECK ((status = ANY (ARRAY['valid'::text, 'invalid'::text, 'catch-all'::text, 'disposable'::text, 'role-based'::text, 'unknown'::text])))
);
CREATE INDEX validations_by_age ON validations USING brin (created_at);

create table verified_senders (
  workspace_id uuid not null,
  id uuid not null,
  email text not null,
  from_name text default ''::text not null,
  is_verified boolean default false not null,
  verified_at timestamp with time zone,
  token_expires_at timestamp with time zone not null,
  token_number integer default 1 not null,
  link_sent_at timestamp with time zone default now() not null,
  created_at timestamp with time zone default now() not null,
  UNIQUE (workspace_id, email),
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table warm_up_days (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  day date not null,
  lane text not null,
  step smallint not null,
  sent integer not null,
  deferred integer not null,
  PRIMARY KEY (workspace_id, sending_ip_id, day, lane),
  FOREIGN KEY (workspace_id, sending_ip_id) REFERENCES sending_ips(workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX warm_up_days_by_day ON warm_up_days USING btree (day);

create table warm_up_lanes (
  workspace_id uuid not null,
  sending_ip_id uuid not null,
  lane text not null,
  started_at timestamp with time zone not null,
  day date not null,
  step smallint not null,
  reserved integer not null,
  sent integer not null,
  deferred integer not null,
  PRIMARY KEY (workspace_id, sending_ip_id, lane),
  FOREIGN KEY (workspace_id, sending_ip_id) REFERENCES sending_ips(workspace_id, id) ON DELETE CASCADE
);

create table webhook_deliveries (
  workspace_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  type text not null,
  body json not null,
  status text default 'pending'::text not null,
  attempts integer default 0 not null,
  tries smallint default 0 not null,
  next_attempt_at timestamp with time zone,
  attempted_at timestamp with time zone,
  status_code smallint,
  error text,
  duration_ms integer,
  created_at timestamp with time zone not null,
  answer jsonb,
  PRIMARY KEY (workspace_id, webhook_id, id),
  CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_by_status ON webhook_deliveries USING btree (workspace_id, webhook_id, status, id) WHERE (status <> 'delivered'::text);
CREATE INDEX webhook_deliveries_by_type ON webhook_deliveries USING btree (workspace_id, webhook_id, type, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries USING btree (workspace_id, webhook_id, next_attempt_at) WHERE (status = 'pending'::text);

create table webhook_leases (
  workspace_id uuid not null,
  webhook_id uuid not null,
  delivery_id uuid not null,
  lease_id uuid not null,
  leased_until timestamp with time zone not null,
  PRIMARY KEY (workspace_id, webhook_id, delivery_id)
);
CREATE INDEX webhook_leases_under_way ON webhook_leases USING btree (workspace_id, leased_until);

create table webhook_turn_requests (
  workspace_id uuid not null,
  id bigint not null,
  due_at timestamp with time zone not null,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX webhook_turn_requests_in_order ON webhook_turn_requests USING btree (id);

create table webhook_turns (
  workspace_id uuid not null,
  turn_at timestamp with time zone not null,
  due_at timestamp with time zone,
  PRIMARY KEY (workspace_id)
);
CREATE INDEX webhook_turns_in_line ON webhook_turns USING btree (turn_at);

create table webhooks (
  workspace_id uuid not null,
  id uuid not null,
  url text not null,
  events text[] not null,
  description text,
  is_active boolean not null,
  disabled_reason text,
  consecutive_failures integer default 0 not null,
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  failing_since timestamp with time zone,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX webhooks_deleted ON webhooks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

create table workspace_members (
  workspace_id uuid not null,
  user_id uuid not null,
  built_in_role text,
  role_id uuid,
  created_at timestamp with time zone default now() not null,
  last_seen_at timestamp with time zone,
  PRIMARY KEY (workspace_id, user_id),
  FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  FOREIGN KEY (workspace_id, role_id) REFERENCES roles(workspace_id, id),
  CHECK ((num_nonnulls(built_in_role, role_id) = 1))
);
CREATE INDEX workspace_members_of_role ON workspace_members USING btree (workspace_id, role_id) WHERE (role_id IS NOT NULL);
CREATE INDEX workspace_members_of_user ON workspace_members USING btree (user_id);

create table workspaces (
  id uuid not null,
  name text not null,
  timezone text default 'UTC'::text not null,
  plan text default 'free'::text not null,
  hourly_cap integer,
  is_suspended boolean default false not null,
  suspended_at timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  notify_email text,
  default_sender text,
  retry_hours smallint default 72 not null,
  tracks_transactional boolean default false not null,
  requires_second_factor boolean default false not null,
  own_hourly_cap integer,
  language text default 'en'::text not null,
  language_field text,
  PRIMARY KEY (id),
  CHECK ((hourly_cap > 0)),
  CHECK ((own_hourly_cap > 0)),
  CHECK (((retry_hours >= 1) AND (retry_hours <= 168)))
);
