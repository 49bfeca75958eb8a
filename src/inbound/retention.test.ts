import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { insertBareWorkspace } from "#test/support/bare-server.ts";
import { verifyShop } from "#test/support/campaigns.ts";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { removeOldInboundMail } from "./retention.ts";

const db = await testDatabase();
const clock = stubClock();
const log = createLog("silent");
const workspaceId = await insertBareWorkspace(db);
await verifyShop(db, workspaceId);

/** More rows than one statement removes. */
const MANY = 5_001;

const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 86_400_000);
const forget = (signal = new AbortController().signal) =>
  removeOldInboundMail({ db, clock, receivedDays: 30 }).run({ signal, log });

const insertMails = (status: string, amount: number, settled: Date) =>
  db.run(sql`
    insert into inbound_mails (id, kind, mail_from, rcpt_to, network, raw, bytes, status, due_at, received_at, settled_at)
    select gen_random_uuid(), 'operator', '', '', '', '', 0, ${status}, ${settled}, ${settled}, ${settled}
    from generate_series(1, ${amount}::int)`);
const insertSoftBounces = (name: string, amount: number, failed: Date) =>
  db.run(sql`
    insert into soft_bounces (workspace_id, address, failures, first_failed_at, last_failed_at)
    select ${workspaceId}, ${name} || n, 1, ${failed}, ${failed} from generate_series(1, ${amount}::int) n`);
/** A DMARC report with this many records, and a TLS report. */
const insertReports = (name: string, records: number, ended: Date) =>
  db.run(sql`
    with domain as (select workspace_id, id from sending_domains limit 1), tls as (
      insert into tls_reports (workspace_id, id, sending_domain_id, organization_name, report_id, begins_at, ends_at,
        successful, failed, failures, received_at)
      select workspace_id, gen_random_uuid(), id, '', ${name}, ${ended}, ${ended}, 1, 0, '[]', ${ended} from domain
    ), dmarc as (
      insert into dmarc_reports (workspace_id, id, sending_domain_id, org_name, report_id, policy_domain, policy, begins_at,
        ends_at, records, messages, passed, dkim_aligned, spf_aligned, quarantined, rejected, received_at)
      select workspace_id, gen_random_uuid(), id, '', ${name}, '', '{}', ${ended}, ${ended}, ${records}, 0, 0, 0, 0, 0, 0,
        ${ended} from domain
      returning workspace_id, id
    )
    insert into dmarc_records (workspace_id, dmarc_report_id, position, source_ip, count, header_from)
    select workspace_id, id, n, '192.0.2.1', 1, '' from dmarc cross join generate_series(1, ${records}::int) n`);

const count = () =>
  db.row(sql`
    select (select count(*) from inbound_mails where status = 'processed') as processed,
      (select count(*) from inbound_mails where status = 'quarantined') as quarantined,
      (select count(*) from soft_bounces) as soft_bounces, (select count(*) from dmarc_reports) as dmarc_reports,
      (select count(*) from dmarc_records) as dmarc_records, (select count(*) from tls_reports) as tls_reports`);

beforeEach(async () => {
  for (const table of [sql`inbound_mails`, sql`soft_bounces`, sql`dmarc_reports`, sql`tls_reports`]) {
    await db.run(sql`delete from ${table}`);
  }
});

test("old rows are removed, however many there are, and others stay", async () => {
  await insertMails("processed", MANY, daysAgo(8));
  await insertMails("processed", 1, daysAgo(6));
  await insertMails("quarantined", MANY + 1_000, daysAgo(8));
  await insertSoftBounces("old", MANY, daysAgo(91));
  await insertSoftBounces("young", 2, daysAgo(89));
  await insertReports("old", MANY, daysAgo(401));
  await insertReports("young", 3, daysAgo(399));
  await forget();
  expect(await count()).toEqual({
    processed: 1,
    quarantined: 1_000,
    soft_bounces: 2,
    dmarc_reports: 1,
    dmarc_records: 3,
    tls_reports: 1,
  });
});

test("a stopping process begins no further batch", async () => {
  await insertMails("processed", 1, daysAgo(8));
  await insertSoftBounces("old", 1, daysAgo(91));
  await insertReports("old", 1, daysAgo(401));
  const before = await count();
  await forget(AbortSignal.abort());
  expect(await count()).toEqual(before);
});
