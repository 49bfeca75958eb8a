import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { sealedColumns } from "#cli/secret-key/sealed-columns.ts";
import { testDatabase } from "./support/database.ts";
import { schemaText } from "./support/schema-text.ts";

const db = await testDatabase();

test("db/schema.sql is the result of the migrations (npm test -- test/schema.test.ts -u rewrites it)", async () => {
  await expect(await schemaText(db)).toMatchFileSnapshot("../db/schema.sql");
});

/** Tables that are searched without a workspace: by a DNS name, or by the id of a gateway. */
const installationWide = ["domain_claims", "domain_switches", "sms_receipts"];

test("the primary key of every tenant table begins with the workspace", async () => {
  const tenantTables = await db.rows<{ name: string; first: string | null }>(sql`
    select c.relname as name, (
      select a.attname from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where i.indrelid = c.oid and i.indisprimary) as first
    from pg_class c join pg_attribute w on w.attrelid = c.oid and w.attname = 'workspace_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`);
  const wrong = tenantTables.filter(({ first }) => first !== "workspace_id").map(({ name }) => name);
  expect(wrong.sort()).toEqual(installationWide);
});

/** Columns of type bytea that are not sealed with the secret key: hashes, mails, files and sets. */
const unsealed = [
  "account_links.token_hash",
  "api_keys.key_hash",
  "captured_messages.raw",
  "consent_wordings.hash",
  "dmarc_reports.xml",
  "idempotency_keys.request_hash",
  "inbound_mails.raw",
  "invitations.token_hash",
  "job_file_parts.octets",
  "known_browsers.token_hash",
  "media.content",
  "media.sha256",
  "media.source_sha256",
  "passkeys.public_key",
  "received_digests.digest",
  "received_emails.raw",
  "recovery_codes.code_hash",
  "secret_keys.fingerprint",
  "sessions.token_hash",
  "share_links.token_hash",
  "sign_in_challenges.token_hash",
  "signup_requests.consent_hash",
  "submissions.raw",
  "subscribers.active_lists",
];

test("every bytea column is sealed again by a key rotation or is listed as not sealed", async () => {
  const columns = await db.rows<{ name: string; table: string }>(sql`
    select c.relname || '.' || a.attname as name, c.relname as table
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and a.atttypid = 'bytea'::regtype`);
  const sealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  const names = columns.map(({ name }) => name);
  expect(names.sort()).toEqual([...sealed, ...unsealed].sort());
});
