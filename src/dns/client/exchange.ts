/**
 * One question to one server and its answer: by UDP, with an EDNS size that fits everywhere, and by TCP where the answer
 * is too long for a packet (RFC 7766 section 5). A server that does not know EDNS is asked without it (RFC 6891 section 7).
 */
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { type DecodedPacket, DNSSEC_OK, decode, encode, type Packet, RECURSION_DESIRED } from "dns-packet";
import type { Question, Reply, Server } from "./question.ts";
import { failure, readReply } from "./read-reply.ts";
import { codeOf, type UdpPorts } from "./udp-ports.ts";

/** DNS flag day 2020. */
const UDP_OCTETS = 1_232;
const HEADER_OCTETS = 12;
/** Bits of the third octet of a header (RFC 1035 section 4.1.1). */
const [IS_RESPONSE, IS_TRUNCATED] = [0x80, 0x02];
/** AD in a question asks for AD in the answer (RFC 6840 section 5.7). */
const AUTHENTIC_DATA = 1 << 5;
const NO_EDNS_FAULTS = new Set(["EFORMERR", "ENOTIMP"]);

export interface ExchangeEvents {
  /** The server has answered, be it that it fails. */
  onReply(reply: Reply): void;
  /** The server has answered that its answer is too long for a packet; `onReply` follows. */
  onTruncated(): void;
  /** It cannot be reached. */
  onFault(code: string): void;
}

/** Begins; each event comes at most once. @returns what ends it without an event */
export function exchange(
  server: Server,
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
      // It has answered by UDP: that it does so by that way alone is its failure.
      if (typeof answer === "string") return events.onReply(failure(answer));
      const packet = decoded(answer);
      const isAnswer = packet !== null && isAnswerTo(question, packet) && packet.id === query.readUInt16BE();
      events.onReply(isAnswer ? readReply(packet, question.name, question.type) : failure("EBADRESP"));
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

/** Its records may be cut anywhere, so that nothing behind the header is read. */
function isTruncated(message: Buffer): boolean {
  const flags = message[2] ?? 0;
  return message.length >= HEADER_OCTETS && (flags & IS_RESPONSE) !== 0 && (flags & IS_TRUNCATED) !== 0;
}

function isAnswerTo({ name, type }: Question, packet: DecodedPacket): boolean {
  if (packet.type !== "response") return false;
  const [asked] = packet.questions ?? [];
  // A server that cannot read EDNS may send its header alone.
  if (asked === undefined) return readReply(packet, name, type).outcome === "failed";
  return asked.type === type && asked.name.toLowerCase() === name.toLowerCase();
}

/** @param heard is told the answer, or the code of what went wrong, once. @returns what ends it without a word */
function overTcp(server: Server, query: Buffer, heard: (answer: Buffer | string) => void): () => void {
  const socket = connect({ host: server.host, port: server.port });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  let received: Buffer = Buffer.alloc(0);
  let isEnded = false;
  const end = (answer: Buffer | string | null) => {
    if (isEnded) return;
    isEnded = true;
    socket.destroy();
    if (answer !== null) heard(answer);
  };
  socket.on("error", (cause) => end(codeOf(cause)));
  socket.on("close", () => end("ECONNRESET"));
  socket.on("connect", () => socket.write(Buffer.concat([length, query])));
  socket.on("data", (chunk: Buffer) => {
    // A length of two octets goes in front, so that this cannot grow beyond 64 KiB and a chunk.
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
