/**
 * A DNS server for thousands of look-ups, in a separate process so that it takes no CPU time from the process under
 * test. Every domain exists: it has one MX, `mx.<domain>`, at 127.0.0.1, and no other record.
 */
import { fork } from "node:child_process";
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Answer, decode, encode, type Packet, type Question, RECURSION_AVAILABLE } from "dns-packet";

export interface BusyDnsOptions {
  /** Delay of each answer. */
  readonly delayMs?: number;
  /** Share of the packets that is dropped, in each direction. */
  readonly lossPercent?: number;
  readonly isSilent?: boolean;
  /** Concurrent queries above this number are answered with REFUSED, as dnsmasq does. */
  readonly mostAtOnce?: number;
}

export interface BusyDns extends AsyncDisposable {
  /** In the form that DNS_SERVERS takes. */
  readonly address: string;
  counts(): Promise<Counts>;
}

export interface Counts {
  readonly questions: number;
  /** The highest number of concurrent queries. */
  readonly mostAtOnce: number;
}

const HOST = "127.0.0.1";
const TTL_SECONDS = 300;
const REFUSED = 5;
/** Large enough that only the configured losses occur. */
const RECEIVE_BUFFER = 8 * 1024 * 1024;

export async function startBusyDns(options: BusyDnsOptions = {}): Promise<BusyDns> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)], { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  return {
    address: `${HOST}:${port}`,
    async counts() {
      child.send("counts");
      const [counts] = (await once(child, "message")) as [Counts];
      return counts;
    },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  };
}

async function serve({ delayMs = 0, lossPercent = 0, isSilent = false, mostAtOnce }: BusyDnsOptions) {
  const socket = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BUFFER });
  const counts = { questions: 0, mostAtOnce: 0 };
  let atOnce = 0;
  // A linear congruential generator (Numerical Recipes) loses the same packets in every run.
  let lot = 1;
  const isLost = () => {
    lot = (Math.imul(lot, 1_664_525) + 1_013_904_223) >>> 0;
    return (lot / 2 ** 32) * 100 < lossPercent;
  };
  const answer = (query: Packet, peer: RemoteInfo, refused: boolean) => {
    atOnce -= 1;
    if (isLost()) return;
    socket.send(encode(replyTo(query, refused)), peer.port, peer.address);
  };
  socket.on("message", (message, peer) => {
    counts.questions += 1;
    if (isSilent || isLost()) return;
    atOnce += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, atOnce);
    const query = decode(message);
    if (mostAtOnce !== undefined && atOnce > mostAtOnce) answer(query, peer, true);
    else if (delayMs === 0) answer(query, peer, false);
    else setTimeout(answer, delayMs, query, peer, false);
  });
  process.on("message", () => process.send?.(counts));
  process.on("disconnect", () => process.exit());
  socket.bind(0, HOST);
  await once(socket, "listening");
  process.send?.(socket.address().port);
}

function replyTo(query: Packet, isRefused: boolean): Packet {
  const questions = query.questions ?? [];
  const answers = isRefused ? [] : questions.flatMap(recordsFor);
  const flags = RECURSION_AVAILABLE | (isRefused ? REFUSED : 0);
  return { id: query.id, type: "response", flags, questions, answers };
}

function recordsFor({ name, type }: Question): Answer[] {
  const isHost = name.startsWith("mx.");
  const common = { name, ttl: TTL_SECONDS };
  if (type === "A" && isHost) return [{ ...common, type, data: HOST }];
  if (type === "MX" && !isHost) {
    return [{ ...common, type, data: { preference: 10, exchange: `mx.${name}` } }];
  }
  return [];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve(JSON.parse(process.argv[2] ?? "{}"));
}
