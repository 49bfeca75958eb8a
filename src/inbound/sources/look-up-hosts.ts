/**
 * Looks up the host names of sources of mail in the background. A name counts only if it leads back to the address: the
 * owner of an address may give it any name, such as one of a bank.
 */
import { isIP } from "node:net";
import type { NetworkResolver } from "#dns/network-resolver.ts";
import { isOwnSilence } from "#dns/own-silence.ts";
import { reverseName } from "#mail/dns/reverse-name.ts";
import type { Clock } from "#platform/clock.ts";
import { createLimiter } from "#platform/concurrency.ts";
import type { Database } from "#platform/database/pool.ts";
import { PutBack } from "#platform/jobs/attempt.ts";
import type { Recurring } from "#platform/jobs/schedule.ts";
import { SilentRounds } from "#platform/jobs/silent-rounds.ts";
import { isPublicAddress } from "#platform/network/public-address.ts";
import { DAY_MS, MINUTE_MS } from "#platform/time-units.ts";
import { type FoundHost, listDueSources, saveSourceHosts } from "./store.ts";

const SECONDS = 300;
const BATCH = 200;
const CONCURRENT = 10;
/** Names of one address that are tried. */
const MOST_NAMES = 3;
/** RFC 1035 section 3.1. */
const LONGEST_NAME = 253;
const AGAIN_MS = 30 * DAY_MS;
const AFTER_FAULT_MS = DAY_MS;
const AFTER_SILENCE_MS = 15 * MINUTE_MS;

export type HostResolver = Pick<NetworkResolver, "ptr" | "ipv4" | "ipv6">;

interface HostLookUp {
  readonly db: Database;
  readonly clock: Clock;
  readonly resolver: HostResolver;
}

export function lookUpSourceHosts({ db, clock, resolver }: HostLookUp): Recurring {
  const silentRounds = new SilentRounds();
  return {
    name: "look-up-source-hosts",
    seconds: SECONDS,
    async run({ signal }) {
      const now = clock.now();
      const seenSince = new Date(now.getTime() - AGAIN_MS);
      const due = await listDueSources(db, { now, seenSince, most: BATCH });
      const limit = createLimiter(CONCURRENT);
      let isAnswered = false;
      const found = due.map((ip) =>
        limit(async (): Promise<FoundHost[]> => {
          if (signal.aborted) return [];
          const host = await findHost(resolver, ip);
          isAnswered ||= host !== "our servers are silent";
          return [foundHostOf(ip, host, now)];
        }),
      );
      const all = (await Promise.all(found)).flat();
      if (all.length > 0 && !isAnswered) throw silentRounds.noteSilence();
      silentRounds.noteAnswer();
      await saveSourceHosts(db, all);
      if (due.length === BATCH && !signal.aborted) throw new PutBack();
    },
  };
}

/**
 * The name of an address that leads back to it, and null if there is none; otherwise whose name servers gave no answer, so
 * that this is unknown.
 */
type HostAnswer = { readonly name: string | null } | "no answer" | "our servers are silent";

function foundHostOf(ip: string, answer: HostAnswer, now: Date): FoundHost {
  const after = (milliseconds: number) => new Date(now.getTime() + milliseconds);
  if (answer === "no answer") return { ip, host: undefined, dueAt: after(AFTER_FAULT_MS) };
  if (answer === "our servers are silent") return { ip, host: undefined, dueAt: after(AFTER_SILENCE_MS) };
  return { ip, host: answer.name, dueAt: after(AGAIN_MS) };
}

async function findHost(resolver: HostResolver, ip: string): Promise<HostAnswer> {
  // A forged report must not show the names of the operator's own network.
  if (!isPublicAddress(ip)) return { name: null };
  const names = await resolver.ptr(reverseName(ip));
  if (names.outcome === "failed") return isOwnSilence(names) ? "our servers are silent" : "no answer";
  if (names.outcome === "absent") return { name: null };
  let isUnknown = false;
  for (const name of names.records.slice(0, MOST_NAMES)) {
    if (name.length > LONGEST_NAME || !/^[a-z0-9._-]+$/i.test(name)) continue;
    const addresses = await (isIP(ip) === 4 ? resolver.ipv4(name) : resolver.ipv6(name));
    if (isOwnSilence(addresses)) return "our servers are silent";
    if (addresses.outcome === "failed") isUnknown = true;
    if (addresses.outcome !== "found") continue;
    if (addresses.records.some((address) => reverseName(address) === reverseName(ip)))
      return { name: name.toLowerCase() };
  }
  return isUnknown ? "no answer" : { name: null };
}
