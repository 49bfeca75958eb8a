/**
 * Divides a file into rounds of batches. The first round has all addresses, further ones those that were put back; the last
 * rounds have the addresses whose servers greylist. The same file and the same results always give the same rounds, so that
 * a job that is continued finds its round again. A place is the index of an address in the file.
 */
import type { FileAddress } from "./address-file.ts";
import type { DoneBatch } from "./store.ts";

export interface Round {
  /** The number of its first batch. */
  readonly first: number;
  /** Places in the file. */
  readonly batches: readonly (readonly number[])[];
  /** Addresses that are greylisted in this round are not retried. */
  readonly isLast: boolean;
  /** The earliest begin, in epoch milliseconds. */
  readonly notBefore: number;
  /** Places for the last rounds. */
  readonly greylisted: readonly number[];
  /** When the last of them was asked about, in epoch milliseconds. */
  readonly greylistedAt: number;
}

export interface RoundPauses {
  /** The pause before a server that greylists is asked again. */
  readonly greylistPauseMs: number;
  /** The pause before addresses that were put back are retried. */
  readonly retryPauseMs: number;
}

export function firstRound(addresses: readonly FileAddress[]): Round {
  const batches = batchesOf(addresses, addresses.keys());
  return { first: 0, batches, isLast: false, notBefore: 0, greylisted: [], greylistedAt: 0 };
}

/**
 * @param done all batches of the round
 * @returns undefined when every address has its result
 */
export function nextRound(
  addresses: readonly FileAddress[],
  round: Round,
  done: readonly DoneBatch[],
  { greylistPauseMs, retryPauseMs }: RoundPauses,
): Round | undefined {
  const first = round.first + round.batches.length;
  const asked = done.filter((batch) => batch.greylisted.length > 0);
  const greylisted = [...round.greylisted, ...asked.flatMap((batch) => batch.greylisted)];
  const greylistedAt = Math.max(round.greylistedAt, latest(asked));
  const putBack = done.flatMap((batch) => batch.put_back);
  if (putBack.length > 0) {
    const batches = batchesOf(addresses, inOrder(putBack));
    const notBefore = latest(done) + retryPauseMs;
    return { first, batches, isLast: round.isLast, notBefore, greylisted, greylistedAt };
  }
  if (greylisted.length === 0) return undefined;
  const batches = batchesOf(addresses, inOrder(greylisted));
  const notBefore = greylistedAt + greylistPauseMs;
  return { first, batches, isLast: true, notBefore, greylisted: [], greylistedAt };
}

/** When the last of the batches was done; 0 without batches. */
function latest(batches: readonly DoneBatch[]): number {
  return batches.reduce((last, { done_at }) => Math.max(last, done_at.getTime()), 0);
}

function inOrder(places: readonly number[]): number[] {
  return places.toSorted((a, b) => a - b);
}

const BATCH_SIZE = 250;
/** Addresses of one domain in a batch. */
const RUN_SIZE = 20;

/**
 * Divides places into batches. Addresses of one domain are together, so that it is looked up once and its server is asked
 * about several of them in a row. A batch has at most RUN_SIZE addresses of a domain: a large domain, whose server may be
 * asked once a second, must delay neither the other domains nor the end of the batch. The same places always give the same
 * batches.
 */
export function batchesOf(addresses: readonly FileAddress[], places: Iterable<number>): number[][] {
  const byDomain = Map.groupBy(places, (place) => domainAt(addresses, place));
  const runs = [...byDomain.values()].flatMap((ofDomain) =>
    slices(ofDomain, RUN_SIZE).map((run, row) => ({ row, run })),
  );
  // A row has one run of each domain that has addresses left. No batch has runs of two rows.
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

/** Empty for a text that is not an address. */
function domainAt(addresses: readonly FileAddress[], place: number): string {
  const syntax = addresses[place]?.syntax;
  return syntax?.ok ? syntax.domain : "";
}
