/**
 * Keeps what share links show for a short time, and bounds how much of one workspace is read at a time: anyone who has a
 * link opens its page as often as they like.
 */
import { AsyncCache } from "#platform/cache.ts";
import { createWorkspaceLimiter } from "#platform/concurrency.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { SharedReport } from "./report-layout.ts";

const KEPT_MS = 10_000;
/** Reports of all workspaces. One has some 60,000 characters at most (campaign-report.ts, dns-records-report.ts). */
const MOST_KEPT = 500;
const READS = { concurrency: 2, maxWaiting: 20, maxWaitMs: 10_000 };

/** Reads what a campaign or domain shows; undefined when it was deleted. */
type ReadReport = (workspaceId: WorkspaceId, resourceId: string) => Promise<SharedReport | undefined>;

export class KeptReports {
  readonly #read: ReadReport;
  readonly #limited = createWorkspaceLimiter(READS, "Many shared pages are opened now: try again shortly");
  readonly #kept = new AsyncCache<SharedReport | undefined>({ ms: KEPT_MS, most: MOST_KEPT });

  constructor(read: ReadReport) {
    this.#read = read;
  }

  /** At most ten seconds old; undefined when it was deleted. @throws ApiError RATE_LIMIT_EXCEEDED */
  find(workspaceId: WorkspaceId, resourceId: string): Promise<SharedReport | undefined> {
    return this.#kept.get(`${workspaceId} ${resourceId}`, () =>
      this.#limited(workspaceId, () => this.#read(workspaceId, resourceId)),
    );
  }
}
