/**
 * The background job that writes recipients of a campaign, with what they did, to a CSV file. It reads stretches of
 * recipients in statements of their own, so that no transaction stays open however large the campaign is.
 */
import { cellOfAddress } from "#audience/files/address-cell.ts";
import { listMessages, type MessageRow } from "#messages/store.ts";
import type { Clock } from "#platform/clock.ts";
import { csvLine } from "#platform/csv/write.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { JobHandler } from "#platform/jobs/attempt.ts";
import { JobLineFile } from "#platform/jobs/line-file.ts";
import {
  listEngagement,
  MOST_RECIPIENTS_READ,
  type RecipientEngagement,
  type RecipientFilter,
  scanRecipients,
} from "#sending/campaigns/analytics/scan-recipients-store.ts";
import { requireCampaignState } from "#sending/campaigns/lifecycle/lifecycle.ts";

export const RECIPIENT_EXPORT_JOB = "campaign_recipient_export";

/** Rows that are read at a time. */
const ROWS = 1_000;

export interface RecipientExportInput {
  readonly campaign_id: string;
  readonly filter: RecipientFilter;
}

const columns = [
  "Email",
  "Status",
  "Accepted At",
  "Attempts",
  "Error",
  "First Opened At",
  "First Clicked At",
  "Unsubscribed At",
  "Subscriber Id",
  "Message Id",
];

export function recipientExportHandler({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): JobHandler<RecipientExportInput> {
  return async ({ job, report, signal }) => {
    const { workspaceId, input } = job;
    await requireCampaignState(db, workspaceId, input.campaign_id);
    const called = `recipients-${clock.now().toISOString().slice(0, 10)}.csv`;
    await using file = new JobLineFile(db, job, called);
    file.add(csvLine(columns));
    let rows = 0;
    for (let after: string | undefined; ; ) {
      signal.throwIfAborted();
      const page = { limit: MOST_RECIPIENTS_READ, offset: 0, ...(after !== undefined && { after }) };
      const found = await scanRecipients(db, workspaceId, input.campaign_id, input.filter, page);
      for (let at = 0; at < found.rows.length; at += ROWS) {
        const ids = found.rows.slice(at, at + ROWS).map(({ id }) => id);
        const lines = await linesOf(db, workspaceId, ids);
        file.add(lines.join(""));
        rows += lines.length;
        if (file.isFull) await file.flush();
      }
      report({ processed: rows, succeeded: rows });
      if (found.searchedTo === null) break;
      after = found.searchedTo;
    }
    await file.close();
    report({ total: rows });
    return { result: { rows, columns }, resultFile: file.name };
  };
}

async function linesOf(db: Database, workspaceId: WorkspaceId, ids: readonly string[]): Promise<string[]> {
  const [messages, engagement] = await Promise.all([
    listMessages(db, workspaceId, ids),
    listEngagement(db, workspaceId, ids),
  ]);
  const byMessage = new Map(engagement.map((one) => [one.id, one]));
  return messages.map((message) => lineOf(message, byMessage.get(message.id)));
}

function lineOf(message: MessageRow, did: RecipientEngagement | undefined): string {
  return csvLine([
    cellOfAddress(`${message.localpart}@${message.domain}`),
    message.status,
    message.time.toISOString(),
    message.attempts,
    message.error_message ?? "",
    did?.first_opened_at?.toISOString() ?? "",
    did?.first_clicked_at?.toISOString() ?? "",
    did?.unsubscribed_at?.toISOString() ?? "",
    did?.subscriber_id ?? "",
    message.id,
  ]);
}
