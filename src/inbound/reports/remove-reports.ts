/** The reports of a sending domain that is about to go, in steps of bounded size: it has years of them. */
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { removeSomeDmarcReports, removeSomeTlsReports } from "./store.ts";

/** Of DMARC reports as many as have together so many records, and the one that goes beyond. */
const MOST = { reports: 5_000, records: 20_000 };

/** Each step is by itself; reports that come meanwhile may stay. */
export async function removeReports(
  db: Database,
  workspaceId: WorkspaceId,
  sendingDomainId: string,
): Promise<void> {
  const domain = { workspaceId, sendingDomainId };
  for (const removeSome of [removeSomeDmarcReports, removeSomeTlsReports]) {
    while ((await removeSome(db, domain, MOST)) > 0);
  }
}
