/** Puts the records that the API shows for a sending domain into the DNS, as the domain's owner would. */
import type { FakeDns } from "./fake-dns.ts";

interface ShownRecord {
  readonly type: "TXT" | "CNAME";
  readonly host: string;
  readonly value: string;
}

export function publish(dns: FakeDns, records: readonly ShownRecord[]): void {
  for (const { type, host, value } of records) {
    const entry = dns.zone[host] ?? {};
    if (typeof entry === "string" || typeof entry.TXT === "string") throw new Error(`${host} is a fault`);
    dns.zone[host] = type === "CNAME" ? { CNAME: value } : { ...entry, TXT: [...(entry.TXT ?? []), value] };
  }
}
