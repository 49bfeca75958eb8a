/**
 * The second half of a dry run: what an import would do with the people of its file. Each batch goes to the staging table,
 * is compared with the list, and is gone with its transaction, which changes nothing.
 */
import { open } from "node:fs/promises";
import { previewMembers } from "#audience/subscribers/memberships/preview-members.ts";
import { stage, staged, unstage } from "#audience/subscribers/memberships/staging-table.ts";
import type { Limiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Example, type Examples, MOST_EXAMPLES } from "./dry-run-examples.ts";
import type { ImportPlan } from "./import-plan.ts";
import { BATCH_ROOM_BYTES, readBatch } from "./read-batch.ts";

export interface PreviewTask {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  /** The plan's file of people, on the disk. */
  readonly path: string;
  readonly updateExisting: boolean;
  readonly resubscribe: boolean;
  /** The lines of the people. */
  readonly examples: Examples;
  readonly takeTurn: Limiter;
  /** Ends it between two batches. */
  readonly signal: AbortSignal;
  /** Hears how many people were compared so far. */
  readonly onCompared?: (people: number) => void;
}

export interface ImportPreview {
  /** Who would come onto the list, and of these whom the workspace does not know. */
  readonly created: number;
  readonly new_to_workspace: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly newcomers: readonly Example[];
  readonly members: readonly Example[];
}

export async function previewPeople(previewing: PreviewTask, plan: ImportPlan): Promise<ImportPreview> {
  const { db, workspaceId, mailingListId, path, updateExisting, resubscribe } = previewing;
  const { examples, takeTurn, signal, onCompared } = previewing;
  await using people = await open(path);
  const room = Buffer.allocUnsafeSlow(BATCH_ROOM_BYTES);
  const sum = { created: 0, new_to_workspace: 0, updated: 0, unchanged: 0 };
  const newcomers: Example[] = [];
  const members: Example[] = [];
  for (const [at, batch] of plan.batches.entries()) {
    signal.throwIfAborted();
    const compare = () =>
      db.transaction(async (tx) => {
        await stage(tx, readBatch(people, batch, room));
        if (batch.replaced.length > 0) await unstage(tx, batch.replaced);
        const arrivals = {
          mailingListId,
          people: staged,
          now: new Date(plan.now),
          updateExisting,
          resubscribe,
          defaults: plan.defaults,
        };
        return previewMembers(tx, workspaceId, arrivals, MOST_EXAMPLES);
      });
    const found = await takeTurn(compare);
    sum.created += found.joining;
    sum.new_to_workspace += found.created;
    sum.updated += found.changed;
    sum.unchanged += found.given - found.joining - found.changed;
    const shown = ({ line, email }: Example) => ({ line: examples.lineOf(at, line), email });
    newcomers.push(...found.newcomers.map(shown));
    members.push(...found.members.map(shown));
    onCompared?.(sum.created + sum.updated + sum.unchanged);
  }
  return {
    ...sum,
    newcomers: newcomers.slice(0, MOST_EXAMPLES),
    members: members.slice(0, MOST_EXAMPLES),
  };
}
