/**
 * In which order a file is worked off. Addresses of one domain stand together, so that it is looked up once and its
 * server is asked about several of them in a row; but only some of a domain at a time, so that a large one, whose server
 * may be asked once a second, does not keep the others waiting, nor the batch open. The same places of a file always
 * come to the same batches.
 */
import type { FileAddress } from "./address-file.ts";

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
