/**
 * Asks one server one question: by UDP with an EDNS buffer size that avoids fragmentation, and by TCP if the answer is
 * truncated (RFC 7766 section 5). A server that does not know EDNS is asked again without it (RFC 6891 section 7).
 */
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { type DecodedPacket, DNSSEC_OK, decode, encode, type Packet, RECURSION_DESIRED } from "dns-packet";
import type { DnsServer } from "#platform/dns-server-address.ts";
import type { DnsReply, Question } from "./question-and-reply.ts";
import { failedReply, readReply } from "./read-reply.ts";
import { codeOf, type UdpPorts } from "./udp-ports.ts";

/** EDNS buffer size recommended by DNS flag day 2020. */
const UDP_OCTETS = 1_232;
const HEADER_OCTETS = 12;
/** Bits of the third octet of a header (RFC 1035 section 4.1.1). */
const [IS_RESPONSE, IS_TRUNCATED] = [0x80, 0x02];
/** The AD bit of a query asks for the AD bit in the answer (RFC 6840 section 5.7). */
const AUTHENTIC_DATA = 1 << 5;
const NO_EDNS_FAULTS = new Set(["EFORMERR", "ENOTIMP"]);

export interface ExchangeEvents {
  /** The server has answered, possibly with a failure such as SERVFAIL. */
  onReply(reply: DnsReply): void;
  /** The answer by UDP is truncated; `onReply` follows with the answer by TCP. */
  onTruncated(): void;
  /** The server cannot be reached; `code` is a system error such as ECONNREFUSED. */
  onFault(code: string): void;
}

/** Sends the question. Each event is emitted at most once. @returns a function that cancels it without an event */
export function exchange(
  server: DnsServer,
  ports: UdpPorts,
  question: Question,
  events: ExchangeEvents,
): () => void {
  let end = () => {};
  const askByUdp = (withEdns: boolean) => {
    const query = encode(queryOf(question, withEdns));
    end = ports.send(query, {
      hear(message) {
        if (isTruncated(message)) {
          events.onTruncated();
          end = askByTcp();
          return true;
        }
        const packet = decoded(message);
        if (packet === null || !isAnswerTo(question, packet)) return false;
        const reply = readReply(packet, question.name, question.type);
        if (withEdns && reply.outcome === "failed" && NO_EDNS_FAULTS.has(reply.reason)) askByUdp(false);
        else events.onReply(reply);
        return true;
      },
      fail: (code) => events.onFault(code),
    });
  };
  const askByTcp = () => {
    const query = encode(queryOf(question, true));
    return overTcp(server, query, (answer) => {
      // The server has answered by UDP, so a failed TCP connection is a failure of the server, not of the network.
      if (typeof answer === "string") return events.onReply(failedReply(answer));
      const packet = decoded(answer);
      const isAnswer = packet !== null && isAnswerTo(question, packet) && packet.id === query.readUInt16BE();
      events.onReply(isAnswer ? readReply(packet, question.name, question.type) : failedReply("EBADRESP"));
    });
  };
  askByUdp(true);
  return () => end();
}

function queryOf({ name, type, wantsDnssec }: Question, withEdns: boolean): Packet {
  const options = {
    type: "OPT" as const,
    name: ".",
    udpPayloadSize: UDP_OCTETS,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: wantsDnssec ? DNSSEC_OK : 0,
    flag_do: wantsDnssec,
    options: [],
  };
  return {
    type: "query",
    id: randomInt(0x1_0000),
    flags: RECURSION_DESIRED | (wantsDnssec ? AUTHENTIC_DATA : 0),
    questions: [{ type, name }],
    additionals: withEdns ? [options] : [],
  };
}

/** Reads only the header, because the records of a truncated message may be cut anywhere. */
function isTruncated(message: Buffer): boolean {
  const flags = message[2] ?? 0;
  return message.length >= HEADER_OCTETS && (flags & IS_RESPONSE) !== 0 && (flags & IS_TRUNCATED) !== 0;
}

function isAnswerTo({ name, type }: Question, packet: DecodedPacket): boolean {
  if (packet.type !== "response") return false;
  const [asked] = packet.questions ?? [];
  // A server that does not know EDNS may answer with a header only.
  if (asked === undefined) return readReply(packet, name, type).outcome === "failed";
  return asked.type === type && asked.name.toLowerCase() === name.toLowerCase();
}

/** @param onEnd called once, with the answer or an error code @returns a function that cancels it without that call */
function overTcp(server: DnsServer, query: Buffer, onEnd: (answer: Buffer | string) => void): () => void {
  const socket = connect({ host: server.host, port: server.port });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  let received: Buffer = Buffer.alloc(0);
  let isEnded = false;
  const end = (answer: Buffer | string | null) => {
    if (isEnded) return;
    isEnded = true;
    socket.destroy();
    if (answer !== null) onEnd(answer);
  };
  socket.on("error", (cause) => end(codeOf(cause)));
  socket.on("close", () => end("ECONNRESET"));
  socket.on("connect", () => socket.write(Buffer.concat([length, query])));
  socket.on("data", (chunk: Buffer) => {
    // The message starts with its length in two octets, so this never exceeds 64 KiB and one chunk.
    received = Buffer.concat([received, chunk]);
    const until = received.length < 2 ? Number.POSITIVE_INFINITY : received.readUInt16BE() + 2;
    if (received.length >= until) end(received.subarray(2, until));
  });
  return () => end(null);
}

function decoded(message: Buffer): DecodedPacket | null {
  try {
    return decode(message);
  } catch {
    return null;
  }
}
