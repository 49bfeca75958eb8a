/**
 * Numbers for Prometheus: HTTP answers by operation, the process itself, and whatever others add. The client library
 * costs a start some 30 ms, so the first number loads it; what is counted until it is there is kept and counted then.
 */
import type { Counter, Histogram, Registry } from "prom-client";

export interface Metrics {
  /** One answered request. */
  observe(operation: string, status: number, seconds: number): void;
  /** Adds a count of things by kind; returns how to count. */
  counter(name: string, help: string, label: string): (value: string, amount?: number) => void;
  /** Adds a number that is read at every scrape; one that cannot be read is left out of it. */
  gauge(gauge: GaugeSource): void;
  /** Everything in Prometheus' text format. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Either one number, or one for each value of `label`. */
export type GaugeSource = { readonly name: string; readonly help: string } & (
  | { read(): number | Promise<number> }
  | { readonly label: string; read(): LabelledNumbers | Promise<LabelledNumbers> }
);

type LabelledNumbers = Readonly<Record<string, number>>;

interface Library {
  readonly register: Registry;
  readonly client: typeof import("prom-client");
  readonly requests: Counter<"operation" | "status">;
  readonly durations: Histogram<"operation">;
}

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Loads nothing yet. */
export function createMetrics(): Metrics {
  let library: Library | undefined;
  let loading: Promise<Library> | undefined;
  const early: ((library: Library) => void)[] = [];

  const load = (): Promise<Library> => {
    loading ??= loadLibrary().then((loaded) => {
      library = loaded;
      for (const act of early.splice(0)) act(loaded);
      return loaded;
    });
    return loading;
  };
  /** Now, or as soon as the library is there. */
  const act = (deed: (library: Library) => void): void => {
    if (library) deed(library);
    else early.push(deed);
  };

  return {
    observe(operation, status, seconds) {
      if (!library) void load();
      act(({ requests, durations }) => {
        requests.inc({ operation, status });
        durations.observe({ operation }, seconds);
      });
    },
    counter(name, help, label) {
      let counter: Counter | undefined;
      act(({ client, register }) => {
        counter = new client.Counter({ name, help, labelNames: [label], registers: [register] });
      });
      return (value, amount = 1) => act(() => counter?.inc({ [label]: value }, amount));
    },
    gauge: (source) => act((loaded) => addGauge(loaded, source)),
    async scrape() {
      const { register } = await load();
      return { contentType: register.contentType, text: await register.metrics() };
    },
  };
}

async function loadLibrary(): Promise<Library> {
  const client = await import("prom-client");
  const register = new client.Registry();
  client.collectDefaultMetrics({ register });
  return {
    register,
    client,
    requests: new client.Counter({
      name: "posthaste_http_requests_total",
      help: "Answered requests by operation id and status",
      labelNames: ["operation", "status"],
      registers: [register],
    }),
    durations: new client.Histogram({
      name: "posthaste_http_request_duration_seconds",
      help: "Time from the request's headers to the end of the answer, by operation id",
      labelNames: ["operation"],
      buckets: DURATION_BUCKETS,
      registers: [register],
    }),
  };
}

function addGauge({ client, register }: Library, source: GaugeSource): void {
  const { name, help } = source;
  const labelNames = "label" in source ? [source.label] : [];
  new client.Gauge({
    name,
    help,
    labelNames,
    registers: [register],
    async collect() {
      // Emptied first: what cannot be read now must not show its last number.
      if ("label" in source) this.reset();
      else this.remove();
      try {
        if (!("label" in source)) return this.set(await source.read());
        for (const [value, number] of Object.entries(await source.read()))
          this.set({ [source.label]: value }, number);
      } catch {
        // The others are still worth scraping.
      }
    },
  });
}
