import type { AddressChecker } from "#hygiene/validations/address-checker.ts";
import { type Findings, malformed } from "#hygiene/validations/findings.ts";
import type { Clock } from "#platform/clock.ts";
import type { Limiter } from "#platform/concurrency.ts";
import type { FileAddress } from "./address-file.ts";

/** An address of the file with its findings. */
export interface CheckedAddress {
  readonly place: number;
  readonly address: FileAddress;
  readonly findings: Findings;
}

export interface CheckBatchDeps {
  readonly clock: Clock;
  readonly checker: AddressChecker;
  readonly takeTurn: Limiter;
}

/** The time of one probe, of which two thirds may be spent waiting for the rate limit. */
const DEADLINE_MS = 30_000;

/**
 * Checks the addresses of a batch: domains in parallel, the addresses of a domain together.
 * @returns in the order of the places
 * @throws the signal's reason
 */
export async function checkBatch(
  { clock, checker, takeTurn }: CheckBatchDeps,
  addresses: readonly FileAddress[],
  places: readonly number[],
  signal: AbortSignal,
): Promise<CheckedAddress[]> {
  const checked: CheckedAddress[] = [];
  const byDomain = new Map<string, { place: number; address: FileAddress; local: string }[]>();
  for (const place of places) {
    const address = addresses[place];
    if (address === undefined) throw new Error("a batch has a place beyond the end of the file");
    const { syntax } = address;
    if (!syntax.ok) checked.push({ place, address, findings: malformed(clock.now()) });
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
        const found = await checker.check(domain, locals, options);
        for (const [at, { place, address }] of asked.entries()) {
          const findings = found[at];
          if (findings === undefined) throw new Error("the checker returned too few findings");
          checked.push({ place, address, findings });
        }
      }),
    ),
  );
  return checked.sort((a, b) => a.place - b.place);
}
