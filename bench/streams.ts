/**
 * Measures what event streams cost: the processor time of the API process with 200 open streams of four topics each, while
 * messages are accepted and sent at a steady rate. The yardstick is the same load without streams. Runs of both alternate.
 */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { EventReader } from "#test/support/event-reader.ts";
import { eventually } from "#test/support/eventually.ts";
import { type Program, startProgram } from "#test/support/program.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";
import { type Figure, median } from "./table.ts";

const STREAMS = 200;
const STREAMS_OF_KEY = 3;
const RUNS = 3;
const SECONDS = 10;
const MESSAGES_PER_SECOND = 100;
const PAUSE_MS = 100;
const MOST_PERCENT = 5;
const TICKS_PER_SECOND = 100;

export async function benchStreams(setup: BenchSetup): Promise<Figure[]> {
  const environment = { ...setup.environment, RATE_LIMIT: "off", MAIL_MODE: "capture" };
  await using api = await startProgram(environment, ["serve", "--roles", "api"]);
  await using _sending = await startProgram({ ...environment, PORT: "0" }, [
    "serve",
    "--roles",
    "api,delivery,jobs",
  ]);
  const call = callOf(api, setup.apiKey);
  const list = await call("/mailing-lists", { name: "Streams" });
  const campaign = await call("/campaigns", {
    name: "Streams",
    subject: "Streams",
    from_email: `shop@${senderDomain}`,
    html_content: "<p>Hello</p>",
    mailing_list_id: list.id,
  });
  const keys: string[] = [];
  for (let count = 0; count * STREAMS_OF_KEY < STREAMS; count += 1) {
    keys.push((await call("/api-keys", { name: `Watcher ${count}`, permissions: ["*:read"] })).key);
  }
  const without: number[] = [];
  const withStreams: number[] = [];
  let events = 0;
  await measured(api, call);
  for (let run = 0; run < RUNS; run += 1) {
    without.push(await measured(api, call));
    const readers = await openStreams(api, keys, `campaign:${campaign.id},jobs,messages,domains`);
    const before = countOf(readers);
    withStreams.push(await measured(api, call));
    events = countOf(readers) - before;
    for (const reader of readers) reader.close();
  }
  const added = median(withStreams) - median(without);
  return [
    {
      what: `${STREAMS} event streams beside ${MESSAGES_PER_SECOND} messages a second (${Math.round(events / SECONDS)} events a second)`,
      measured: `${median(withStreams).toFixed(1)} % of a core`,
      yardstick: `without streams ${median(without).toFixed(1)} %`,
      aim: `at most ${MOST_PERCENT} % more`,
      isMet: added <= MOST_PERCENT,
    },
  ];
}

const countOf = (readers: readonly EventReader[]) =>
  readers.reduce((sum, { events }) => sum + events.length, 0);

type Call = (path: string, body: object) => Promise<{ readonly id: string; readonly key: string }>;

function callOf({ url }: Program, key: string): Call {
  return async (path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status} ${await response.text()}`);
    const answer = (await response.json()) as {
      readonly data: { readonly id: string; readonly key: string };
    };
    return answer.data;
  };
}

async function openStreams(
  { url }: Program,
  keys: readonly string[],
  topics: string,
): Promise<EventReader[]> {
  const readers = await Promise.all(
    Array.from({ length: STREAMS }, (_, at) =>
      EventReader.open(`${url}/api/v1/events?topics=${topics}`, {
        key: keys[Math.floor(at / STREAMS_OF_KEY)] ?? "",
      }),
    ),
  );
  const refused = readers.find(({ response }) => response.status !== 200);
  if (refused !== undefined) throw new Error(`a stream was answered ${refused.response.status}`);
  await eventually("the first events", async () => readers.every(({ events }) => events.length >= 4));
  return readers;
}

/** Per cent of a core that the process uses while messages are sent at a steady rate. */
async function measured({ pid }: Program, call: Call): Promise<number> {
  const [from, began] = [await workedTicks(pid), performance.now()];
  const pending: Promise<unknown>[] = [];
  for (let turn = 0; turn < (SECONDS * 1_000) / PAUSE_MS; turn += 1) {
    for (let count = 0; count < (MESSAGES_PER_SECOND * PAUSE_MS) / 1_000; count += 1) {
      const body = { from_email: `shop@${senderDomain}`, subject: "Your order", body: "<p>Thank you</p>" };
      pending.push(call("/emails/send", { to: `u${turn}-${count}@example.test`, ...body }));
    }
    await delay(Math.max(0, began + (turn + 1) * PAUSE_MS - performance.now()));
  }
  await Promise.all(pending);
  const seconds = (performance.now() - began) / 1_000;
  return (((await workedTicks(pid)) - from) / TICKS_PER_SECOND / seconds) * 100;
}

/** Processor time of a process, user and system, in ticks (proc_pid_stat). */
async function workedTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
