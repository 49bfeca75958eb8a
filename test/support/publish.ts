/** Puts the records that the API shows for a sending domain into the DNS, as the domain's owner would. */
import type { CallApi } from "./api-caller.ts";
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

/**
 * Adds a sending domain through the API, publishes its records and has them checked.
 * @returns what the check says
 */
export async function addVerifiedDomain(
  call: CallApi,
  dns: FakeDns,
  domain: string,
  { hasReturnPath = false }: { readonly hasReturnPath?: boolean } = {},
) {
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const { id } = await ask("POST", "/sending-domains", { domain });
  if (hasReturnPath) await ask("PATCH", `/sending-domains/${id}/custom-return-path`, { enabled: true });
  publish(dns, (await ask("GET", `/sending-domains/${id}/dns-status`)).dns.records);
  return ask("POST", `/sending-domains/${id}/verify`);
}
