/** The reports of a deleted sending domain are removed with it. */
import sql from "sql-template-tag";
import { expect, test } from "vitest";
import type { WorkspaceId } from "#platform/ids.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { call, database, workspaceId } = service;
let count = 0;

/** A domain with twenty DMARC reports that claim 3,000 records each, and 9,000 TLS reports. */
async function reportedDomain(own: { workspaceId: WorkspaceId; key: string } = service) {
  count += 1;
  const domain = `reported${count}.test`;
  const { id } = (await call("POST", "/sending-domains", { domain }, { key: own.key })).body.data;
  await database.run(sql`
    insert into dmarc_reports (workspace_id, id, sending_domain_id, org_name, report_id, policy_domain, policy, begins_at,
      ends_at, records, messages, passed, dkim_aligned, spf_aligned, quarantined, rejected, received_at)
    select ${own.workspaceId}, gen_random_uuid(), ${id}, 'receiver.test', n, ${domain}, '{}', now(),
      now() - make_interval(days => n), 3000, 1, 1, 1, 1, 0, 0, now()
    from generate_series(1, 20) n`);
  await database.run(sql`
    insert into dmarc_records (workspace_id, dmarc_report_id, position, source_ip, count, header_from)
    select workspace_id, id, n, '192.0.2.1', 1, ${domain} from dmarc_reports, generate_series(1, 2) n
    where sending_domain_id = ${id}`);
  await database.run(sql`
    insert into tls_reports (workspace_id, id, sending_domain_id, organization_name, report_id, begins_at, ends_at,
      successful, failed, failures, received_at)
    select ${own.workspaceId}, gen_random_uuid(), ${id}, 'receiver.test', n, now(), now(), 1, 0, '[]', now()
    from generate_series(1, 9000) n`);
  return { id, domain, remove: () => call("DELETE", `/sending-domains/${id}`, undefined, { key: own.key }) };
}

const left = () =>
  database.row<{ dmarc: number; records: number; tls: number }>(sql`
    select (select count(*) from dmarc_reports) as dmarc, (select count(*) from dmarc_records) as records,
      (select count(*) from tls_reports) as tls`);

// Counted by triggers, because only the statement itself shows its size.
await database.pool.query(`
  create function refuse_much() returns trigger language plpgsql as $$
  declare size bigint;
  begin
    select coalesce(sum((to_jsonb(gone) ->> 'records')::bigint), count(*)) into size from gone;
    if size > tg_argv[0]::bigint then raise 'one statement deleted %', size; end if;
    return null;
  end $$;
  create trigger bounded after delete on dmarc_reports referencing old table as gone
    for each statement execute function refuse_much(25000);
  create trigger bounded after delete on tls_reports referencing old table as gone
    for each statement execute function refuse_much(5000)`);

test("a domain is deleted with all of its reports, in statements of bounded size", async () => {
  const kept = await reportedDomain(await service.newWorkspace());
  const { remove } = await reportedDomain();
  expect((await remove()).status).toBe(200);
  expect(await left()).toEqual({ dmarc: 20, records: 40, tls: 9_000 });
  await kept.remove();
  expect(await left()).toEqual({ dmarc: 0, records: 0, tls: 0 });
});

test("a domain that a campaign uses, or of another workspace, keeps its reports", async () => {
  const { id, domain, remove } = await reportedDomain();
  const campaign = await newCampaign(database, workspaceId, null, { from_email: `news@${domain}` });
  await database.run(sql`update campaigns set status = 'scheduled' where id = ${campaign}`);
  expect((await remove()).status).toBe(409);
  const { key } = await service.newWorkspace();
  expect((await call("DELETE", `/sending-domains/${id}`, undefined, { key })).status).toBe(404);
  expect(await left()).toEqual({ dmarc: 20, records: 40, tls: 9_000 });
});
