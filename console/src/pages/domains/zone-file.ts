/** The records of a domain as a zone file, for name servers that read one. */
import type { Schema } from "@posthaste/client";

/** A string of a TXT record has at most this many octets. */
const STRING_OCTETS = 255;

export function zoneFile(records: readonly Schema<"DnsRecord">[]): string {
  return records.map(lineOf).join("");
}

function lineOf({ host, ttl, type, value }: Schema<"DnsRecord">): string {
  const content = type === "TXT" ? stringsOf(value) : `${value.replace(/\.$/, "")}.`;
  return `${host}. ${ttl} IN ${type} ${content}\n`;
}

function stringsOf(value: string): string {
  const strings = value.match(new RegExp(`.{1,${STRING_OCTETS}}`, "gs")) ?? [""];
  return strings.map((one) => `"${one.replace(/[\\"]/g, "\\$&")}"`).join(" ");
}
