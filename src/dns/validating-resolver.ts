/**
 * A resolver that trusts its server to validate DNSSEC: each answer tells whether the AD bit was set (RFC 4035 section
 * 3.2.3). The path to the server is not protected, so it must be on this machine or on its network.
 */
import type { TlsaData } from "dns-packet";
import { createResolver, type DnsOptions, recordLookup } from "./network-resolver.ts";
import type { Lookup } from "./resolver-interface.ts";

const TRIES = 5;

/** @param server "host:port" or "[host]:port"; @param timeoutMs for one look-up, all tries together */
export function createValidatingResolver(server: string, timeoutMs = 10_000, tries = TRIES) {
  const options: DnsOptions = { servers: [server], timeoutMs, tries, wantsDnssec: true };
  const { mx, ipv4, ipv6, cname } = createResolver(options);
  const tlsa = recordLookup<Omit<TlsaData, "certificate"> & { readonly certificate: Uint8Array }>(
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
