/**
 * An HTTP load generator in a separate process: POSTs one JSON body over keep-alive connections with one request at a
 * time each. It writes prepared octets to plain sockets and parses only status and length of an answer, because on a
 * small machine its CPU time is missing for the measured service.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

export interface HttpLoad {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each `00000000` is replaced by the number of the request. */
  readonly body: string;
  readonly connections: number;
  /** Duration of the measurement; below, the time before it that is not counted. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

export interface HttpLoadResult {
  /** Answers per second. */
  readonly rate: number;
  /** Percentiles of the time from request to answer, in milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Runs the load. @throws if an answer is not 2xx or a connection breaks */
export async function runHttpLoad(load: HttpLoad): Promise<HttpLoadResult> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  child.send(load);
  const [outcome] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [unknown];
  if (typeof outcome !== "object" || outcome === null) throw new Error("the load generator ended early");
  if ("fault" in outcome) throw new Error(`under load: ${String(outcome.fault)}`);
  return outcome as HttpLoadResult;
}

const COUNTER = "00000000";
const END_OF_HEAD = "\r\n\r\n";

function prepare({ port, path, headers, body }: HttpLoad): { octets: Buffer; counters: number[] } {
  const fields = {
    Host: `127.0.0.1:${port}`,
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const octets = Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join("")}\r\n${body}`);
  const counters: number[] = [];
  for (let at = octets.indexOf(COUNTER); at >= 0; at = octets.indexOf(COUNTER, at + 1)) counters.push(at);
  return { octets, counters };
}

/** Sends requests over one connection until `isOver`; calls `note` with the start time of each. */
function converse(
  load: HttpLoad,
  nextNumber: () => number,
  note: (sentAt: number) => void,
  isOver: () => boolean,
): Promise<void> {
  const { octets, counters } = prepare(load);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
    let sentAt = 0;
    let answer = "";
    const send = () => {
      if (isOver()) {
        socket.end();
        resolve();
        return;
      }
      const number = String(nextNumber()).padStart(COUNTER.length, "0");
      for (const at of counters) octets.write(number, at, "latin1");
      sentAt = performance.now();
      socket.write(octets);
    };
    socket.setEncoding("latin1");
    socket.on("connect", send);
    socket.on("data", (chunk: string) => {
      answer += chunk;
      const head = answer.indexOf(END_OF_HEAD);
      if (head < 0) return;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(answer)?.[1]);
      if (answer.length < head + END_OF_HEAD.length + length) return;
      if (answer[9] !== "2") reject(new Error(answer.slice(0, 600)));
      answer = "";
      note(sentAt);
      send();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the connection was closed")));
  });
}

async function run(load: HttpLoad): Promise<HttpLoadResult> {
  const from = performance.now() + load.warmUpSeconds * 1000;
  const until = from + load.seconds * 1000;
  const latencies: number[] = [];
  let sent = 0;
  const note = (sentAt: number) => {
    const now = performance.now();
    if (now >= from && now < until) latencies.push(now - sentAt);
  };
  const isOver = () => performance.now() >= until;
  await Promise.all(
    Array.from({ length: load.connections }, () => converse(load, () => sent++, note, isOver)),
  );
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { rate: latencies.length / load.seconds, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

if (import.meta.main) {
  const [load] = (await once(process, "message")) as [HttpLoad];
  try {
    process.send?.(await run(load));
  } catch (error) {
    process.send?.({ fault: error instanceof Error ? error.message : error });
  }
  process.disconnect();
}
