/** How large the installations of the benchmark are, and the disk space that they need. */

/** The rows of one installation. */
export interface Size {
  readonly workspaces: number;
  readonly people: number;
  /** Messages of the log that have ended. */
  readonly log: number;
  /** Messages in the delivery queue. */
  readonly waiting: number;
  /** Deliveries to webhooks that are due. */
  readonly deliveries: number;
}

const FULL: Size = {
  workspaces: 10_000,
  people: 10_000_000,
  log: 50_000_000,
  waiting: 1_000_000,
  deliveries: 200_000,
};

/** Bytes of the full size on disk: tables, indexes, what an index build sorts, and the database's log. */
const FULL_BYTES = 55e9;
/** What the smallest installation needs, too. */
const LEAST_BYTES = 4e9;

/** With fewer workspaces their limits would bound a lease. */
const LEAST_WORKSPACES = 50;

/** The given part of the full size. */
export function sizeOf(part: number): Size {
  const of = (rows: number) => Math.round(rows * part);
  return {
    workspaces: Math.max(LEAST_WORKSPACES, of(FULL.workspaces)),
    people: of(FULL.people),
    log: of(FULL.log),
    waiting: of(FULL.waiting),
    deliveries: of(FULL.deliveries),
  };
}

/** Bytes of free disk space that a run with this part of the full size needs. */
export function bytesOf(part: number): number {
  return LEAST_BYTES + FULL_BYTES * part;
}
