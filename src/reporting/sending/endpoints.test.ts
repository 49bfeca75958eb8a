import { describe, expect, test } from "vitest";
import { reportScene } from "#test/support/report-scene.ts";
import { startService } from "#test/support/service.ts";
import { plans } from "#workspace/billing/plans.ts";
import { changeWorkspace } from "#workspace/change-workspace.ts";

const service = await startService();
const { database: db, clock } = service;
clock.set(new Date("2026-06-15T12:07:00Z"));

describe("the chart", () => {
  test("has the last 30 days, those without mail included", async () => {
    const { get, send } = await reportScene(service);
    await send("delivered");
    await send("bounced", { acceptedAt: new Date("2026-05-17T00:00:00Z") });
    await send("delivered", { acceptedAt: new Date("2026-05-16T23:59:00Z") });
    const days = await get("/stats/chart");
    expect(days).toHaveLength(30);
    expect(days[0]).toEqual({
      date: "2026-05-17",
      sent: 1,
      delivered: 0,
      bounced: 1,
      failed: 0,
      complained: 0,
      suppressed: 0,
      opens: 0,
      clicks: 0,
      machine_opens: 0,
      machine_clicks: 0,
      unsubscribed: 0,
    });
    expect(days[1]).toMatchObject({ date: "2026-05-18", sent: 0 });
    expect(days[29]).toMatchObject({ date: "2026-06-15", sent: 1, delivered: 1 });
  });

  test("includes both ends, in days of the workspace's time zone", async () => {
    const { workspaceId, get, send } = await reportScene(service);
    await changeWorkspace(db, workspaceId, { timezone: "Asia/Kathmandu" }, { clock, plans });
    for (const moment of [
      "2026-06-09T18:14:00Z",
      "2026-06-09T18:15:00Z",
      "2026-06-11T18:14:00Z",
      "2026-06-11T18:15:00Z",
    ]) {
      await send("delivered", { acceptedAt: new Date(moment) });
    }
    const days = await get("/stats/chart?start_date=2026-06-10&end_date=2026-06-11");
    expect(days.map(({ date, delivered }: { date: string; delivered: number }) => [date, delivered])).toEqual(
      [
        ["2026-06-10", 1],
        ["2026-06-11", 1],
      ],
    );
  });

  test("a day on which clocks change is one day", async () => {
    const { workspaceId, get } = await reportScene(service);
    await changeWorkspace(db, workspaceId, { timezone: "Europe/Berlin" }, { clock, plans });
    const days = await get("/stats/chart?start_date=2026-03-28&end_date=2026-03-30");
    expect(days.map(({ date }: { date: string }) => date)).toEqual([
      "2026-03-28",
      "2026-03-29",
      "2026-03-30",
    ]);
  });

  test.each([
    ["start_date=2026-02-30", "start_date"],
    ["start_date=yesterday", "start_date"],
    ["start_date=2026-06-01T00:00:00Z", "start_date"],
    ["end_date=2026-13-01", "end_date"],
    ["start_date=2026-06-02&end_date=2026-06-01", "start_date"],
    ["start_date=2026-06-16", "start_date"],
    ["start_date=2025-06-01&end_date=2026-06-02", "end_date"],
  ])("%s is refused", async (query, field) => {
    const { call } = await reportScene(service);
    const { status, body } = await call("GET", `/stats/chart?${query}`);
    expect([status, body.code, body.details[0].field]).toEqual([400, "VALIDATION_ERROR", field]);
  });

  test("366 days are not too many, years that are far away no fault of ours", async () => {
    const { get } = await reportScene(service);
    expect(await get("/stats/chart?start_date=2025-06-01&end_date=2026-06-01")).toHaveLength(366);
    expect(await get("/stats/chart?start_date=0001-01-01&end_date=0001-01-02")).toHaveLength(2);
    expect(await get("/stats/chart?start_date=9999-12-30&end_date=9999-12-31")).toHaveLength(2);
  });
});

describe("health", () => {
  test("is good while nothing was sent", async () => {
    const { get } = await reportScene(service);
    expect(await get("/stats/health")).toMatchObject({
      status: "healthy",
      score: 100,
      window_days: 30,
      total_sent: 0,
      delivery_rate: 0,
      issues: [],
      thresholds: {
        bounce: { warning: 0.05, critical: 0.1 },
        complaint: { warning: 0.001, critical: 0.005 },
      },
    });
  });

  test("names what is wrong, and the worst decides", async () => {
    const { get, send } = await reportScene(service);
    for (let at = 0; at < 18; at++) await send("delivered");
    await send("bounced");
    await send("complained");
    const health = await get("/stats/health");
    expect(health).toMatchObject({
      status: "critical",
      total_sent: 20,
      bounce_rate: 0.05,
      delivery_rate: 0.95,
    });
    expect(
      health.issues.map(({ code, severity }: { code: string; severity: string }) => [code, severity]),
    ).toEqual([
      ["high_bounce_rate", "warning"],
      ["high_complaint_rate", "critical"],
    ]);
    // 100 less 40 × 0.05/0.1, less 40, less 20 as no one opened.
    expect(health.score).toBe(20);
  });

  test("forgets what is older than its window", async () => {
    const { get, send } = await reportScene(service);
    await send("bounced", { acceptedAt: new Date("2026-05-16T11:44:00Z") });
    expect(await get("/stats/health")).toMatchObject({ status: "healthy", total_sent: 0 });
  });
});
