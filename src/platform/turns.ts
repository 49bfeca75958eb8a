/**
 * Turns at what is scarce, such as the connections of the database: so many at once, the others in the order they came.
 */
import { overloaded } from "./errors.ts";
import type { WorkspaceId } from "./ids.ts";

/** Runs the work when its turn comes. */
export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface Line {
  readonly take: TakeTurn;
  /** How many wait. */
  length(): number;
  /** Whether nobody has a turn. */
  isIdle(): boolean;
}

function openLine(atOnce: number): Line {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async take(work) {
      if (running < atOnce) running++;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // Whoever is next takes the place over; nobody comes in between.
        if (next === undefined) running--;
        else next();
      }
    },
    length: () => waiting.length,
    isIdle: () => running === 0,
  };
}

/** One line for everybody. */
export function createTurns(atOnce: number): TakeTurn {
  return openLine(atOnce).take;
}

/**
 * A line for each workspace: one that asks for much waits for itself.
 * @param tooMany what whoever comes when so many wait already is told, by an ApiError (503)
 */
export function createWorkspaceTurns(
  atOnce: number,
  mostWaiting: number,
  tooMany: string,
): <Result>(workspaceId: WorkspaceId, work: () => Promise<Result>) => Promise<Result> {
  const lines = new Map<WorkspaceId, Line>();
  return async (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? openLine(atOnce);
    if (line.length() >= mostWaiting) throw overloaded(tooMany);
    lines.set(workspaceId, line);
    try {
      return await line.take(work);
    } finally {
      if (line.isIdle()) lines.delete(workspaceId);
    }
  };
}
