/**
 * The SMTP probe: whether a domain's mail hosts say that they would take mail for an address, without sending any
 * (RFC 5321 section 3.3 up to RCPT, never DATA). Conversations with one provider, and with one address, come one after
 * the other and at a modest pace (provider-turns.ts).
 */

import { randomInt } from "node:crypto";
import { getDomain } from "tldts";
import { createResolver } from "#dns/system.ts";
import type { Config } from "#platform/config/config.ts";
import type { SmtpFault } from "#smtp-client/outcome.ts";
import type { Asked, Asking, Broken, Refused } from "./conversation.ts";
import { CutOff } from "./cut-off.ts";
import type { ProbeFinding } from "./finding.ts";
import { type DoorOptions, HostDoor } from "./host-client.ts";
import { type ProviderTurns, turnsOfProcess } from "./provider-turns.ts";
import { unanswered, type Verdict, verdictOnSilence } from "./reply-result.ts";

const MOST_LOCALPARTS = 2;
const MOST_HOSTS = 5;
const STRANGER_LENGTH = 20;
const STRANGER_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const DNS = { timeoutMs: 5_000, tries: 4 };
/** The share of a probe's time in which its turns must come, so that some is left to ask in. */
const WAITING_SHARE = 2 / 3;
const STOPPING: SmtpFault = { fault: "closed", reason: "the service is stopping" };
const STOPPED = unanswered("stopped", STOPPING.reason);
const NO_HOST: Broken = {
  outcome: "broken",
  stage: "connect",
  fault: { fault: "unreachable", reason: "the domain has no mail host" },
  tlsFailed: false,
};
const NO_TURN = {
  outcome: "no turn",
  verdict: unanswered("no_turn", "our turn at this mail provider did not come in time"),
} as const;

export interface ProbeQuestion {
  /** In A-labels. */
  readonly domain: string;
  /** The names of its MX hosts in the order to try them; the domain itself where it has none. */
  readonly hosts: readonly string[];
  /** At most 2, as they stand in front of the @, quotes included. */
  readonly localparts: readonly string[];
  /** The source address to ask from; null leaves it to the machine. */
  readonly localAddress: string | null;
  /** True leaves out the catch-all test. */
  readonly isCatchAllKnown: boolean;
}

export interface Prober {
  /**
   * One finding for each local part, in their order, within `deadlineMs`, whatever the hosts do. Never rejects but on
   * a programmer's error: more than two local parts.
   */
  probe(question: ProbeQuestion, deadlineMs: number): Promise<readonly ProbeFinding[]>;
  /** Ends the conversations under way and answers whoever still waits. */
  close(): Promise<void>;
}

export interface ProberOptions extends Omit<DoorOptions, "turns"> {
  /** Default: what everybody in this process shares. */
  readonly turns?: ProviderTurns;
}

/** Nothing is connected before somebody asks. */
export function createProber(options: ProberOptions): Prober {
  const { port, turns = turnsOfProcess } = options;
  const door = new HostDoor({ ...options, turns });
  const underWay = new Map<CutOff, Promise<unknown>>();
  let isClosed = false;

  /** The next host only where this one could not be asked. */
  const askHosts = async (question: ProbeQuestion, cutOff: CutOff): Promise<Heard> => {
    const asking = askingOf(question);
    const { localAddress } = question;
    const lastCall = new CutOff(cutOff.deadlineMs * WAITING_SHARE);
    const stopListening = cutOff.listen((fault) => lastCall.come(fault));
    let heard: Heard = { mxHost: null, result: NO_HOST };
    for (const mxHost of question.hosts.slice(0, MOST_HOSTS)) {
      const provider = getDomain(mxHost) ?? mxHost;
      const result = await turns.take(provider, lastCall, () =>
        door.ask(mxHost, asking, { cutOff, lastCall, localAddress }),
      );
      // A host that was heard of before has had its turn.
      if (result !== undefined) heard = { mxHost, result };
      else if (heard.result === NO_HOST) heard = { mxHost: null, result: NO_TURN };
      if (heard.result.outcome === "asked" || heard.result.outcome === "refused") break;
      if (cutOff.fault !== null) break;
    }
    stopListening();
    lastCall.clear();
    return heard;
  };

  return {
    async probe(question, deadlineMs) {
      if (question.localparts.length > MOST_LOCALPARTS)
        throw new RangeError(`${question.localparts.length} local parts in one probe`);
      const begunAt = performance.now();
      const cutOff = new CutOff(deadlineMs);
      if (isClosed) cutOff.come(STOPPING);
      const asking = askHosts(question, cutOff);
      underWay.set(cutOff, asking);
      const { mxHost, result } = await asking.finally(() => {
        cutOff.clear();
        underWay.delete(cutOff);
      });
      const durationMs = Math.round(performance.now() - begunAt);
      const stranger = result.outcome === "asked" ? result.stranger?.result : undefined;
      const isCatchAll = stranger === "accepted" ? true : stranger === "rejected" ? false : null;
      const isStopped = cutOff.fault === STOPPING;
      return verdictsIn(result, question.localparts.length).map((verdict) => ({
        ...(isStopped && verdict.code === null ? STOPPED : verdict),
        mxHost,
        port,
        tls: (result.outcome === "asked" || result.outcome === "refused") && result.tls,
        durationMs,
        catchAllChecked: isCatchAll !== null,
        isCatchAll,
      }));
    },
    async close() {
      isClosed = true;
      for (const cutOff of underWay.keys()) cutOff.come(STOPPING);
      await Promise.allSettled(underWay.values());
    },
  };
}

/** The prober of this installation; null where it sends no mail of its own, or is told not to ask. */
export function proberFor(config: Config): Prober | null {
  if (config.MAIL_MODE !== "direct" || config.VALIDATION_PROBE === "off") return null;
  return createProber({
    resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS }),
    ehloName: config.MAIL_HOSTNAME,
    port: config.SMTP_PORT,
    allowPrivate: config.ALLOW_PRIVATE_MX,
  });
}

interface Heard {
  readonly mxHost: string | null;
  readonly result: Asked | Refused | Broken | typeof NO_TURN;
}

function askingOf({ domain, localparts, isCatchAllKnown }: ProbeQuestion): Asking {
  return {
    addresses: localparts.map((localpart) => `${localpart}@${domain}`),
    stranger: isCatchAllKnown ? null : `${randomLocalpart()}@${domain}`,
  };
}

function randomLocalpart(): string {
  const letters = Array.from(
    { length: STRANGER_LENGTH },
    () => STRANGER_LETTERS[randomInt(STRANGER_LETTERS.length)],
  );
  return letters.join("");
}

function verdictsIn(result: Heard["result"], count: number): readonly Verdict[] {
  if (result.outcome === "asked") return result.verdicts;
  const verdict = result.outcome === "broken" ? verdictOnSilence(result.fault) : result.verdict;
  return Array.from({ length: count }, () => verdict);
}
