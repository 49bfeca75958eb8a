/** The DNS records of a domain as a share link shows them: each to publish, beside what is published now. */

import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import type { DnsStatus } from "#identity/domain-verification/dns-status.ts";
import { type Html, html } from "#platform/http/response/html-page.ts";
import { shortenedText } from "#platform/shorten.ts";
import type { SharedReport } from "./report-layout.ts";

/** Of what is published, which anyone may make as long as DNS allows: 64 kB for each of 26 records. */
const MOST_FOUND = 5;
const MOST_CHARACTERS = 1_000;

/**
 * @param privateName a host name of this installation that is not in public DNS (PRIVATE_NAME); null if there is none. The
 *   operator's advice about it is not for outsiders, so `status` comes from a look-up without it.
 */
export function dnsRecordsReport(status: DnsStatus, privateName: string | null): SharedReport {
  return { title: `DNS records of ${status.domain}`, body: bodyOf(status, privateName) };
}

function bodyOf({ dns }: DnsStatus, privateName: string | null): Html {
  const records: (readonly [string, DnsCheck | null])[] = [
    ["Ownership of the domain", dns.ownership],
    ["SPF", dns.spf],
    ["DKIM", dns.dkim],
    ["DMARC", dns.dmarc],
    ["Return path", dns.return_path],
    ["DMARC reports", dns.dmarc_reports],
    ["Links in mails", dns.tracking],
    ...dns.receiving.map((check) => ["Mail to this name", check] as const),
  ];
  const shown = records.flatMap(([name, check]) => (check === null ? [] : [{ name, check }]));
  const left = shown.filter(({ check }) => check.status !== "verified").length;
  return html`<p>Add these records where the DNS of the domain is managed. ${
    left === 0 ? "All of them are published." : `${left} of ${shown.length} are not published yet, or differ.`
  }</p>
${shown.map((record) => recordOf(record, privateName))}
<p class="soft">Looked up when this page was opened. Load it again after a change; a change may take some minutes to be seen.</p>`;
}

const NOT_READY =
  "Do not publish this record yet: its value names a host that is not public. Tell the person who sent you this page.";

/** Whether the value of a record has a host name, or one below it. */
function namesHost(value: string, host: string): boolean {
  const names = value.toLowerCase().match(/[\w-]+(?:\.[\w-]+)*/g) ?? [];
  return names.some((name) => `.${name}`.endsWith(`.${host.toLowerCase()}`));
}

const states: Readonly<Record<DnsCheck["status"], string>> = {
  verified: "✓ Published",
  missing: "○ Missing",
  mismatch: "▲ Differs",
  error: "? Unknown",
};

function recordOf(
  { name, check }: { readonly name: string; readonly check: DnsCheck },
  privateName: string | null,
): Html {
  const { status, host, type, expected, found, found_host, message } = check;
  const isPrivate = privateName !== null && namesHost(expected, privateName);
  const more = found.length - MOST_FOUND;
  const values = found
    .slice(0, MOST_FOUND)
    .map((value) => html`<code>${shortenedText(value, MOST_CHARACTERS)}</code><br>`);
  return html`<section class="record">
<h2>${name}: ${states[status]}</h2>
<p>${isPrivate ? NOT_READY : shortenedText(message, MOST_CHARACTERS)}</p>
<dl>
<dt>Type</dt><dd><code>${type}</code></dd>
<dt>Name</dt><dd><code>${host}</code></dd>
<dt>Value to publish</dt><dd><code>${expected}</code></dd>
<dt>Found</dt><dd>${found.length === 0 ? "nothing" : values}${more > 0 ? `and ${more} more ` : ""}${found_host === null ? "" : html`at <code>${found_host}</code>`}</dd>
</dl>
</section>
`;
}
