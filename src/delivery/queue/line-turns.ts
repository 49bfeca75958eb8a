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
import { lastId, nilId, type WorkspaceId } from "#platform/ids.ts";
import type { LeaseOrder, Line, LineStart } from "./lease-order.ts";
import type { LeasedLine } from "./lease-store.ts";
import { listOpenLines, type SeenLine } from "./open-lines-store.ts";

/** Lines of a turn, including those without due messages. A step takes some 10 µs. */
const MOST_SEEN = 1_000;
/** The messages that each line of a full turn gets. */
const SHARE = 2;
/** The part of a turn's lines that may be of one workspace; further ones are served in the next rounds. */
const WORKSPACE_PART = 0.25;
/** The positions given to one statement, which looks through them at each step. */
const MOST_KNOWN = 100;
/** Lines that may get a share of each turn of a round. */
const MOST_LONG = 50;
/** Workspaces whose open lines are served in several rounds. With a further one, the first of them begins again. */
const MOST_RESUMED = 100;

/** The turns of one priority. */
export class LineTurns {
  /** The last line of the turn before; null: the next turn begins a round. */
  #last: Line | null = null;
  /** For workspaces with more open lines than a turn takes: the last one taken. */
  readonly #resumed = new Map<WorkspaceId, Line>();
  /** Whether the turn was a whole round. */
  #isRound = false;
  /** Lines that filled their share, the last served at the end. */
  #long: readonly Line[] = [];
  /** Open lines of this round and of the one before. */
  #open = 0;
  #openBefore = 0;

  /** Whether the round goes on. */
  get isMidRound(): boolean {
    return this.#last !== null;
  }

  /** Whether workspaces have open lines that no turn of the last rounds has come to. */
  get hasFurther(): boolean {
    return this.#resumed.size > 0;
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
    const mostOfWorkspace = Math.max(2, Math.floor(mostOpen * WORKSPACE_PART));
    const seen = await listOpenLines(db, order, {
      after,
      until,
      mostSeen: MOST_SEEN,
      // With one more, the last turn of a round is known to be it.
      mostOpen: mostOpen + 1,
      mostOfWorkspace,
      resumed: [...this.#resumed.values()],
      known: ahead.slice(0, MOST_KNOWN),
      others: this.#long.map((line) => ({ ...line, starts_at: startOf.get(keyOf(line)) ?? null })),
    });
    const walked = seen.filter((line) => line.seen > 0).toSorted((a, b) => a.seen - b.seen);
    const found = walked.filter((line) => line.is_open);
    const open = found.slice(0, mostOpen);
    const last = found.length > mostOpen ? open.at(-1) : walked.at(-1);
    const isAtEnd =
      last === undefined || (until === null && last.seen < MOST_SEEN && found.length <= mostOpen);
    const hasMore = ({ open_of_workspace: count }: SeenLine) => count >= mostOfWorkspace;
    this.#resume(after?.workspace_id ?? nilId, isAtEnd ? lastId : last.workspace_id, open.filter(hasMore));
    this.#open += open.length;
    // A workspace that has had its part of the turn is passed.
    this.#last = isAtEnd ? null : { ...lineOf(last), ...(hasMore(last) && { campaign_id: lastId }) };
    if (isAtEnd) {
      this.#openBefore = this.#open;
      this.#open = 0;
    }
    this.#isRound = isAtEnd && after === null;
    if (this.#isRound) this.#long = [];
    const isTaken = new Set(open.map(keyOf));
    const others = seen.filter((line) => line.seen === 0 && !isTaken.has(keyOf(line)));
    return shared([...open, ...others.slice(0, mostOpen - open.length)], order.limit, startOf);
  }

  /** Notes what a lease has taken. */
  taken(lines: readonly LeasedLine[], messages: readonly Line[]): void {
    if (this.#isRound) return;
    const counts = Map.groupBy(messages, keyOf);
    const long = lines.filter((line) => (counts.get(keyOf(line))?.length ?? 0) >= line.share);
    const isNew = new Set(long.map(keyOf));
    this.#long = [...this.#long.filter((line) => !isNew.has(keyOf(line))), ...long].slice(-MOST_LONG);
  }

  /** The turns of a round have about as many lines each, so that those of the last one do not get more messages. */
  #mostOpen(limit: number): number {
    const most = Math.ceil(limit / SHARE);
    const turns = Math.max(1, Math.ceil(this.#openBefore / most));
    return turns === 1 ? most : Math.ceil(this.#openBefore / turns);
  }

  /** Notes the workspaces with further open lines, of those from `first` to before `end`. */
  #resume(first: string, end: string, lasts: readonly Line[]): void {
    for (const id of this.#resumed.keys()) if (id >= first && id < end) this.#resumed.delete(id);
    for (const line of lasts) {
      this.#resumed.delete(line.workspace_id);
      this.#resumed.set(line.workspace_id, line);
    }
    for (const id of this.#resumed.keys()) if (this.#resumed.size > MOST_RESUMED) this.#resumed.delete(id);
  }
}

function lineOf({ workspace_id, campaign_id }: Line): Line {
  return { workspace_id, campaign_id };
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
    return own.map((line) => ({ ...lineOf(line), starts_at: startOf.get(keyOf(line)) ?? null, share }));
  });
}

/** Keys sort as the lines do in the index. */
export function keyOf({ workspace_id: workspaceId, campaign_id: campaignId }: Line): string {
  return `${workspaceId} ${campaignId}`;
}
