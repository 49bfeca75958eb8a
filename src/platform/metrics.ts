/** Prometheus metrics: HTTP responses by operation, the process itself, and the counters and gauges that callers add. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  /** Counts one answered request. */
  observe(operation: string, status: number, seconds: number): void;
  /** Adds a counter; the returned function increments it for values of its labels. */
  counter<Label extends string>(
    counter: CounterSource<Label>,
  ): (labels: Readonly<Record<Label, string>>, amount?: number) => void;
  /** Adds a gauge whose value is read at every scrape; it is left out of a scrape if reading fails. */
  gauge(gauge: GaugeSource): void;
  /** All metrics in the text format of Prometheus. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface CounterSource<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  /** Each with few values: Prometheus keeps a series for each combination. */
  readonly labels: readonly Label[];
}

/** A gauge with one value, or with one value for each value of its label. */
export type GaugeSource = { readonly name: string; readonly help: string } & (
  | { read(): number | Promise<number> }
  | { readonly label: string; read(): LabelledNumbers | Promise<LabelledNumbers> }
);

type LabelledNumbers = Readonly<Record<string, number>>;

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: "posthaste_http_requests_total",
    help: "Answered requests by operation id and status",
    labelNames: ["operation", "status"],
    registers: [register],
  });
  const durations = new Histogram({
    name: "posthaste_http_request_duration_seconds",
    help: "Time from the request's headers to the end of the answer, by operation id",
    labelNames: ["operation"],
    buckets: DURATION_BUCKETS,
    registers: [register],
  });
  return {
    observe(operation, status, seconds) {
      requests.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
    counter({ name, help, labels: labelNames }) {
      const counter = new Counter({ name, help, labelNames, registers: [register] });
      return (labels, amount = 1) => counter.inc(labels, amount);
    },
    gauge: (source) => addGauge(register, source),
    scrape: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  };
}

function addGauge(register: Registry, source: GaugeSource): void {
  const { name, help } = source;
  const labelNames = "label" in source ? [source.label] : [];
  new Gauge({
    name,
    help,
    labelNames,
    registers: [register],
    async collect() {
      // Cleared first, so that a value that cannot be read is missing and not stale.
      if ("label" in source) this.reset();
      else this.remove();
      try {
        if (!("label" in source)) return this.set(await source.read());
        for (const [value, number] of Object.entries(await source.read()))
          this.set({ [source.label]: value }, number);
      } catch {
        // A failing gauge must not fail the scrape.
      }
    },
  });
}
