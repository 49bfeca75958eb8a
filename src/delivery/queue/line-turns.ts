/**
 * Which lines of the queue a lease takes messages from: some hundred at a time, one after the other in the order of the index,
 * so that a lease costs the same however many lines there are, and each line gets its turn.
 *
 * A round goes from the first line to the last one; while no more lines have something due than one lease takes, each lease is
 * a whole round. In longer rounds, lines that had more messages than a lease took get a share of the following leases too: room
 * that the others leave goes to them. Workers need no agreement: leased messages are not due for the others, so their rounds
 * drift apart.
 */

import type { Queryable } from "#platform/database/pool.ts";
import { lastId, type WorkspaceId } from "#platform/ids.ts";
import type { LeaseOrder, Line, LineStart } from "./lease-order.ts";
import type { LeasedLine } from "./lease-store.ts";
import { listOpenLines, type SeenLine } from "./open-lines-store.ts";

/** Lines of a turn, including those without due messages. A step takes some 10 µs. */
const MOST_SEEN = 1_000;
/** A workspace with more open lines has them served in the turns of several rounds. */
const MOST_OF_WORKSPACE = 100;
/** The positions given to one statement, which looks through them at each step. */
const MOST_KNOWN = 100;
/** Lines that get a share of each turn of a round. */
const MOST_LONG = 50;
/** Workspaces whose open lines are served in several rounds. After a further one the first begins anew. */
const MOST_RESUMED = 100;

/** The turns of one priority. */
export class LineTurns {
  /** The last line of the turn before; null: the next turn begins a round. */
  #last: Line | null = null;
  /** For workspaces with more open lines than a turn takes: the last one taken. */
  readonly #resumed = new Map<WorkspaceId, Line>();
  /** Lines that filled their share, the newest first. */
  #long: readonly Line[] = [];
  /** Open lines of this round and of the one before. */
  #open = 0;
  #openBefore = 0;

  /** Whether the round has further lines. */
  get isMidRound(): boolean {
    return this.#last !== null;
  }

  /**
   * The open lines of the next turn.
   *
   * @param starts in the order of lines
   * @throws the error of the database; then the turn is not over
   */
  async next(db: Queryable, order: LeaseOrder, starts: readonly LineStart[]): Promise<LeasedLine[]> {
    const after = this.#last;
    const startOf = new Map(starts.map((start) => [keyOf(start), start.starts_at]));
    const from = after === null ? "" : keyOf(after);
    const ahead = starts.filter((line) => keyOf(line) > from);
    const until = ahead.length > MOST_KNOWN ? (ahead[MOST_KNOWN - 1] ?? null) : null;
    const mostOpen = this.#mostOpen(order.limit);
    const seen = await listOpenLines(db, order, {
      after,
      until,
      mostSeen: MOST_SEEN,
      mostOpen,
      mostOfWorkspace: MOST_OF_WORKSPACE,
      resumed: [...this.#resumed.values()],
      known: ahead.slice(0, MOST_KNOWN),
      others: this.#long.map((line) => ({ ...line, starts_at: startOf.get(keyOf(line)) ?? null })),
    });
    const walked = seen.filter((line) => line.seen > 0).toSorted((a, b) => a.seen - b.seen);
    const open = walked.filter((line) => line.is_open);
    const last = walked.at(-1);
    const isAtEnd =
      until === null && (last === undefined || (last.seen < MOST_SEEN && open.length < mostOpen));
    this.#resume(after, walked, isAtEnd);
    this.#open += open.length;
    this.#last = isAtEnd || last === undefined ? null : endOf(last);
    if (isAtEnd) {
      this.#openBefore = this.#open;
      this.#open = 0;
    }
    const lines = new Map(
      [...open, ...seen.filter((line) => line.seen === 0)].map((line) => [keyOf(line), line]),
    );
    if (isAtEnd && after === null) this.#long = [];
    return shared([...lines.values()], order.limit, startOf);
  }

  /** Notes what a lease has taken. */
  taken(lines: readonly LeasedLine[], messages: readonly Line[]): void {
    if (!this.isMidRound && this.#long.length === 0) return;
    const counts = Map.groupBy(messages, keyOf);
    const long = lines.filter((line) => (counts.get(keyOf(line))?.length ?? 0) >= line.share);
    const isNew = new Set(long.map(keyOf));
    this.#long = [...long, ...this.#long.filter((line) => !isNew.has(keyOf(line)))].slice(0, MOST_LONG);
  }

  /** The turns of a round are of about the same size, so that the last one is not the best. */
  #mostOpen(limit: number): number {
    const turns = Math.max(1, Math.ceil(this.#openBefore / limit));
    return turns === 1 ? limit : Math.ceil(this.#openBefore / turns);
  }

  /** Notes which workspaces have further open lines, and which have not. */
  #resume(after: Line | null, walked: readonly SeenLine[], isAtEnd: boolean): void {
    const first = after?.workspace_id ?? "";
    const last = isAtEnd ? lastId : (walked.at(-1)?.workspace_id ?? first);
    for (const id of this.#resumed.keys()) if (id >= first && id < last) this.#resumed.delete(id);
    for (const line of walked) {
      if (line.open_of_workspace < MOST_OF_WORKSPACE) continue;
      this.#resumed.delete(line.workspace_id);
      this.#resumed.set(line.workspace_id, line);
    }
    for (const id of this.#resumed.keys()) if (this.#resumed.size > MOST_RESUMED) this.#resumed.delete(id);
  }
}

/** Where the next turn goes on: after the line, or after its workspace when that has had its part of the turn. */
function endOf({ workspace_id, campaign_id, open_of_workspace: open }: SeenLine): Line {
  return { workspace_id, campaign_id: open < MOST_OF_WORKSPACE ? campaign_id : lastId };
}

/** Each workspace gets an equal share of the batch, split over its lines. */
function shared(
  lines: readonly Line[],
  limit: number,
  startOf: ReadonlyMap<string, Date | null>,
): LeasedLine[] {
  const workspaces = Map.groupBy(lines, (line) => line.workspace_id);
  return [...workspaces.values()].flatMap((own) => {
    const share = Math.ceil(limit / workspaces.size / own.length);
    return own.map(({ workspace_id, campaign_id }) => {
      const line = { workspace_id, campaign_id };
      return { ...line, starts_at: startOf.get(keyOf(line)) ?? null, share };
    });
  });
}

/** Keys sort as the lines do in the index. */
export function keyOf({ workspace_id: workspaceId, campaign_id: campaignId }: Line): string {
  return `${workspaceId} ${campaignId}`;
}
