/**
 * Turns at what is scarce, such as the connections of the database: so many at once, the others in the order they came.
 */
import { ApiError } from "./errors.ts";
import type { WorkspaceId } from "./ids.ts";

/** Runs the work when its turn comes. */
export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** How long somebody waits, in milliseconds, and what they are told when it is too long. */
interface Patience {
  readonly mostMs: number;
  readonly refusal: () => Error;
}

interface Line {
  take<Result>(work: () => Promise<Result>, patience?: Patience): Promise<Result>;
  /** How many wait. */
  length(): number;
  /** Whether nobody has a turn. */
  isIdle(): boolean;
}

function openLine(atOnce: number): Line {
  let running = 0;
  const waiting = new Set<() => void>();
  const wait = (patience?: Patience) =>
    new Promise<void>((resolve, reject) => {
      const come = () => {
        waiting.delete(come);
        clearTimeout(timer);
        resolve();
      };
      const leave = ({ refusal }: Patience) => {
        waiting.delete(come);
        reject(refusal());
      };
      const timer = patience && setTimeout(leave, patience.mostMs, patience);
      waiting.add(come);
    });
  return {
    async take(work, patience) {
      if (running < atOnce) running++;
      else await wait(patience);
      try {
        return await work();
      } finally {
        const [next] = waiting;
        // Whoever is next takes the place over; nobody comes in between.
        if (next === undefined) running--;
        else next();
      }
    },
    length: () => waiting.size,
    isIdle: () => running === 0,
  };
}

/** One line for everybody. */
export function createTurns(atOnce: number): TakeTurn {
  const line = openLine(atOnce);
  return (work) => line.take(work);
}

/** A line for each holder: one with much to do waits for itself, and not for the others. */
export function createTurnsEach<Holder>(
  atOnce: number,
): <Result>(holder: Holder, work: () => Promise<Result>) => Promise<Result> {
  const lines = new Map<Holder, Line>();
  return async (holder, work) => {
    const line = lines.get(holder) ?? openLine(atOnce);
    lines.set(holder, line);
    try {
      return await line.take(work);
    } finally {
      if (line.isIdle()) lines.delete(holder);
    }
  };
}

interface LineBounds {
  readonly atOnce: number;
  readonly mostWaiting: number;
  readonly mostWaitMs: number;
}

/** A line for questions to the database: it holds a burst of requests (contract, section 8). */
export const BURST: LineBounds = { atOnce: 2, mostWaiting: 200, mostWaitMs: 10_000 };

/** When a line is too long it needs some seconds to become shorter. */
const RETRY_AFTER_S = 5;

/**
 * A line for each workspace: one that asks for much waits for itself.
 * @param tooMany what whoever finds the line full, or waits too long, is told, by an ApiError RATE_LIMIT_EXCEEDED
 */
export function createWorkspaceTurns(
  { atOnce, mostWaiting, mostWaitMs }: LineBounds,
  tooMany: string,
): <Result>(workspaceId: WorkspaceId, work: () => Promise<Result>) => Promise<Result> {
  const lines = new Map<WorkspaceId, Line>();
  const headers = { "Retry-After": String(RETRY_AFTER_S) };
  const refusal = () => new ApiError("RATE_LIMIT_EXCEEDED", tooMany, { headers });
  return async (workspaceId, work) => {
    const line = lines.get(workspaceId) ?? openLine(atOnce);
    if (line.length() >= mostWaiting) throw refusal();
    lines.set(workspaceId, line);
    try {
      return await line.take(work, { mostMs: mostWaitMs, refusal });
    } finally {
      if (line.isIdle()) lines.delete(workspaceId);
    }
  };
}
