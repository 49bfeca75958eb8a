import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { deleteHold, insertHold } from "#delivery/hold/store.ts";
import { updateMonitorRun } from "#hygiene/blacklist/monitor-store.ts";
import { applyDeltas } from "#messages/counters/apply-deltas-store.ts";
import { newId, type WorkspaceId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { ProcessRegistration } from "#platform/process/process-registration.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { endpointsForDocs } from "#processes/api.ts";
import { apiCaller, type CallApi } from "#test/support/api-caller.ts";
import { newList } from "#test/support/audience.ts";
import { newCampaign } from "#test/support/campaigns.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { recordEnded, switchOff } from "#webhooks/store.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";
import { type Notice, noticeOperations } from "./notice.ts";

const service = await startService({ zone: { test: {} } });
const { database: db, clock } = service;

interface Scene {
  readonly workspaceId: WorkspaceId;
  readonly call: CallApi;
  readonly list: (query?: string) => Promise<Notice[]>;
}

/** A new workspace. */
async function scene(): Promise<Scene> {
  const { workspaceId, key } = await service.newWorkspace();
  const call = apiCaller(() => service.url, key);
  return { workspaceId, call, list: (query) => listWith(call, query) };
}

async function listWith(call: CallApi, query = ""): Promise<Notice[]> {
  const { status, body } = await call("GET", `/notices${query}`);
  expect(status, body.error).toBe(200);
  return body.data.notices;
}

async function pausedCampaign(
  { workspaceId }: Scene,
  reason: string | null = "bounce_rate",
): Promise<string> {
  const id = await newCampaign(db, workspaceId, await newList(db, workspaceId));
  await pause(id, reason);
  return id;
}

const pause = (id: string, reason: string | null = "bounce_rate") =>
  db.run(sql`
    update campaigns set status = 'paused', paused_at = ${clock.now()}, pause_reason = ${reason} where id = ${id}`);

const only = (list: Notice[]): Notice => {
  expect(list).toHaveLength(1);
  return list[0] as Notice;
};

async function newDomain({ call }: Scene): Promise<{ id: string; domain: string }> {
  const { body } = await call("POST", "/sending-domains", { domain: `${newId()}.test` });
  return body.data;
}

describe("notices", () => {
  test("are none in a workspace where all is well", async () => {
    const { call } = await scene();
    const { body } = await call("GET", "/notices");
    expect([body.data, body.message]).toEqual([{ notices: [], incomplete: [] }, "Nothing needs attention"]);
  });

  test("a hold of sending is one in each workspace, also after a restore, until the release", async () => {
    const [one, other] = [await scene(), await scene()];
    await insertHold(db, null);
    const held = only(await one.list());
    expect(held).toMatchObject({
      kind: "sending_held",
      severity: "critical",
      title: "Sending is held",
      message: expect.stringMatching(/^The operator holds all sending: .* posthaste -- sending release\.$/),
      operation: "getQueue",
    });
    expect(only(await other.list()).id).not.toBe(held.id);
    await deleteHold(db);
    expect(await one.list()).toEqual([]);
    await insertHold(db, new Date("2026-03-01T10:00:00Z"));
    const restored = only(await one.list());
    await deleteHold(db);
    expect(restored.message).toContain(
      "was restored from a backup of 2026-03-01 10:00 UTC: mail is accepted",
    );
    expect(restored.id).not.toBe(held.id);
  });

  test("mail that no process delivers is one of its workspace, after some minutes, until a process runs", async () => {
    const { call, send, workspaceId } = await reportScene(service);
    const other = await scene();
    const id = await send("queued");
    const due = (minutes: number) =>
      db.run(sql`
        update delivery_queue set due_at = now() - make_interval(mins => ${minutes}) where message_id = ${id}`);
    await due(1);
    expect(await listWith(call)).toEqual([]);
    await due(4);
    expect(only(await listWith(call))).toMatchObject({
      kind: "no_delivery_process",
      severity: "critical",
      title: "No process delivers mail",
      message: expect.stringMatching(/^Mail is due since .* no delivery process runs on any machine/),
      operation: "getQueue",
    });
    expect(await other.list()).toEqual([]);
    await insertHold(db, null);
    expect(only(await listWith(call)).kind).toBe("sending_held");
    await deleteHold(db);
    const line = newId();
    await db.run(sql`update delivery_queue set campaign_id = ${line} where message_id = ${id}`);
    expect(only(await listWith(call)).kind).toBe("no_delivery_process");
    await db.run(sql`
      insert into autoresponders (workspace_id, id, name, mailing_list_id, from_email, trigger_type, status,
        activated_at, deactivated_at, created_at, updated_at)
      values (${workspaceId}, ${line}, 'Welcome', ${newId()}, 'a@b.test', 'subscribed', 'inactive',
        ${clock.now()}, ${clock.now()}, ${clock.now()}, ${clock.now()})`);
    await db.run(sql`update delivery_queue set priority = 1 where message_id = ${id}`);
    expect(await listWith(call)).toEqual([]);
    await db.run(sql`update autoresponders set status = 'active' where id = ${line}`);
    expect(only(await listWith(call)).kind).toBe("no_delivery_process");
    const delivery = await ProcessRegistration.begin(
      { db, log: createLog("silent"), roles: ["delivery"] },
      async () => {},
    );
    expect(await listWith(call)).toEqual([]);
    await delivery.stop();
    await db.run(sql`delete from delivery_queue where message_id = ${id}`);
  });

  test("a suspended workspace is one, since its suspension, and another when it is suspended again", async () => {
    const own = await scene();
    const other = await scene();
    const suspend = (is_suspended: boolean) =>
      changeWorkspace(db, own.workspaceId, { is_suspended }, { clock, plans });
    await suspend(true);
    const since = clock.now().toISOString();
    const first = only(await own.list());
    expect(first).toMatchObject({
      kind: "workspace_suspended",
      severity: "critical",
      since,
      title: "The workspace is suspended",
      message: expect.stringContaining("nothing is sent or changed, and mail that was accepted waits"),
    });
    expect(await other.list()).toEqual([]);
    clock.advance(HOUR_MS);
    await suspend(true);
    expect(only(await own.list()).id).toBe(first.id);
    await suspend(false);
    expect(await own.list()).toEqual([]);
    await suspend(true);
    expect(only(await own.list()).id).not.toBe(first.id);
  });

  test("a paused campaign is one, with the reason, until it is resumed", async () => {
    const own = await scene();
    const id = await pausedCampaign(own);
    const byHand = await pausedCampaign(own, null);
    const [critical, info, ...more] = await own.list();
    expect(more).toEqual([]);
    expect(critical).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: "campaign_paused",
      severity: "critical",
      since: clock.now().toISOString(),
      title: "The campaign June is paused",
      message: "Too many addresses do not exist. Clean the list, then resume the campaign.",
      resource: { kind: "campaign", id, name: "June", path: `/api/v1/campaigns/${id}` },
      operation: "resumeCampaign",
      dismissed_at: null,
      dismissed_by: null,
    });
    expect(info).toMatchObject({ severity: "info", resource: { id: byHand } });
    for (const one of [id, byHand])
      expect((await own.call("POST", `/campaigns/${one}/resume`)).status).toBe(200);
    expect(await own.list()).toEqual([]);
  });

  test("an autoresponder that the service has deactivated is one, not one that a person has", async () => {
    const own = await scene();
    const [stopped, byHand] = [newId(), newId()];
    for (const [id, reason] of [
      [stopped, "sender_not_verified"],
      [byHand, null],
    ]) {
      await db.run(sql`
        insert into autoresponders (workspace_id, id, name, mailing_list_id, from_email, trigger_type, status,
          activated_at, deactivated_at, deactivation_reason, created_at, updated_at)
        values (${own.workspaceId}, ${id}, 'Welcome', ${newId()}, 'a@b.test', 'subscribed', 'inactive',
          ${clock.now()}, ${clock.now()}, ${reason}, ${clock.now()}, ${clock.now()})`);
    }
    expect(only(await own.list())).toMatchObject({
      kind: "autoresponder_stopped",
      resource: { kind: "autoresponder", id: stopped, name: "Welcome" },
      message: expect.stringContaining("no longer verified"),
    });
  });

  test("a verified domain whose records are gone is one, and stays one when the verification is lost", async () => {
    const own = await scene();
    const { id, domain } = await newDomain(own);
    const since = new Date(clock.now().getTime() - HOUR_MS).toISOString();
    expect(await own.list()).toEqual([]);
    await db.run(sql`
      update sending_domains set is_verified = true, verified_at = ${since}, spf_verified = true,
        failed_checks = ${JSON.stringify({ ownership: { count: 1, since } })} where id = ${id}`);
    const failing = only(await own.list());
    expect(failing).toMatchObject({
      kind: "domain_dns_broken",
      severity: "warning",
      since,
      resource: { kind: "sending_domain", id, name: domain },
    });
    // Ownership was proved: now the record is missing in the test's DNS, and the check clears the flag.
    const check = await own.call("POST", `/sending-domains/${id}/verify`);
    expect([check.status, check.body.data.ownership_verified]).toEqual([200, false]);
    const lost = only(await own.list());
    expect(lost).toMatchObject({
      severity: "critical",
      since,
      message: expect.stringContaining("ownership, SPF"),
    });
    expect(lost.id).not.toBe(failing.id);
    await own.call("POST", `/sending-domains/${id}/verify`);
    expect(only(await own.list()).id).toBe(lost.id);
    await db.run(sql`update sending_domains set lost_checks = '{}' where id = ${id}`);
    expect(await own.list()).toEqual([]);
  });

  test("of many broken domains the newest are shown, each with all its checks", async () => {
    const own = await scene();
    const ids = Array.from({ length: 60 }, () => newId());
    const failed = (hours: number) => {
      const since = new Date(clock.now().getTime() - hours * HOUR_MS).toISOString();
      return { ownership: { count: 1, since: clock.now().toISOString() }, spf: { count: 1, since } };
    };
    for (const [hours, id] of ids.entries()) {
      await db.run(sql`
        insert into sending_domains (workspace_id, id, domain, verification_token, dmarc_token, failed_checks)
        values (${own.workspaceId}, ${id}, ${`${id}.test`}, ${id}, ${id}, ${JSON.stringify(failed(hours))})`);
    }
    const { body } = await own.call("GET", "/notices");
    const listed: Notice[] = body.data.notices;
    expect(listed.map(({ resource }) => resource.id)).toEqual(ids.slice(0, 50));
    expect(body.data.incomplete).toEqual(["domain_dns_broken"]);
    expect(listed[49]).toMatchObject({
      since: failed(49).spf.since,
      message: expect.stringContaining("The records for the proof of ownership, SPF are missing or wrong"),
    });
  });

  test("more than 0.1 % complaints in 30 days are one, since the day on which the rate was passed", async () => {
    const reported = await reportScene(service);
    const days = (count: number) => new Date(clock.now().getTime() - count * DAY_MS);
    const get = async () => {
      while ((await applyDeltas(db, 1_000)) > 0);
      return listWith(reported.call);
    };
    const complain = (ago: number) => reported.send("complained", { acceptedAt: days(4), time: days(ago) });
    for (let count = 0; count < 2; count += 1) await complain(3);
    expect(await get()).toEqual([]);
    await complain(2);
    const first = only(await get());
    expect(first).toMatchObject({
      kind: "complaint_rate_high",
      severity: "critical",
      since: `${days(2).toISOString().slice(0, 10)}T00:00:00.000Z`,
      message: expect.stringContaining("3 complaints came in the last 30 days, for 3 delivered messages"),
      resource: { kind: "workspace", id: null, path: "/api/v1/stats/health" },
    });
    await complain(1);
    expect(only(await get()).id).toBe(first.id);
    // One thousandth is not more than one thousandth.
    await db.run(sql`
      insert into report_eighths (workspace_id, eighth, source, delivered)
      values (${reported.workspaceId}, date_trunc('day', ${days(10)}::timestamptz), 'smtp', ${4 * 999})`);
    expect(await get()).toEqual([]);
  });

  test("a listed IP address is one, a clean one is not", async () => {
    const own = await scene();
    const { body } = await own.call("POST", "/blacklist/monitors", { target: "20.30.40.50" });
    const { id } = body.data;
    expect(await own.list()).toEqual([]);
    const next_run_at = new Date(body.data.next_run_at);
    const target = { target: "20.30.40.50", target_type: "ip" } as const;
    const lease = { workspace_id: own.workspaceId, id, ...target, lease_number: 1, next_run_at };
    const run = (last_listed_zones: string[]) => {
      const now = clock.now();
      return updateMonitorRun(db, lease, { last_checked_at: now, last_listed_zones, last_error: null }, now);
    };
    await run(["zen.example"]);
    const since = clock.now().toISOString();
    clock.advance(HOUR_MS);
    await run(["zen.example", "other.example"]);
    expect(only(await own.list())).toMatchObject({
      kind: "blacklisted",
      since,
      title: "20.30.40.50 is on 2 blacklists",
      resource: { kind: "blacklist_monitor", id, path: `/api/v1/blacklist/monitors/${id}` },
    });
    const setStatus = (status: string) => own.call("PATCH", `/blacklist/monitors/${id}`, { status });
    expect((await setStatus("paused")).status).toBe(200);
    expect(await own.list()).toEqual([]);
    expect((await setStatus("active")).status).toBe(200);
    expect(await own.list()).toHaveLength(1);
    await run([]);
    expect(await own.list()).toEqual([]);
  });

  test("a failing webhook is one, another when it is switched off, and none when it is switched on", async () => {
    const own = await scene();
    const { body } = await own.call("POST", "/webhooks", {
      url: "https://shop.example.net/hooks",
      events: ["*"],
    });
    const { id } = body.data;
    const record = (failures: number) => {
      const ended = { workspaceId: own.workspaceId, webhookId: id, failures, hasSucceeded: failures === 0 };
      return recordEnded(db, [{ ...ended, reason: "HTTP 503" }], { most: 30, now: clock.now() });
    };
    const fail = () => record(1);
    await fail();
    const since = clock.now().toISOString();
    clock.advance(HOUR_MS);
    await fail();
    expect(only(await own.list())).toMatchObject({
      since,
      message: expect.stringContaining("2 deliveries to"),
    });
    await record(0);
    expect(await own.list()).toEqual([]);
    await fail();
    const failing = only(await own.list());
    expect(failing).toMatchObject({
      kind: "webhook_failing",
      severity: "warning",
      operation: "listWebhookDeliveries",
    });
    await switchOff(db, own.workspaceId, id, "HTTP 410", clock.now());
    const off = only(await own.list());
    expect(off).toMatchObject({ kind: "webhook_disabled", message: expect.stringContaining("HTTP 410") });
    expect(off.id).not.toBe(failing.id);
    await own.call("PATCH", `/webhooks/${id}`, { is_active: true });
    expect(await own.list()).toEqual([]);
    await own.call("PATCH", `/webhooks/${id}`, { is_active: false });
    expect(await own.list()).toEqual([]);
  });

  test("an allowance is one from four fifths on, and another when it is used up", async () => {
    const own = await scene();
    await changeWorkspace(db, own.workspaceId, { plan: "free" }, { clock, plans });
    const start = new Date(Date.UTC(clock.now().getUTCFullYear(), clock.now().getUTCMonth()));
    const use = (used: number) =>
      db.run(sql`
        insert into meters (workspace_id, kind, period_start, used) values (${own.workspaceId}, 'email', ${start}, ${used})
        on conflict (workspace_id, kind, period_start) do update set used = excluded.used`);
    await use(2_399);
    expect(await own.list()).toEqual([]);
    await use(2_400);
    const nearly = only(await own.list());
    expect(nearly).toMatchObject({
      kind: "allowance_nearly_used",
      severity: "warning",
      since: start.toISOString(),
      message: expect.stringContaining("80 % of the plan's 3,000 emails"),
      resource: { kind: "billing", id: null, path: "/api/v1/billing/overview" },
    });
    await use(2_900);
    expect(only(await own.list()).id).toBe(nearly.id);
    await use(3_000);
    expect(only(await own.list())).toMatchObject({ kind: "allowance_used_up", severity: "critical" });
  });

  test("a balance that lasts for less than three days is one, and an empty one is another", async () => {
    const own = await scene();
    await changeWorkspace(db, own.workspaceId, { plan: "free" }, { clock, plans });
    const now = clock.now();
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    await db.run(sql`
      insert into meters (workspace_id, kind, period_start, used, paid)
      values (${own.workspaceId}, 'email', ${start}, 15500, 10)`);
    const balance = (amount: string) =>
      db.run(sql`
        update billing_accounts set balance = ${amount}, is_prepaid = true where workspace_id = ${own.workspaceId}`);
    // $2 on each of five days, the last of which is today.
    for (let ago = 0; ago < 5; ago += 1) {
      const day = new Date(now.getTime() - ago * DAY_MS).toISOString().slice(0, 10);
      await db.run(sql`
        insert into billing_transactions (workspace_id, id, transaction_type, amount, status, description, kind, quantity,
          unit_rate, day, created_at, completed_at)
        values (${own.workspaceId}, ${newId()}, 'usage', -2, 'completed', 'Usage', 'email', 2500, 0.0008, ${day},
          ${day}, ${day})`);
    }
    await balance("6");
    expect(await own.list()).toEqual([]);
    await balance("4.5");
    expect(only(await own.list())).toMatchObject({
      kind: "balance_low",
      // It was $6.50 yesterday, and is below three times $2 since today.
      since: `${now.toISOString().slice(0, 10)}T00:00:00.000Z`,
      title: "The balance lasts for about 2 days",
      message: expect.stringContaining("$4.50, and the last days cost $2.00 a day"),
      operation: "createTopUp",
    });
    await balance("0");
    expect(only(await own.list())).toMatchObject({ kind: "balance_used_up", severity: "critical" });
  });

  test("a failed job is one for callers who may see it", async () => {
    const own = await scene();
    const id = newId();
    await db.run(sql`
      insert into jobs (workspace_id, id, type, status, permission, error, completed_at, expires_at)
      values (${own.workspaceId}, ${id}, 'import_subscribers', 'failed', 'subscribers:read', 'The file is broken',
        ${clock.now()}, ${clock.now()})`);
    expect(only(await own.list())).toMatchObject({
      kind: "job_failed",
      message: "The file is broken",
      resource: { kind: "job", id, name: "import_subscribers", path: `/api/v1/jobs/${id}` },
    });
    const callerWith = async (permissions: string[]) =>
      (await service.newPerson(permissions, { workspaceId: own.workspaceId })).call;
    expect(await listWith(await callerWith(["subscribers:read"]))).toHaveLength(1);
    expect(await listWith(await callerWith(["validations:read"]))).toEqual([]);
    clock.advance(HOUR_MS);
    await db.run(sql`
      insert into jobs (workspace_id, id, type, status, permission, completed_at, expires_at)
      select ${own.workspaceId}, gen_random_uuid(), 'bulk_validation', 'failed', 'validations:read', ${clock.now()}, ${clock.now()}
      from generate_series(1, 60)`);
    const { body } = await (await callerWith(["subscribers:read"]))("GET", "/notices");
    expect(only(body.data.notices)).toMatchObject({ resource: { id } });
    expect(body.data.incomplete).toEqual([]);
    const all = (await own.call("GET", "/notices")).body.data;
    expect([all.notices.length, all.incomplete]).toEqual([50, ["job_failed"]]);
    expect(all.notices.map((one: Notice) => one.resource.id)).not.toContain(id);
  });

  test("are only those about what the caller may read", async () => {
    const own = await scene();
    await pausedCampaign(own);
    const caller = async (permissions: string[]) =>
      (await service.newPerson(permissions, { workspaceId: own.workspaceId })).call;
    const [reader, stranger] = [
      await caller(["campaigns:read"]),
      await caller(["webhooks:read", "notices:write"]),
    ];
    const { id } = only(await listWith(reader));
    expect(await listWith(stranger)).toEqual([]);
    expect((await stranger("POST", `/notices/${id}/dismiss`)).status).toBe(404);
    expect((await reader("POST", `/notices/${id}/dismiss`)).body.required_scopes).toEqual(["notices:write"]);
    const other = await scene();
    expect(await other.list()).toEqual([]);
    expect((await other.call("POST", `/notices/${id}/dismiss`)).status).toBe(404);
    expect(only(await own.list()).dismissed_at).toBe(null);
  });

  test("are bounded, and say which kinds have more", async () => {
    const own = await scene();
    for (let count = 0; count < 51; count += 1) await pausedCampaign(own);
    const { body } = await own.call("GET", "/notices");
    expect([body.data.notices.length, body.data.incomplete]).toEqual([50, ["campaign_paused"]]);
  });

  test("name operations that exist", () => {
    const known = new Set(endpointsForDocs().map(({ id }) => id));
    expect(noticeOperations.filter((id) => !known.has(id))).toEqual([]);
  });
});

describe("a dismissed notice", () => {
  test("is hidden for everyone, keeps who and when, is audited, and can be restored", async () => {
    const own = await scene();
    await pausedCampaign(own);
    const { id } = only(await own.list());
    const ada = await service.newPerson(["*:*"], { workspaceId: own.workspaceId });
    const answer = await ada.call("POST", `/notices/${id}/dismiss`);
    expect([answer.status, answer.body.data]).toMatchObject([
      200,
      { id, dismissed_at: clock.now().toISOString() },
    ]);
    const by = answer.body.data.dismissed_by;
    expect(by).toEqual(expect.stringMatching(/./));
    expect(await own.list()).toEqual([]);
    clock.advance(1_000);
    const again = await own.call("POST", `/notices/${id}/dismiss`);
    expect(again.body.data).toEqual(answer.body.data);
    expect(only(await own.list("?dismissed=true"))).toEqual(answer.body.data);
    const { body } = await own.call("GET", "/audit-events?operation=dismissNotice");
    expect(body.data.at(-1)).toMatchObject({
      actor: { name: by },
      resource: { id, name: "The campaign June is paused" },
    });
    const restored = await own.call("POST", `/notices/${id}/restore`);
    expect(restored.body.data).toMatchObject({ id, dismissed_at: null, dismissed_by: null });
    expect(only(await own.list()).id).toBe(id);
  });

  test("comes back when its cause begins anew", async () => {
    const own = await scene();
    const campaign = await pausedCampaign(own);
    const { id } = only(await own.list());
    await own.call("POST", `/notices/${id}/dismiss`);
    expect((await own.call("POST", `/campaigns/${campaign}/resume`)).status).toBe(200);
    clock.advance(60_000);
    await pause(campaign);
    const anew = only(await own.list());
    expect(anew).toMatchObject({ resource: { id: campaign }, dismissed_at: null });
    expect(anew.id).not.toBe(id);
  });

  test("cannot be dismissed after its cause has ended", async () => {
    const own = await scene();
    const campaign = await pausedCampaign(own);
    const { id } = only(await own.list());
    expect((await own.call("POST", `/campaigns/${campaign}/resume`)).status).toBe(200);
    const { status, body } = await own.call("POST", `/notices/${id}/dismiss`);
    expect([status, body.code]).toEqual([404, "NOT_FOUND"]);
  });
});
