/**
 * Measures a campaign to a hundred thousand people from the call of `send`: expanding the audience, rendering (10 KB of
 * HTML, six merge tags, ten tracked links, a text), signing with RSA-2048, delivery to ten domains on loopback, and
 * results with events and counters, while a client calls the API. Then measures the expansion of a million people alone.
 */
import { setTimeout as delay } from "node:timers/promises";
import sql from "sql-template-tag";
import { newList } from "#test/support/audience.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { importPeople, personLine } from "./audience-data.ts";
import { cores, memoryTogether, signaturesPerSecond } from "./machine.ts";
import { hasReceived, isQueueUsed, LOOK_MS, recipientDomain, startReceivers } from "./receivers.ts";
import { campaignHtml, campaignSubject } from "./render.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";
import { type Figure, grouped } from "./table.ts";

const RECIPIENTS = 100_000;
/** Messages before the measurement begins, because code is slow when it runs for the first time. */
const WARM_UP = 5_000;
const PEOPLE = 1_000_000;
const SIGNING_SECONDS = 3;
/** Interval of memory measurements; each takes about 20 ms of CPU time. */
const MEMORY_MS = 2_000;
/** Interval of the client's requests; they take CPU time from the campaign. */
const ASK_MS = 50;
const LEAST_PER_CORE = 1_750;
const LEAST_RATIO = 0.5;
const MOST_MIB = 400;
const MOST_P99_MS = 50;
const MOST_EXPANSION_SECONDS = 20;

export async function benchCampaign(setup: BenchSetup): Promise<Figure[]> {
  return [...(await sending(setup)), await expansion(setup)];
}

async function sending(setup: BenchSetup): Promise<Figure[]> {
  const { database, workspaceId } = setup;
  const list = await newList(database, workspaceId, "Readers");
  await importPeople(database, workspaceId, list, RECIPIENTS, 1, readerLine);
  await database.run(sql`vacuum analyze subscribers, memberships`);
  await using receivers = await startReceivers(setup);
  const { mx, environment } = receivers;
  const signatures = await signaturesPerSecond(SIGNING_SECONDS);
  await using service = await startProgram(environment, ["serve"]);
  const call = callerOf(setup, service);
  const id = await newCampaign(call, list);
  const watched = watch(service, () => call("GET", `/campaigns/${id}`));
  await call("POST", `/campaigns/${id}/send`);
  const before = await hasReceived(mx, WARM_UP);
  const from = performance.now();
  await hasReceived(mx, RECIPIENTS);
  while (await isQueueUsed(database)) await delay(LOOK_MS);
  const rate = (RECIPIENTS - before) / ((performance.now() - from) / 1000);
  const { memory, p99 } = await watched.end();
  const { received, copies } = await mx.count();
  if (received !== RECIPIENTS || copies.size !== RECIPIENTS)
    throw new Error(`${received} messages with ${copies.size} ids arrived, expected ${RECIPIENTS}`);
  const ratio = signatures === null ? null : rate / signatures;
  const least = LEAST_PER_CORE * cores;
  return [
    {
      what: `campaign, ${grouped(RECIPIENTS)} recipients`,
      measured: `${grouped(rate)} messages/s`,
      yardstick: signatures === null ? "openssl not found" : `openssl ${grouped(signatures)} signatures/s`,
      ratio,
      aim: `≥ ${grouped(least)}/s on ${cores} cores, ratio ≥ ${LEAST_RATIO}`,
      isMet: rate >= least && (ratio === null || ratio >= LEAST_RATIO),
    },
    {
      what: "most memory of the service meanwhile",
      measured: `${memory} MiB`,
      aim: `< ${MOST_MIB} MiB`,
      isMet: memory < MOST_MIB,
    },
    {
      what: "GET /campaigns/{id} meanwhile",
      measured: `p99 ${p99.toFixed(0)} ms`,
      aim: `p99 < ${MOST_P99_MS} ms`,
      isMet: p99 < MOST_P99_MS,
    },
  ];
}

/** Runs without a delivery process, so that only the expansion is measured. */
async function expansion(setup: BenchSetup): Promise<Figure> {
  const { database, workspaceId } = setup;
  const list = await newList(database, workspaceId, "Million");
  await importPeople(database, workspaceId, list, PEOPLE, 1);
  await database.run(sql`vacuum analyze subscribers, memberships`);
  await using service = await startProgram(setup.environment, ["serve", "--roles", "api,jobs"]);
  const call = callerOf(setup, service);
  const id = await newCampaign(call, list);
  const from = performance.now();
  await call("POST", `/campaigns/${id}/send`);
  const isExpanded = sql`select from campaigns where id = ${id} and expanded_at is not null`;
  while ((await database.row(isExpanded)) === undefined) await delay(LOOK_MS);
  const seconds = (performance.now() - from) / 1000;
  // Later benchmarks wait for an empty queue.
  await database.run(sql`truncate delivery_queue`);
  return {
    what: `expansion of a list of ${grouped(PEOPLE)}`,
    measured: `${seconds.toFixed(1)} s`,
    aim: `< ${MOST_EXPANSION_SECONDS} s`,
    isMet: seconds < MOST_EXPANSION_SECONDS,
  };
}

/** The CSV line of a person at one of the receiver domains. */
function readerLine(number: number, id: string): string {
  const fields = personLine(number, id).split("\t");
  return fields
    .with(2, `reader${number}@${recipientDomain(number)}`)
    .with(6, "active")
    .join("\t");
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly data: { readonly id: string } }>;

/** Calls the API with the key of the benchmark workspace. */
function callerOf({ apiKey }: BenchSetup, { url }: Program): Call {
  return async (method, path, body = {}) => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      ...(method !== "GET" && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Awaited<ReturnType<Call>>;
  };
}

async function newCampaign(call: Call, list: string): Promise<string> {
  const { data } = await call("POST", "/campaigns", {
    name: "Spring",
    subject: campaignSubject,
    from_email: `news@${senderDomain}`,
    mailing_list_id: list,
    html_content: campaignHtml(),
    enable_open_tracking: true,
    enable_click_tracking: true,
  });
  return data.id;
}

/** Repeats the request and measures memory until `end` is called. */
function watch(service: Program, ask: () => Promise<unknown>) {
  const over = new AbortController();
  const times: number[] = [];
  let memory = 0;
  const pause = (ms: number) => delay(ms, undefined, { signal: over.signal }).catch(() => {});
  const asking = async () => {
    while (!over.signal.aborted) {
      const from = performance.now();
      await ask();
      times.push(performance.now() - from);
      await pause(ASK_MS);
    }
  };
  const weighing = async () => {
    while (!over.signal.aborted) {
      memory = Math.max(memory, await memoryTogether(service.pid));
      await pause(MEMORY_MS);
    }
  };
  const done = Promise.all([asking(), weighing()]);
  return {
    async end() {
      over.abort();
      await done;
      const sorted = times.toSorted((a, b) => a - b);
      return { memory, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0 };
    },
  };
}
