import { describe, expect, test } from "vitest";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";

const service = await startService();
const { clock } = service;
const now = new Date("2026-06-15T12:07:00Z");
clock.set(now);
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const hard = { classification: { type: "hard", category: "NoEmail" } } as const;
const block = { classification: { type: "block", category: "Reputation" } } as const;

describe("deliverability", () => {
  test("a workspace without mail has noughts", async () => {
    const { get } = await reportScene(service);
    expect(await get("/deliverability")).toEqual({
      overall_metrics: {
        total_sent_24h: 0,
        total_sent_7d: 0,
        total_sent_30d: 0,
        total_sent: 0,
        delivered: 0,
        delivery_rate: 0,
        bounce_rate: 0,
        hard_bounce_rate: 0,
        soft_bounce_rate: 0,
        complaint_rate: 0,
        open_rate: 0,
        click_rate: 0,
        health_score: 100,
        ip_count: 0,
        domain_count: 0,
      },
      ip_reputations: [],
      domain_reputations: [],
      bounce_breakdown: { hard: 0, soft: 0, block: 0, by_category: [] },
      google_postmaster: { connected: false, domains: [] },
      sends_via_shared_pool: true,
      window_days: 30,
      last_updated: now.toISOString(),
    });
  });

  test("rates and reputations follow the window; the spans cover what their names say", async () => {
    const { get, send } = await reportScene(service);
    const from = (domain: string, ip: string) => ({ message: { fromEmail: `shop@${domain}` }, sourceIp: ip });
    await send("delivered", from("a.example", "192.0.2.1"));
    await send("bounced", { ...from("a.example", "192.0.2.1"), ...hard });
    await send("delivered", { ...from("b.example", "192.0.2.2"), acceptedAt: daysAgo(3), time: daysAgo(3) });
    await send("bounced", {
      ...from("b.example", "192.0.2.2"),
      ...block,
      acceptedAt: daysAgo(20),
      time: daysAgo(20),
    });
    const week = await get("/deliverability?window_days=7");
    expect(week.overall_metrics).toMatchObject({
      total_sent_24h: 2,
      total_sent_7d: 3,
      total_sent_30d: 4,
      total_sent: 3,
      delivered: 2,
      ip_count: 2,
      domain_count: 2,
    });
    expect(week.overall_metrics.hard_bounce_rate).toBeCloseTo(1 / 3);
    expect(week.bounce_breakdown).toEqual({
      hard: 1,
      soft: 0,
      block: 0,
      by_category: [{ category: "NoEmail", count: 1, percent: 100 }],
    });
    expect(week.domain_reputations).toMatchObject([
      {
        domain: "a.example",
        sent: 2,
        delivered: 1,
        bounced: 1,
        bounce_rate: 0.5,
        score: 50,
        blacklist_listed_count: null,
      },
      { domain: "b.example", sent: 1, bounced: 0, score: 100 },
    ]);
    expect(week.ip_reputations.map(({ ip, sent }: { ip: string; sent: number }) => [ip, sent])).toEqual([
      ["192.0.2.1", 2],
      ["192.0.2.2", 1],
    ]);
    expect((await get("/deliverability")).bounce_breakdown).toMatchObject({ hard: 1, block: 1 });
  });

  test("an address is judged by all that was tried from it, like its domain and the whole: what is put off is sent", async () => {
    const { get, send } = await reportScene(service);
    await send("bounced", { ...hard, sourceIp: "192.0.2.1" });
    for (let sent = 0; sent < 3; sent++) await send("deferred", { sourceIp: "192.0.2.1" });
    const { overall_metrics, ip_reputations, domain_reputations } = await get("/deliverability");
    expect(overall_metrics).toMatchObject({ total_sent: 4, bounce_rate: 0.25 });
    for (const reputation of [...ip_reputations, ...domain_reputations])
      expect(reputation).toMatchObject({ sent: 4, bounced: 1, bounce_rate: 0.25 });
  });

  test("a bounce that turns out to be about something else leaves nothing of what it was taken for", async () => {
    const { get, send, tell } = await reportScene(service);
    const id = await send("bounced", { classification: { type: "soft", category: "Undetermined" } });
    await tell(id, "bounced", now, { ...hard, isAddressFault: true });
    expect((await get("/deliverability")).bounce_breakdown).toEqual({
      hard: 1,
      soft: 0,
      block: 0,
      by_category: [{ category: "NoEmail", count: 1, percent: 100 }],
    });
  });

  test("hard and soft bounces are parts of the bounce rate, also when what was sent before the window comes back in it", async () => {
    const { get, send } = await reportScene(service);
    await send("delivered");
    await send("bounced", hard);
    for (let sent = 0; sent < 3; sent++) await send("bounced", { ...hard, acceptedAt: daysAgo(2) });
    const { overall_metrics } = await get("/deliverability?window_days=1");
    expect(overall_metrics).toMatchObject({ total_sent: 2, bounce_rate: 0.5, hard_bounce_rate: 0.5 });
  });

  test.each(["0", "-1", "91", "1e9", "abc", "1.5", "", "9223372036854775808"])(
    "window_days=%s is the default, and says so",
    async (days) => {
      const { get } = await reportScene(service);
      expect(await get(`/deliverability?window_days=${days}`)).toMatchObject({ window_days: 30 });
      expect(await get(`/deliverability/recipient-domains?window_days=${days}`)).toMatchObject({
        window_days: 30,
      });
    },
  );
});

describe("recipient domains", () => {
  test("nothing is no percentage of nothing", async () => {
    const { get } = await reportScene(service);
    expect(await get("/deliverability/recipient-domains")).toMatchObject({
      stats: [],
      total_row: { domain: "total", total_messages: 0, percent_total: 0 },
    });
  });

  test("come by volume, without what was suppressed or cancelled, and with a total over all pages", async () => {
    const { get, send } = await reportScene(service);
    await send("delivered", { to: "a@large.test" });
    await send("complained", { to: "b@large.test" });
    await send("queued", { to: "c@large.test" });
    await send("cancelled", { to: "d@large.test" });
    await send("failed", { to: "a@small.test" });
    for (let sent = 0; sent < 4; sent++) await send("suppressed", { to: "b@small.test" });
    await send("suppressed", { to: "a@refused.test" });
    await send("delivered", { to: "a@old.test", acceptedAt: daysAgo(80), time: daysAgo(80) });
    const large = {
      domain: "large.test",
      total_messages: 3,
      percent_total: 75,
      success: 2,
      bounced: 0,
      failure: 0,
      still_trying: 1,
    };
    const small = {
      domain: "small.test",
      total_messages: 1,
      percent_total: 25,
      success: 0,
      bounced: 0,
      failure: 1,
      still_trying: 0,
    };
    const total_row = {
      domain: "total",
      total_messages: 4,
      percent_total: 100,
      success: 2,
      bounced: 0,
      failure: 1,
      still_trying: 1,
    };
    expect(await get("/deliverability/recipient-domains?window_days=7")).toEqual({
      stats: [large, small],
      total_row,
      window_days: 7,
      pagination: { page: 1, limit: 50, total: 2, total_pages: 1 },
    });
    expect(await get("/deliverability/recipient-domains?window_days=7&limit=1&page=2")).toMatchObject({
      stats: [small],
      total_row,
    });
    expect((await get("/deliverability/recipient-domains?window_days=90")).total_row.total_messages).toBe(5);
  });
});
