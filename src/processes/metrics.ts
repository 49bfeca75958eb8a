/** The metrics of one `serve` process: the counters of its parts, and the gauges of the installation. */
import { deliveryGauges } from "#delivery/assembly.ts";
import { inboundGauges } from "#inbound/assembly.ts";
import type { ProcessContext } from "#platform/context/process-context.ts";
import { createMetrics, type Metrics } from "#platform/metrics.ts";
import { countProcesses } from "#platform/process/running-processes-store.ts";
import { version } from "#platform/version.ts";
import { findHalted } from "#sending/halted/find-halted.ts";
import { webhookGauges } from "#webhooks/assembly.ts";
import { type Count, metricCounters } from "./counters.ts";
import { installationGauges } from "./installation-gauges.ts";
import { roles } from "./roles.ts";

export interface ProcessMetrics extends Metrics {
  readonly count: Count;
}

/** Reads nothing yet: each gauge is read with a scrape. */
export function createProcessMetrics(context: ProcessContext): ProcessMetrics {
  const { database: db } = context;
  const metrics = createMetrics();
  const increments = new Map(
    Object.entries(metricCounters).map(([name, counter]) => [
      name,
      metrics.counter<string>({ name, ...counter }),
    ]),
  );
  metrics.gauge({
    name: "posthaste_build_info",
    help: "1, with the version of the program.",
    label: "version",
    read: () => ({ [version]: 1 }),
  });
  metrics.gauge({
    name: "posthaste_processes",
    help: "Running processes of all machines, by role.",
    label: "role",
    read: () => countProcesses(db, roles),
  });
  const gauges = [
    ...deliveryGauges(context, () => findHalted(db)),
    ...inboundGauges(context),
    ...webhookGauges(context),
    ...installationGauges(db, context.config.DATA_DIR),
  ];
  for (const gauge of gauges) metrics.gauge(gauge);
  return {
    ...metrics,
    count: ({ name, labels, amount }) => increments.get(name)?.(labels, amount),
  };
}
