/**
 * Turns at what keeps a database connection busy for long: so many at once for each workspace, the others in the order
 * they came. So a workspace that asks costly questions waits for itself, and others find connections free.
 */
import { overloaded } from "../../platform/errors.ts";
import type { WorkspaceId } from "../../platform/ids.ts";

/** Runs the work when its turn comes. @throws ApiError (503) when too many wait already */
export type TakeTurn = <Result>(workspaceId: WorkspaceId, work: () => Promise<Result>) => Promise<Result>;

export function createTurns(atOnce: number, mostWaiting: number): TakeTurn {
  const lines = new Map<WorkspaceId, { running: number; readonly waiting: (() => void)[] }>();
  return async (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? { running: 0, waiting: [] };
    lines.set(workspaceId, line);
    if (line.running === atOnce) {
      if (line.waiting.length >= mostWaiting) throw overloaded("Too many segments are being counted at once");
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    } else line.running += 1;
    try {
      return await work();
    } finally {
      // Whoever is next takes the place over.
      const next = line.waiting.shift();
      if (next !== undefined) next();
      else if (--line.running === 0) lines.delete(workspaceId);
    }
  };
}
