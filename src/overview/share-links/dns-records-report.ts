/** The DNS records of a domain as a share link shows them: each to publish, beside what is published now. */

import type { DnsCheck } from "#identity/dns-checks/dns-check.ts";
import type { DnsStatus } from "#identity/domain-verification/dns-status.ts";
import { AsyncCache } from "#platform/cache.ts";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import { type Html, html } from "#platform/http/response/html-page.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SharedReport } from "./report-layout.ts";

/** The domain with its records, looked up now; undefined when the domain was deleted. */
export type LookUpDnsStatus = (workspaceId: WorkspaceId, domainId: string) => Promise<DnsStatus | undefined>;

/** A page that is loaded again and again looks the records up once in this time. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1_000;
/** Look-ups of one workspace: anyone who has a link starts them. */
const LOOK_UPS = { concurrency: 2, maxWaiting: 20, maxWaitMs: 10_000 };

export class DnsRecordReports {
  readonly #lookUp: LookUpDnsStatus;
  readonly #limited = createWorkspaceLimiter(
    LOOK_UPS,
    "Many pages look up DNS records now: try again shortly",
  );
  readonly #kept = new AsyncCache<DnsStatus | undefined>({ ms: KEPT_MS, most: MOST_KEPT });

  constructor(lookUp: LookUpDnsStatus) {
    this.#lookUp = lookUp;
  }

  /** @throws ApiError RATE_LIMIT_EXCEEDED */
  async find(workspaceId: WorkspaceId, domainId: string): Promise<SharedReport | undefined> {
    const status = await this.#kept.get(`${workspaceId} ${domainId}`, () =>
      this.#limited(workspaceId, () => this.#lookUp(workspaceId, domainId)),
    );
    return status && { title: `DNS records of ${status.domain}`, body: bodyOf(status) };
  }
}

function bodyOf({ dns }: DnsStatus): Html {
  const records: (readonly [string, DnsCheck | null])[] = [
    ["Ownership of the domain", dns.ownership],
    ["SPF", dns.spf],
    ["DKIM", dns.dkim],
    ["DMARC", dns.dmarc],
    ["Return path", dns.return_path],
    ["DMARC reports", dns.dmarc_reports],
    ["Links in mails", dns.tracking],
  ];
  const shown = records.flatMap(([name, check]) => (check === null ? [] : [{ name, check }]));
  const left = shown.filter(({ check }) => check.status !== "verified").length;
  return html`<p>Add these records where the DNS of the domain is managed. ${
    left === 0 ? "All of them are published." : `${left} of ${shown.length} are not published yet, or differ.`
  }</p>
${shown.map(recordOf)}
<p class="soft">Looked up when this page was opened. Load it again after a change; a change may take some minutes to be seen.</p>`;
}

const states: Readonly<Record<DnsCheck["status"], string>> = {
  verified: "✓ Published",
  missing: "○ Missing",
  mismatch: "▲ Differs",
  error: "? Unknown",
};

function recordOf({ name, check }: { readonly name: string; readonly check: DnsCheck }): Html {
  const { status, host, type, expected, found, found_host, message } = check;
  const values = found.map((value) => html`<code>${value}</code><br>`);
  return html`<section class="record">
<h2>${name}: ${states[status]}</h2>
<p>${message}</p>
<dl>
<dt>Type</dt><dd><code>${type}</code></dd>
<dt>Name</dt><dd><code>${host}</code></dd>
<dt>Value to publish</dt><dd><code>${expected}</code></dd>
<dt>Found</dt><dd>${found.length === 0 ? "nothing" : values}${found_host === null ? "" : html`at <code>${found_host}</code>`}</dd>
</dl>
</section>
`;
}
