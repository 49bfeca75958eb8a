/**
 * A resolver that validates DNSSEC, and is believed about it: each answer says whether its AD bit was set (RFC 4035
 * section 3.2.3). Only as good as the way to it, so it belongs on this machine or its network. What node:dns asks
 * (dns.ts) neither shows that bit nor knows TLSA.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIP } from "node:net";
import {
  type Answer,
  AUTHENTIC_DATA,
  type DecodedPacket,
  DNSSEC_OK,
  decode,
  encode,
  RECURSION_DESIRED,
  streamEncode,
  type TlsaData,
} from "dns-packet";

/** The shape of mail/dns/resolver.ts. */
type Validated<Data> =
  | {
      readonly outcome: "found";
      readonly records: readonly Data[];
      readonly isSecure: boolean;
      readonly aliasOf?: string;
    }
  | { readonly outcome: "absent"; readonly reason: "nxdomain" | "nodata"; readonly isSecure: boolean }
  | { readonly outcome: "failed"; readonly reason: string };

type Type = "MX" | "A" | "AAAA" | "CNAME" | "TLSA";

const TRIES = 2;
/** RFC 1035 section 4.1.1. */
const [NOERROR, SERVFAIL, NXDOMAIN] = [0, 2, 3];
/** What fits into one packet everywhere (DNS flag day 2020); a longer answer comes by TCP. */
const UDP_OCTETS = 1_232;
const MOST_RECORDS = 100;

/** @param server "host:port" or "[host]:port"; @param timeoutMs for one look-up, all tries together */
export function createValidatingResolver(server: string, timeoutMs = 10_000) {
  const [, host = "", port] = /^\[?(.+?)\]?:(\d+)$/.exec(server) ?? [];
  const ask = async <Data>(
    name: string,
    type: Type,
    read: (answer: Answer) => Data[],
  ): Promise<Validated<Data>> => {
    const begin = performance.now();
    for (let attempt = 1; ; attempt++) {
      const target = { host, port: Number(port), until: begin + (timeoutMs * attempt) / TRIES };
      try {
        return answerOf(await exchange(target, name, type), name, read);
      } catch (cause) {
        if (attempt === TRIES)
          return { outcome: "failed", reason: cause instanceof Error ? cause.message : String(cause) };
      }
    }
  };
  return {
    mx: (name: string) =>
      ask(name, "MX", (answer) =>
        answer.type === "MX"
          ? [{ preference: answer.data.preference ?? 0, exchange: hostName(answer.data.exchange) }]
          : [],
      ),
    ipv4: (name: string) => ask(name, "A", (answer) => (answer.type === "A" ? [answer.data] : [])),
    ipv6: (name: string) => ask(name, "AAAA", (answer) => (answer.type === "AAAA" ? [answer.data] : [])),
    cname: (name: string) =>
      ask(name, "CNAME", (answer) => (answer.type === "CNAME" ? [hostName(answer.data)] : [])),
    tlsa: (name: string) =>
      ask<TlsaData>(name, "TLSA", (answer) => (answer.type === "TLSA" ? [answer.data] : [])),
  };
}

export type ValidatingResolver = ReturnType<typeof createValidatingResolver>;

/** What was asked comes first and aliases stand beside it; SERVFAIL is how a validator says that an answer is forged. */
function answerOf<Data>(
  packet: DecodedPacket,
  name: string,
  read: (answer: Answer) => Data[],
): Validated<Data> {
  const isSecure = packet.flag_ad;
  const code = (packet.flags ?? 0) & 0xf;
  if (code === NXDOMAIN) return { outcome: "absent", reason: "nxdomain", isSecure };
  if (code !== NOERROR)
    return { outcome: "failed", reason: code === SERVFAIL ? "SERVFAIL" : `rcode ${code}` };
  const answers = (packet.answers ?? []).filter((answer) => read(answer).length > 0).slice(0, MOST_RECORDS);
  const [first] = answers;
  if (first === undefined) return { outcome: "absent", reason: "nodata", isSecure };
  const owner = hostName(first.name);
  const aliasOf = owner === hostName(name) ? {} : { aliasOf: owner };
  return { outcome: "found", records: answers.flatMap(read), isSecure, ...aliasOf };
}

interface Target {
  readonly host: string;
  readonly port: number;
  /** By the clock of `performance.now()`. */
  readonly until: number;
}

/** One question and its answer, by UDP or also by TCP; rejects where there is none in time. */
async function exchange(target: Target, name: string, type: Type): Promise<DecodedPacket> {
  const query = {
    type: "query" as const,
    id: randomInt(0x1_0000),
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [{ type, name }],
    additionals: [
      {
        type: "OPT" as const,
        name: ".",
        udpPayloadSize: UDP_OCTETS,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: DNSSEC_OK,
        flag_do: true,
        options: [],
      },
    ],
  };
  const isAnswer = (packet: DecodedPacket) => {
    const [question] = packet.questions ?? [];
    return (
      packet.id === query.id &&
      packet.type === "response" &&
      question?.type === type &&
      question.name.toLowerCase() === name.toLowerCase()
    );
  };
  const short = await overUdp(target, encode(query), isAnswer);
  return short.flag_tc ? overTcp(target, streamEncode(query), isAnswer) : short;
}

/** From a port of its own, which a forger would have to guess; what is no answer to the question is passed over. */
function overUdp(
  { host, port, until }: Target,
  query: Buffer,
  isAnswer: (packet: DecodedPacket) => boolean,
): Promise<DecodedPacket> {
  const socket = createSocket(isIP(host) === 6 ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPacket>();
  const timer = rejectAt(until, reject);
  socket.on("error", reject);
  socket.on("message", (message) => {
    const packet = decoded(message);
    if (packet && isAnswer(packet)) resolve(packet);
  });
  socket.connect(port, host, () => socket.send(query));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function overTcp(
  { host, port, until }: Target,
  query: Buffer,
  isAnswer: (packet: DecodedPacket) => boolean,
): Promise<DecodedPacket> {
  const socket = connect({ host, port });
  const { promise, resolve, reject } = Promise.withResolvers<DecodedPacket>();
  const timer = rejectAt(until, reject);
  let heard: Buffer = Buffer.alloc(0);
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("connection closed")));
  socket.on("connect", () => socket.write(query));
  socket.on("data", (chunk: Buffer) => {
    // A length of two octets goes in front, so that this cannot grow beyond 64 KiB and a chunk.
    heard = Buffer.concat([heard, chunk]);
    const end = heard.length < 2 ? Number.POSITIVE_INFINITY : heard.readUInt16BE() + 2;
    if (heard.length < end) return;
    const packet = decoded(heard.subarray(2, end));
    if (packet && isAnswer(packet)) resolve(packet);
    else reject(new Error("not an answer"));
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

function rejectAt(until: number, reject: (cause: Error) => void): NodeJS.Timeout {
  const ms = Math.max(until - performance.now(), 0);
  return setTimeout(() => reject(new Error("no answer in time")), ms);
}

function decoded(message: Buffer): DecodedPacket | null {
  try {
    return decode(message);
  } catch {
    return null;
  }
}

/** A NUL as zone files write it (RFC 1035 section 5.1): as it is, PostgreSQL takes no text with it. */
const hostName = (name: string): string => name.toLowerCase().replaceAll("\0", "\\000").replace(/\.$/, "");
