/** `posthaste doctor --counters`: compares every counter with a new count of the log. */
import type { Queryable } from "#platform/database/pool.ts";
import { findListMiscounts } from "#reporting/counters/list-miscounts-store.ts";
import { findReportMiscounts } from "#reporting/counters/miscounts-store.ts";
import { findOriginMiscounts } from "#sending/campaigns/counters/miscounts-store.ts";

/** A counter of any kind that differs from the log. */
export interface Miscount {
  readonly counter_of: string;
  readonly workspace_id: string | null;
  /** The campaign or autoresponder. */
  readonly origin_id: string | null;
  readonly domain: string | null;
  readonly counter: string;
  readonly kept: number;
  readonly counted: number;
}

/** Reads the log from end to end. */
export async function findMiscounts(db: Queryable): Promise<Miscount[]> {
  const ofCampaigns = await findOriginMiscounts(db, "campaign");
  const ofAutoresponders = await findOriginMiscounts(db, "autoresponder");
  const ofReports = await findReportMiscounts(db);
  const ofLists = await findListMiscounts(db);
  return [
    ...[...ofCampaigns, ...ofAutoresponders].map((one) => ({ workspace_id: null, ...one })),
    ...[...ofReports, ...ofLists].map((one) => ({ origin_id: null, domain: null, ...one })),
  ];
}
