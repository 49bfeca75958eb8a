import { randomInt } from "node:crypto";
import { getDomain } from "tldts";
import { createResolver } from "#dns/network-resolver.ts";
import type { Config } from "#platform/config/config.ts";
import type { SmtpFault } from "#smtp-client/outcome.ts";
import type { ProbeFinding } from "./finding.ts";
import { HostClient, type HostClientOptions } from "./host-client.ts";
import { ProbeDeadline } from "./probe-deadline.ts";
import { type ProviderRateLimit, sharedRateLimit } from "./provider-rate-limit.ts";
import { type ReplyResult, resultOfFault, unanswered } from "./reply-result.ts";
import type { BrokenSession, ProbeRecipients, ProbeSession } from "./smtp-session.ts";

const MOST_LOCALPARTS = 2;
const MOST_HOSTS = 5;
const RANDOM_LENGTH = 20;
const RANDOM_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const DNS = { timeoutMs: 5_000, tries: 4 };
/** The share of a probe's time in which a session must begin, so that some is left for its answers. */
const WAITING_SHARE = 2 / 3;
const STOPPING: SmtpFault = { fault: "closed", reason: "the service is stopping" };
const STOPPED = unanswered("stopped", STOPPING.reason);
const NO_HOST: BrokenSession = {
  outcome: "broken",
  stage: "connect",
  fault: { fault: "unreachable", reason: "the domain has no mail host" },
  tlsFailed: false,
};
const RATE_LIMITED = {
  outcome: "rate limited",
  reply: unanswered("rate_limited", "the rate limit for this mail provider left no time to ask"),
} as const;

export interface ProbeQuestion {
  /** In A-labels. */
  readonly domain: string;
  /** The names of its MX hosts in the order to try them; the domain itself if it has none. */
  readonly hosts: readonly string[];
  /** At most 2, as written before the @, quotes included. */
  readonly localparts: readonly string[];
  /** The source address to ask from; null leaves it to the operating system. */
  readonly localAddress: string | null;
  /** True omits the catch-all test. */
  readonly isCatchAllKnown: boolean;
}

export interface Prober {
  /**
   * One finding for each local part, in their order, within `deadlineMs` whatever the hosts do.
   * @throws RangeError for more than two local parts, and nothing else
   */
  probe(question: ProbeQuestion, deadlineMs: number): Promise<readonly ProbeFinding[]>;
  /** Ends all sessions; probes that wait get the result `stopped`. */
  close(): Promise<void>;
}

export interface ProberOptions extends Omit<HostClientOptions, "rateLimit"> {
  /** Default: the rate limit of this process. */
  readonly rateLimit?: ProviderRateLimit;
}

/**
 * The SMTP probe: asks a domain's mail hosts whether they would accept mail for an address, without sending any (RFC 5321
 * section 3.3 up to RCPT, never DATA). Sessions with one provider, and with one IP address, are rate limited. Connects to
 * no host before the first probe.
 */
export class SmtpProber implements Prober {
  readonly #port: number;
  readonly #rateLimit: ProviderRateLimit;
  readonly #client: HostClient;
  readonly #running = new Map<ProbeDeadline, Promise<unknown>>();
  #isClosed = false;

  constructor(options: ProberOptions) {
    const { port, rateLimit = sharedRateLimit } = options;
    this.#port = port;
    this.#rateLimit = rateLimit;
    this.#client = new HostClient({ ...options, rateLimit });
  }

  async probe(question: ProbeQuestion, deadlineMs: number): Promise<readonly ProbeFinding[]> {
    if (question.localparts.length > MOST_LOCALPARTS)
      throw new RangeError(`${question.localparts.length} local parts in one probe`);
    const startedAt = performance.now();
    const deadline = new ProbeDeadline(deadlineMs);
    if (this.#isClosed) deadline.expire(STOPPING);
    const asking = this.#askHosts(question, deadline);
    this.#running.set(deadline, asking);
    const { mxHost, result } = await asking.finally(() => {
      deadline.clear();
      this.#running.delete(deadline);
    });
    const isCatchAll = catchAllIn(result);
    const isStopped = deadline.fault === STOPPING;
    const durationMs = Math.round(performance.now() - startedAt);
    return repliesIn(result, question.localparts.length).map((reply) => ({
      ...(isStopped && reply.code === null ? STOPPED : reply),
      mxHost,
      port: this.#port,
      tls: (result.outcome === "answered" || result.outcome === "refused") && result.tls,
      durationMs,
      catchAllChecked: isCatchAll !== null,
      isCatchAll,
    }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const deadline of this.#running.keys()) deadline.expire(STOPPING);
    await Promise.allSettled(this.#running.values());
  }

  /** Asks the hosts in their order until one answers or refuses. */
  async #askHosts(question: ProbeQuestion, deadline: ProbeDeadline): Promise<HostResult> {
    const recipients = recipientsOf(question);
    const startDeadline = new ProbeDeadline(deadline.totalMs * WAITING_SHARE);
    const removeListener = deadline.onExpire((fault) => startDeadline.expire(fault));
    const limits = { deadline, startDeadline, localAddress: question.localAddress };
    let last: HostResult = { mxHost: null, result: NO_HOST };
    for (const mxHost of question.hosts.slice(0, MOST_HOSTS)) {
      const provider = getDomain(mxHost) ?? mxHost;
      const result = await this.#rateLimit.run(provider, startDeadline, () =>
        this.#client.ask(mxHost, recipients, limits),
      );
      // The result of an earlier host says more than the rate limit of this one.
      if (result !== undefined) last = { mxHost, result };
      else if (last.result === NO_HOST) last = { mxHost: null, result: RATE_LIMITED };
      if (last.result.outcome === "answered" || last.result.outcome === "refused") break;
      if (deadline.fault !== null) break;
    }
    removeListener();
    startDeadline.clear();
    return last;
  }
}

/** The prober of this installation; null unless it delivers mail itself, or when VALIDATION_PROBE is off. */
export function proberFor(config: Config): Prober | null {
  if (config.MAIL_MODE !== "direct" || config.VALIDATION_PROBE === "off") return null;
  return new SmtpProber({
    resolver: createResolver({ servers: config.DNS_SERVERS, ...DNS }),
    ehloName: config.MAIL_HOSTNAME,
    port: config.SMTP_PORT,
    allowPrivate: config.ALLOW_PRIVATE_MX,
  });
}

interface HostResult {
  readonly mxHost: string | null;
  readonly result: ProbeSession | typeof RATE_LIMITED;
}

function recipientsOf({ domain, localparts, isCatchAllKnown }: ProbeQuestion): ProbeRecipients {
  return {
    addresses: localparts.map((localpart) => `${localpart}@${domain}`),
    randomRecipient: isCatchAllKnown ? null : `${randomLocalpart()}@${domain}`,
  };
}

function randomLocalpart(): string {
  const characters = Array.from(
    { length: RANDOM_LENGTH },
    () => RANDOM_CHARACTERS[randomInt(RANDOM_CHARACTERS.length)],
  );
  return characters.join("");
}

/** Null when the random recipient was not asked about, or not clearly accepted or rejected. */
function catchAllIn(result: HostResult["result"]): boolean | null {
  const random = result.outcome === "answered" ? result.randomReply?.result : undefined;
  return random === "accepted" ? true : random === "rejected" ? false : null;
}

function repliesIn(result: HostResult["result"], count: number): readonly ReplyResult[] {
  if (result.outcome === "answered") return result.replies;
  const reply = result.outcome === "broken" ? resultOfFault(result.fault) : result.reply;
  return Array.from({ length: count }, () => reply);
}
