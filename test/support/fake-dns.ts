/**
 * A DNS server on loopback (UDP and TCP on one free port) that answers from a plain object, so that tests and benchmarks
 * make real queries and control every answer:
 *
 *     await using dns = await startFakeDns({
 *       "example.test": { MX: [[10, "mx.example.test"]], TXT: ["v=spf1 -all"] },
 *       "mx.example.test": { A: ["127.0.0.1"] },
 *       "*.many.test": { CNAME: "mx.example.test" },
 *       "broken.test": "servfail",
 *       "half.test": { A: ["127.0.0.1"], MX: "timeout" },
 *     });
 *     await dns.resolver.mx("example.test");   // a program takes DNS_SERVERS=dns.address
 *
 * A test may change the zone while the server runs. `questions` lists the queries.
 */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  type Answer,
  AUTHENTIC_DATA,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  streamDecode,
  streamEncode,
  type TlsaData,
  TRUNCATED_RESPONSE,
} from "dns-packet";
import { createResolver } from "#dns/network-resolver.ts";
import type { Resolver } from "#dns/resolver-interface.ts";

/** A failing answer: SERVFAIL, REFUSED, no answer, or NXDOMAIN. */
export type DnsFault = "servfail" | "refuse" | "timeout" | "nxdomain";

/** The records of one name. A fault in place of a list applies to that record type only. */
export interface DnsRecords {
  A?: string[] | DnsFault;
  AAAA?: string[] | DnsFault;
  /** Preference and exchange; "." is the null MX. */
  MX?: [number, string][] | DnsFault;
  /** Any length: sent as character strings of at most 255 octets. */
  TXT?: string[] | DnsFault;
  CNAME?: string;
  NS?: string[] | DnsFault;
  TLSA?: TlsaData[] | DnsFault;
  /** For names below in-addr.arpa or ip6.arpa. */
  PTR?: string[] | DnsFault;
}

/** Keys are names in lower case without the trailing dot. A leading "*." is a wildcard (RFC 4592). */
export type DnsZone = Record<string, DnsRecords | DnsFault>;

export interface FakeDns extends AsyncDisposable {
  /** "127.0.0.1:PORT", the form that DNS_SERVERS takes. */
  readonly address: string;
  /** The service's resolver with this server and a timeout of half a second. */
  readonly resolver: Resolver;
  zone: DnsZone;
  /** TTL of every answer, including NXDOMAIN and NODATA. With 0, nothing is cached: a zone change applies at once. */
  ttlSeconds: number;
  /** DNSSEC-signed names. An answer has the AD bit if every name in its CNAME chain is in this set. */
  readonly secure: Set<string>;
  /** All queries since the start, in order, names in lower case. A test may empty the array. */
  readonly questions: { name: string; type: string }[];
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
/** A placeholder; the answer gets `ttlSeconds`. */
const TTL_SECONDS = 0;
const LONGEST_CHAIN = 8;
/** RFC 1035 sections 2.3.4 and 3.3.14. */
const PLAIN_UDP_OCTETS = 512;
const CHARACTER_STRING_OCTETS = 255;
const RCODE = { noerror: 0, servfail: 2, nxdomain: 3, refuse: 5 } as const;

/** Starts a server on a free port of loopback, or of another address of this machine. */
export async function startFakeDns(zone: DnsZone = {}, host = LOOPBACK): Promise<FakeDns> {
  const { udp, tcp, port } = await openOnOnePort(host);
  const connections = new Set<Socket>();
  const address = `${host}:${port}`;
  const server: FakeDns = {
    address,
    resolver: createResolver({ servers: [address], timeoutMs: 500, tries: 1 }),
    zone,
    ttlSeconds: 0,
    secure: new Set(),
    questions: [],
    async close() {
      for (const socket of connections) socket.destroy();
      udp.close();
      tcp.close();
      await once(tcp, "close");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };

  const reply = (query: Packet): Packet | null => {
    const question = query.questions?.[0];
    if (question === undefined) return null;
    const name = question.name.toLowerCase();
    server.questions.push({ name, type: question.type });
    const resolved = resolve(server.zone, name, question.type);
    if (resolved === null) return null;
    const vouched = passed(name, question.type, resolved.answers).every((owner) => server.secure.has(owner))
      ? AUTHENTIC_DATA
      : 0;
    const flags = AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | vouched | RCODE[resolved.rcode];
    const ttl = server.ttlSeconds;
    return {
      id: query.id,
      type: "response",
      flags,
      questions: [question],
      answers: resolved.answers.map((answer) => ({ ...answer, ttl }) as Answer),
      authorities: ttl > 0 && resolved.answers.length === 0 ? [soaWith(ttl)] : [],
    };
  };

  udp.on("message", (message, peer) => {
    const query = decoded(message, decode);
    const packet = query && reply(query);
    if (query === null || packet === null) return;
    const whole = encode(packet);
    const cut = { ...packet, flags: (packet.flags ?? 0) | TRUNCATED_RESPONSE, answers: [] };
    udp.send(whole.length <= udpOctets(query) ? whole : encode(cut), peer.port, peer.address);
  });
  tcp.on("connection", (socket) => {
    connections.add(socket.on("close", () => connections.delete(socket)));
    serveStream(socket, reply);
  });
  return server;
}

/** The SOA record that gives the TTL of a negative answer (RFC 2308 section 5). */
function soaWith(ttl: number): Answer {
  const times = { serial: 1, refresh: 3_600, retry: 600, expire: 86_400, minimum: ttl };
  return { type: "SOA", name: "test", ttl, data: { mname: "ns.test", rname: "hostmaster.test", ...times } };
}

/** The names of the CNAME chain of an answer. A query for CNAME itself involves only its name. */
function passed(name: string, type: string, answers: readonly Answer[]): string[] {
  if (type === "CNAME") return [name];
  return [name, ...answers.flatMap((answer) => (answer.type === "CNAME" ? [answer.data.toLowerCase()] : []))];
}

/** Answers as an authoritative server: follows CNAMEs and distinguishes NXDOMAIN from NODATA. Null: no answer. */
function resolve(
  zone: DnsZone,
  name: string,
  type: string,
): { rcode: keyof typeof RCODE; answers: Answer[] } | null {
  const chain: Answer[] = [];
  for (let owner = name; chain.length <= LONGEST_CHAIN; ) {
    const entry = entryOf(zone, owner);
    const records = typeof entry === "string" ? entry : recordsOf(entry, owner, type);
    if (records === "timeout") return null;
    if (typeof records === "string") return { rcode: records, answers: chain };
    if (typeof entry === "string" || entry.CNAME === undefined || type === "CNAME") {
      return { rcode: "noerror", answers: [...chain, ...records] };
    }
    chain.push({ type: "CNAME", name: owner, data: entry.CNAME, ttl: TTL_SECONDS });
    owner = entry.CNAME.toLowerCase();
  }
  return { rcode: "servfail", answers: [] };
}

/** The records of a name, or of the wildcard under its closest encloser (RFC 4592 section 3.3.1). */
function entryOf(zone: DnsZone, name: string): DnsRecords | DnsFault {
  const exists = (other: string) =>
    other in zone || Object.keys(zone).some((key) => key.endsWith(`.${other}`));
  if (exists(name)) return zone[name] ?? {};
  const labels = name.split(".");
  const ancestors = labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
  const encloser = ancestors.find(exists);
  return (encloser === undefined ? undefined : zone[`*.${encloser}`]) ?? "nxdomain";
}

function recordsOf(entry: DnsRecords, name: string, type: string): Answer[] | DnsFault {
  const common = { name, ttl: TTL_SECONDS };
  switch (type) {
    case "A":
    case "AAAA":
    case "PTR":
    case "NS": {
      const list = entry[type] ?? [];
      return typeof list === "string" ? list : list.map((data) => ({ ...common, type, data }));
    }
    case "CNAME":
      return entry.CNAME === undefined ? [] : [{ ...common, type, data: entry.CNAME }];
    case "MX": {
      const list = entry.MX ?? [];
      if (typeof list === "string") return list;
      return list.map(([preference, exchange]) => ({ ...common, type, data: { preference, exchange } }));
    }
    case "TXT": {
      const list = entry.TXT ?? [];
      return typeof list === "string"
        ? list
        : list.map((text) => ({ ...common, type, data: characterStrings(text) }));
    }
    case "TLSA": {
      const list = entry.TLSA ?? [];
      return typeof list === "string" ? list : list.map((data) => ({ ...common, type, data }));
    }
    default:
      return [];
  }
}

function characterStrings(text: string): Buffer[] {
  const octets = Buffer.from(text);
  const count = Math.max(1, Math.ceil(octets.length / CHARACTER_STRING_OCTETS));
  return Array.from({ length: count }, (_, index) =>
    octets.subarray(index * CHARACTER_STRING_OCTETS, (index + 1) * CHARACTER_STRING_OCTETS),
  );
}

/** The largest UDP answer that the client accepts (RFC 6891 section 6.2.3). A longer answer is truncated. */
function udpOctets(query: Packet): number {
  const option = query.additionals?.find((record) => record.type === "OPT");
  return Math.max(PLAIN_UDP_OCTETS, option?.udpPayloadSize ?? 0);
}

function serveStream(socket: Socket, reply: (query: Packet) => Packet | null): void {
  let unread: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    while (unread.length >= 2 && unread.length >= unread.readUInt16BE() + 2) {
      const end = unread.readUInt16BE() + 2;
      const query = decoded(unread.subarray(0, end), streamDecode);
      const packet = query && reply(query);
      if (packet !== null) socket.write(streamEncode(packet));
      unread = unread.subarray(end);
    }
  });
}

/** The decoded message, or null if it is malformed: the server does not answer it. */
function decoded(message: Buffer, decoder: (message: Buffer) => Packet): Packet | null {
  try {
    return decoder(message);
  } catch {
    return null;
  }
}

/** Lets the system choose a TCP port and opens UDP on the same number; tries again if that one is in use. */
async function openOnOnePort(host: string): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const tcp = createServer().listen(0, host);
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket("udp4");
    udp.bind(port, host);
    try {
      await once(udp, "listening");
      return { udp, tcp, port };
    } catch (cause) {
      tcp.close();
      if (attempt === 10) throw cause;
    }
  }
}
