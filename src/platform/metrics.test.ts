import { describe, expect, it } from "vitest";
import { createMetrics } from "./metrics.ts";

describe("metrics", () => {
  it("count answers by operation and status", async () => {
    const metrics = createMetrics();
    metrics.observe("sendEmail", 201, 0.004);
    metrics.observe("sendEmail", 201, 0.2);
    metrics.observe("sendEmail", 400, 0.001);
    const { contentType, text } = await metrics.scrape();
    metrics.observe("listMessages", 200, 0.01);
    expect(contentType).toContain("text/plain");
    expect(text).toContain('posthaste_http_requests_total{operation="sendEmail",status="201"} 2');
    expect(text).toContain('posthaste_http_requests_total{operation="sendEmail",status="400"} 1');
    expect(text).toContain(
      'posthaste_http_request_duration_seconds_bucket{le="0.005",operation="sendEmail"} 2',
    );
    expect(text).toContain("process_resident_memory_bytes");
    expect((await metrics.scrape()).text).toContain('operation="listMessages",status="200"} 1');
  });

  it("take counters and gauges of others at any time", async () => {
    const metrics = createMetrics();
    const labels = ["outcome"] as const;
    const count = metrics.counter({ name: "outcomes_total", help: "Concluded attempts", labels });
    count({ outcome: "delivered" }, 3);
    await metrics.scrape();
    count({ outcome: "delivered" });
    metrics.gauge({ name: "workers", help: "Processes", read: () => 2 });
    metrics.gauge({ name: "queue", help: "Rows", label: "state", read: async () => ({ due: 5, held: 1 }) });
    const { text } = await metrics.scrape();
    expect(text).toContain('outcomes_total{outcome="delivered"} 4');
    expect(text).toContain("\nworkers 2\n");
    expect(text).toContain('queue{state="due"} 5');
    expect(text).toContain('queue{state="held"} 1');
  });

  it("leave out what cannot be read, instead of showing its last number", async () => {
    const metrics = createMetrics();
    let isAway = false;
    const read = async () => {
      if (isAway) throw new Error("the database is away");
      return 7;
    };
    metrics.gauge({ name: "single", help: "One", read });
    metrics.gauge({ name: "several", help: "Some", label: "kind", read: async () => ({ a: await read() }) });
    expect((await metrics.scrape()).text).toMatch(/single 7[\s\S]*several\{kind="a"\} 7/);
    isAway = true;
    const { text } = await metrics.scrape();
    expect(text).not.toMatch(/^(single|several\{)/m);
    expect(text).toContain("process_cpu_seconds_total");
  });
});
