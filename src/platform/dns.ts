/**
 * The DNS as the network has it. Every look-up ends by a deadline and every end is a value (mail/dns/resolver.ts states
 * the shape): "there is no such record" is an answer, everything that left the question open is a failure.
 */
import { getServers, Resolver } from "node:dns/promises";

/** What a look-up is given: which servers, how long, how often. */
export interface DnsOptions {
  /** "host:port" or "[host]:port", asked in this order; none means the system's. */
  readonly servers: readonly string[];
  /** The whole time one look-up may take, all tries together, in milliseconds. */
  readonly timeoutMs: number;
  /** Times each silent server is asked; the time is shared out so that every server has its turn. */
  readonly tries: number;
}

export type NetworkResolver = ReturnType<typeof createResolver>;

/** A resolver over UDP and TCP. Throws when a server is not an IP address with an optional port. */
export function createResolver({ servers, timeoutMs, tries }: DnsOptions) {
  const serverCount = Math.max(1, servers.length || getServers().length);
  const network = new Resolver({ timeout: Math.ceil(timeoutMs / (tries * serverCount)), tries });
  if (servers.length > 0) network.setServers(servers);
  const ask = <RecordType>(question: Promise<RecordType[]>) => withinDeadline(settle(question), timeoutMs);
  return {
    mx: (name: string) => ask(network.resolveMx(name).then((records) => records.map(mxRecord))),
    ipv4: (name: string) => ask(network.resolve4(name)),
    ipv6: (name: string) => ask(network.resolve6(name)),
    txt: (name: string) =>
      ask(network.resolveTxt(name).then((records) => records.map((strings) => strings.join("")))),
    cname: (name: string) => ask(network.resolveCname(name).then((names) => names.map(hostName))),
    ptr: (name: string) => ask(network.resolvePtr(name).then((names) => names.map(hostName))),
    ns: (name: string) => ask(network.resolveNs(name).then((names) => names.map(hostName))),
  };
}

async function settle<RecordType>(question: Promise<RecordType[]>) {
  try {
    return { outcome: "found" as const, records: await question };
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    if (code === "ENOTFOUND") return { outcome: "absent" as const, reason: "nxdomain" as const };
    if (code === "ENODATA") return { outcome: "absent" as const, reason: "nodata" as const };
    return failed(code);
  }
}

/** The resolver's own clock follows what it learned about its servers; ours does not. */
async function withinDeadline<Answer>(answer: Promise<Answer>, timeoutMs: number) {
  const { promise: late, resolve } = Promise.withResolvers<ReturnType<typeof failed>>();
  const timer = setTimeout(() => resolve(failed("ETIMEOUT")), timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const failed = (reason: string) => ({ outcome: "failed" as const, reason });

const mxRecord = ({ priority, exchange }: { priority: number; exchange: string }) => ({
  preference: priority,
  exchange: hostName(exchange),
});

const hostName = (name: string): string => name.toLowerCase().replace(/\.$/, "");
