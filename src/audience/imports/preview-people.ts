/**
 * Compares the people of a dry run with the list: each batch is copied to the staging table, compared, and dropped at
 * the end of its transaction, which changes nothing.
 */
import { open } from "node:fs/promises";
import { previewMembers } from "#audience/subscribers/memberships/preview-members.ts";
import { stage, staged, unstage } from "#audience/subscribers/memberships/staging-table.ts";
import type { Limiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import { type Example, type Examples, MOST_EXAMPLES } from "./dry-run-examples.ts";
import type { ImportPlan } from "./import-plan.ts";
import { BATCH_ROOM_BYTES, readBatch } from "./people-file-reader.ts";

export interface PreviewTask {
  readonly db: Database;
  readonly workspaceId: WorkspaceId;
  readonly mailingListId: string;
  /** The path of the plan's file of people on the local disk. */
  readonly path: string;
  readonly updateExisting: boolean;
  readonly resubscribe: boolean;
  /** Maps the people to lines of the import file. */
  readonly examples: Examples;
  readonly takeTurn: Limiter;
  /** Stops between two batches. */
  readonly signal: AbortSignal;
  /** Called with the number of people compared so far. */
  readonly onCompared?: (people: number) => void;
}

export interface ImportPreview {
  /** People who would join the list, and those of them who are new to the workspace. */
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
        const given = {
          mailingListId,
          people: staged,
          now: new Date(plan.now),
          updateExisting,
          resubscribe,
          defaults: plan.defaults,
        };
        return previewMembers(tx, workspaceId, given, MOST_EXAMPLES);
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
