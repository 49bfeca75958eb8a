/**
 * A resolver that validates DNSSEC, and is believed about it: each answer says whether its AD bit was set (RFC 4035
 * section 3.2.3). Only as good as the way to it, so it belongs on this machine or its network.
 */
import type { TlsaData } from "dns-packet";
import type { Lookup } from "./resolver.ts";
import { createResolver, type DnsOptions, recordsOf } from "./system.ts";

const TRIES = 5;

/** @param server "host:port" or "[host]:port"; @param timeoutMs for one look-up, all tries together */
export function createValidatingResolver(server: string, timeoutMs = 10_000, tries = TRIES) {
  const options: DnsOptions = { servers: [server], timeoutMs, tries, wantsDnssec: true };
  const { mx, ipv4, ipv6, cname } = createResolver(options);
  const tlsa = recordsOf<Omit<TlsaData, "certificate"> & { readonly certificate: Uint8Array }>(
    "TLSA",
    options,
  );
  return {
    mx,
    ipv4,
    ipv6,
    cname,
    async tlsa(name: string): Promise<Lookup<TlsaData>> {
      const found = await tlsa(name);
      if (found.outcome !== "found") return found;
      const records = found.records.map((record) => ({
        ...record,
        certificate: Buffer.from(record.certificate),
      }));
      return { ...found, records };
    },
  };
}

export type ValidatingResolver = ReturnType<typeof createValidatingResolver>;
