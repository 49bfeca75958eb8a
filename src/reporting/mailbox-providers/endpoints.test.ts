import sql from "sql-template-tag";
import { beforeEach, expect, test } from "vitest";
import { builtInLanes } from "#delivery/lanes/default-lanes.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { applyCounterDeltas } from "#messages/counters/apply-deltas-store.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import { createLog } from "#platform/log/log.ts";
import { DAY_MS, HOUR_MS } from "#platform/time-units.ts";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { lookUpMailboxProviders } from "./look-up-providers.ts";

const mx = (...hosts: string[]) => ({ MX: hosts.map((host, at): [number, string] => [at, host]) });
const service = await startService({
  zone: {
    "mail.test": mx("aspmx.l.google.com"),
    "shop.test": mx("alt1.aspmx.l.google.com", "aspmx.l.google.com"),
    "mixed.test": mx("aspmx.l.google.com", "own.mixed.test"),
    "yahoo.test": mx("mta5.am0.yahoodns.net"),
    "own.test": mx("mx.own.test"),
    "broken.test": "servfail",
  },
});
const { database: db, clock, dns } = service;
const now = new Date("2026-06-15T12:00:00Z");
const resolver = createResolver({ servers: [dns.address], timeoutMs: 2_000, tries: 1 });
const context = { signal: new AbortController().signal, log: createLog("silent") };
const taskOf = (asked: Pick<typeof resolver, "mx">) =>
  lookUpMailboxProviders({ db, clock, resolver: asked, lanes: builtInLanes });
/** @returns how often the task ran until it had nothing more to do */
const lookUp = async (asked: Pick<typeof resolver, "mx"> = resolver): Promise<number> => {
  await applyCounterDeltas(db).run(context);
  const task = taskOf(asked);
  for (let runs = 1; ; runs++) {
    try {
      await task.run(context);
      return runs;
    } catch (err) {
      if (!(err instanceof PutBack)) throw err;
    }
  }
};
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);

beforeEach(async () => {
  clock.set(now);
  await db.run(sql`truncate mailbox_domains, mailbox_domain_visits`);
});

test("domains are grouped by the provider of all their MX hosts, most messages first, with each day of the window", async () => {
  const { get, send } = await reportScene(service);
  await send("delivered", { to: "a@mail.test" });
  await send("complained", { to: "b@shop.test", acceptedAt: daysAgo(1), time: daysAgo(1) });
  await send("bounced", { to: "c@shop.test" });
  await send("suppressed", { to: "d@shop.test" });
  await send("deferred", { to: "a@mixed.test" });
  await send("failed", { to: "a@own.test" });
  await send("delivered", { to: "a@yahoo.test", acceptedAt: daysAgo(5), time: daysAgo(5) });
  await lookUp();
  const { providers, window_days } = await get("/deliverability/providers?window_days=2");
  expect(window_days).toBe(2);
  expect(providers).toMatchObject([
    {
      provider: "google",
      domain_count: 2,
      percent_total: 60,
      total_messages: 3,
      success: 2,
      bounced: 1,
      failure: 0,
      still_trying: 0,
      complained: 1,
      days: [
        { date: "2026-06-13", total_messages: 0 },
        { date: "2026-06-14", total_messages: 1, success: 1, complained: 1 },
        { date: "2026-06-15", total_messages: 2, success: 1, bounced: 1 },
      ],
    },
    { provider: "default", domain_count: 2, total_messages: 2, failure: 1, still_trying: 1 },
  ]);
  const whole = (await get("/deliverability/providers?window_days=7")).providers;
  expect(whole.map(({ provider }: { provider: string }) => provider)).toEqual(["google", "default", "yahoo"]);
  const ofGoogle = await get("/deliverability/recipient-domains?window_days=2&provider=google&limit=1");
  expect(ofGoogle).toMatchObject({
    stats: [{ domain: "shop.test", total_messages: 2, percent_total: 40 }],
    total_row: { total_messages: 5 },
    pagination: { total: 2 },
  });
});

test("domains that are not looked up yet are a group of their own, also when the DNS answers nothing", async () => {
  const { get, send } = await reportScene(service);
  await send("delivered", { to: "a@broken.test" });
  await send("delivered", { to: "a@mail.test" });
  const names = async () =>
    (await get("/deliverability/providers")).providers.map(({ provider }: { provider: string }) => provider);
  expect(await names()).toEqual([null]);
  await applyCounterDeltas(db).run(context);
  const silent = taskOf({
    mx: async () => ({ outcome: "failed", reason: "ETIMEOUT", isUnanswered: true }),
  });
  const pauses: number[] = [];
  for (let round = 0; round < 7; round++) {
    const putBack = await silent.run(context).catch((err: unknown) => err);
    pauses.push(putBack instanceof PutBack ? putBack.seconds : -1);
  }
  expect(pauses).toEqual([30, 60, 120, 240, 480, 900, 900]);
  await lookUp();
  expect(new Set(await names())).toEqual(new Set([null, "google"]));
  const { stats } = await get("/deliverability/recipient-domains?provider=not_looked_up");
  expect(stats).toMatchObject([{ domain: "broken.test" }]);
});

test("a provider is looked up again after two weeks, and kept while the DNS does not answer", async () => {
  const { send, get } = await reportScene(service);
  await send("delivered", { to: "a@mail.test" });
  await lookUp();
  const asked: string[] = [];
  const failing = {
    mx: async (name: string) => {
      asked.push(name);
      return { outcome: "failed", reason: "SERVFAIL" } as const;
    },
  };
  await lookUp(failing);
  expect(asked).not.toContain("mail.test");
  clock.advance(15 * DAY_MS);
  await lookUp(failing);
  expect(asked).toContain("mail.test");
  expect((await get("/deliverability/providers")).providers).toMatchObject([{ provider: "google" }]);
});

test("a workspace without mail has no providers, and the domains of a name that is no provider are refused", async () => {
  const { get, call } = await reportScene(service);
  expect(await get("/deliverability/providers")).toEqual({ providers: [], window_days: 30 });
  for (const name of ["nobody", "__proto__", "%00"]) {
    const refused = await call("GET", `/deliverability/recipient-domains?provider=${name}`);
    expect([name, refused.status]).toEqual([name, 400]);
  }
  for (const days of ["0", "91", "-1", "1.5", "1e1", "030.", "abc", "%00", "99999999999999999999"]) {
    const { body } = await call("GET", `/deliverability/providers?window_days=${days}`);
    expect([days, body.code, body.details?.[0].field]).toEqual([days, "VALIDATION_ERROR", "window_days"]);
  }
  expect(await get("/deliverability/recipient-domains?provider=default")).toMatchObject({ stats: [] });
});

test("all domains are looked up without a pause, also those behind one without an answer, each workspace in turn", async () => {
  const [large, small] = [await service.newWorkspace(), await service.newWorkspace()];
  for (const [{ workspaceId }, name, count] of [
    [large, "large", 2_500],
    [small, "small", 1],
  ] as const) {
    await db.run(sql`
      insert into report_domain_days (workspace_id, day, domain, delivered)
      select ${workspaceId}, ${now}::timestamptz::date, ${name} || n || '.test', ${count} - n
      from generate_series(0, ${count - 1}::int) n`);
  }
  const asked: string[] = [];
  const runs = await lookUp({
    mx: async (domain) => {
      asked.push(domain);
      return domain === "large0.test"
        ? { outcome: "failed", reason: "ETIMEOUT", isUnanswered: true }
        : { outcome: "absent", reason: "nxdomain" };
    },
  });
  const found = await db.row(sql`
    select count(*) filter (where provider = 'default')::int as domains,
      extract(epoch from min(due_at) - ${now})::int as silent_for
    from mailbox_domains where domain like 'large%' or domain like 'small%'`);
  expect(found).toEqual({ domains: 2_500, silent_for: 900 });
  expect(runs).toBeLessThanOrEqual(4);
  expect(asked.indexOf("small0.test")).toBeLessThan(20);
  clock.advance(HOUR_MS);
  await lookUp();
  await lookUp({ mx: () => expect.fail("nothing is due") });
  await db.run(sql`update mailbox_domains set seen_at = seen_at - interval '98 days', due_at = ${now}`);
  await db.run(sql`delete from report_domain_days where domain like 'large%' or domain like 'small%'`);
  clock.advance(HOUR_MS);
  await lookUp();
  expect(await db.rows(sql`select from mailbox_domains where domain like 'large%'`)).toEqual([]);
});
