/** Finding out about the addresses of a batch: domains side by side, those of one domain together. */

import type { AddressChecker } from "#hygiene/validations/address-checker.ts";
import { type Findings, malformed } from "#hygiene/validations/findings.ts";
import type { Clock } from "#platform/clock.ts";
import type { Limiter } from "#platform/concurrency.ts";
import type { FileAddress } from "./address-file.ts";

/** An address of the file and what was found out. */
export interface CheckedAddress {
  readonly place: number;
  readonly address: FileAddress;
  readonly findings: Findings;
}

export interface CheckBatchDeps {
  readonly clock: Clock;
  readonly examiner: AddressChecker;
  readonly takeTurn: Limiter;
}

/** Of one conversation, two thirds of it to wait for its turn in; nobody waits for a single answer here. */
const DEADLINE_MS = 30_000;

/**
 * In the order of the places.
 * @throws the signal's reason
 */
export async function checkBatch(
  { clock, examiner, takeTurn }: CheckBatchDeps,
  addresses: readonly FileAddress[],
  places: readonly number[],
  signal: AbortSignal,
): Promise<CheckedAddress[]> {
  const examined: CheckedAddress[] = [];
  const byDomain = new Map<string, { place: number; address: FileAddress; local: string }[]>();
  for (const place of places) {
    const address = addresses[place];
    if (address === undefined) throw new Error("a batch has a place that the file has not");
    const { syntax } = address;
    if (!syntax.ok) examined.push({ place, address, findings: malformed(clock.now()) });
    else {
      const ofDomain = byDomain.get(syntax.domain) ?? [];
      ofDomain.push({ place, address, local: syntax.local });
      byDomain.set(syntax.domain, ofDomain);
    }
  }
  const options = { deadlineMs: DEADLINE_MS, localAddress: null, signal };
  await Promise.all(
    [...byDomain].map(([domain, asked]) =>
      takeTurn(async () => {
        signal.throwIfAborted();
        const locals = asked.map(({ local }) => local);
        const found = await examiner.examine(domain, locals, options);
        for (const [at, { place, address }] of asked.entries()) {
          const findings = found[at];
          if (findings === undefined) throw new Error("an address was examined without findings");
          examined.push({ place, address, findings });
        }
      }),
    ),
  );
  return examined.sort((a, b) => a.place - b.place);
}
