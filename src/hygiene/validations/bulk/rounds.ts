/**
 * In which rounds a file is worked off. The first has all of its addresses, the next ones those that were put back, until
 * every address has had its turn; the last ones have those whose servers greylist. The same file with the same outcome
 * always comes to the same rounds, so that a job finds the round again in which it was.
 */
import type { FileAddress } from "./address-file.ts";
import type { DoneBatch } from "./store.ts";

export interface Round {
  /** The number of its first batch. */
  readonly first: number;
  /** Places in the file. */
  readonly batches: readonly (readonly number[])[];
  /** Whether a server that greylists now is not asked again. */
  readonly isLast: boolean;
  /** In milliseconds, as a clock's getTime(). */
  readonly notBefore: number;
  /** Places that wait for the last rounds, and when the last of them was asked about. */
  readonly greylisted: readonly number[];
  readonly greylistedAt: number;
}

export interface RoundPauses {
  /** Before a server that greylists is asked again. */
  readonly greylistPauseMs: number;
  /** Before those that had no turn are tried again. */
  readonly turnPauseMs: number;
}

export function firstRound(addresses: readonly FileAddress[]): Round {
  const batches = batchesOf(addresses, addresses.keys());
  return { first: 0, batches, isLast: false, notBefore: 0, greylisted: [], greylistedAt: 0 };
}

/**
 * @param done all batches of the round
 * @returns undefined when there is nobody left to ask about
 */
export function nextRound(
  addresses: readonly FileAddress[],
  round: Round,
  done: readonly DoneBatch[],
  { greylistPauseMs, turnPauseMs }: RoundPauses,
): Round | undefined {
  const first = round.first + round.batches.length;
  const asked = done.filter((batch) => batch.greylisted.length > 0);
  const greylisted = [...round.greylisted, ...asked.flatMap((batch) => batch.greylisted)];
  const greylistedAt = Math.max(round.greylistedAt, latest(asked));
  const putBack = done.flatMap((batch) => batch.put_back);
  if (putBack.length > 0) {
    const batches = batchesOf(addresses, inOrder(putBack));
    const notBefore = latest(done) + turnPauseMs;
    return { first, batches, isLast: round.isLast, notBefore, greylisted, greylistedAt };
  }
  if (greylisted.length === 0) return undefined;
  const batches = batchesOf(addresses, inOrder(greylisted));
  const notBefore = greylistedAt + greylistPauseMs;
  return { first, batches, isLast: true, notBefore, greylisted: [], greylistedAt };
}

/** When the last of them was done; 0 without any. */
function latest(batches: readonly DoneBatch[]): number {
  return batches.reduce((last, { done_at }) => Math.max(last, done_at.getTime()), 0);
}

function inOrder(places: readonly number[]): number[] {
  return places.toSorted((a, b) => a - b);
}

const BATCH_SIZE = 250;
/** Of one domain in a row, and in a batch. */
const RUN_SIZE = 20;

/** @param places in the file */
export function batchesOf(addresses: readonly FileAddress[], places: Iterable<number>): number[][] {
  const byDomain = Map.groupBy(places, (place) => domainAt(addresses, place));
  const runs = [...byDomain.values()].flatMap((ofDomain) =>
    slices(ofDomain, RUN_SIZE).map((run, row) => ({ row, run })),
  );
  // A row has one run of each domain that is left, and no batch has parts of two rows.
  const rows = Map.groupBy(runs, ({ row }) => row);
  return [...rows.values()].flatMap((ofRow) =>
    slices(
      ofRow.flatMap(({ run }) => run),
      BATCH_SIZE,
    ),
  );
}

function slices(places: readonly number[], size: number): number[][] {
  return Array.from({ length: Math.ceil(places.length / size) }, (_, at) =>
    places.slice(at * size, (at + 1) * size),
  );
}

/** Empty for what is no address. */
function domainAt(addresses: readonly FileAddress[], place: number): string {
  const syntax = addresses[place]?.syntax;
  return syntax?.ok ? syntax.domain : "";
}
