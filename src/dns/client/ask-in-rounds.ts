/**
 * Asks servers in turn, in several rounds, until one answers. The answer to any packet is accepted until the deadline, even
 * if other servers have been asked since, so a slow server is not cut off.
 */
import type { DnsServer } from "#platform/dns-server-address.ts";
import type { DnsReply, Question } from "./question-and-reply.ts";
import { failedReply } from "./read-reply.ts";
import type { Upstreams } from "./upstreams.ts";

/** Time that the first round waits for each server's answer before the next server is asked. */
const FIRST_WAIT_MS = 750;
/** Each round waits longer than the one before by this factor. */
const GROWTH = 1.5;
/** A server that has answered with a failure this often is not asked again. */
const MOST_FAILURES = 2;

export interface LookUpEvents {
  onEnd(reply: DnsReply): void;
  /** The look-up continues without load on the servers: they do not answer, or it waits for the next round. */
  onQuiet(): void;
  /** Each server has answered REFUSED. @returns whether the look-up will be begun again later, because of high load */
  onRefused(): boolean;
}

export class LookUp {
  readonly question: Question;
  readonly #upstreams: Upstreams;
  readonly #events: LookUpEvents;
  /** From `performance.now()`; kept when the look-up is begun again. */
  #startedAt: number | null = null;
  /** The servers of all rounds, in order. */
  #plan: readonly DnsServer[] = [];
  #perRound = 1;
  #next = 0;
  readonly #failures = new Map<DnsServer, number>();
  #failure: string | null = null;
  #fault: string | null = null;
  /** A server has sent a truncated answer. */
  #isHeard = false;
  /** Cancels each packet that may still be answered. */
  readonly #unanswered = new Set<() => void>();
  #wait: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(question: Question, upstreams: Upstreams, events: LookUpEvents) {
    this.question = question;
    this.#upstreams = upstreams;
    this.#events = events;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  get isBegun(): boolean {
    return this.#startedAt !== null;
  }

  /** Begins, or begins again after `onRefused`. The deadline starts with the first call. */
  begin(): void {
    const round = this.#upstreams.inTurn(this.question.servers);
    this.#perRound = round.length;
    this.#next = 0;
    this.#plan = Array.from({ length: this.question.tries }, () => round).flat();
    if (this.#startedAt === null) {
      this.#startedAt = performance.now();
      // Answers that have already arrived are read first: if this thread was busy, the delay is not the servers' fault.
      this.#deadline = setTimeout(() => setImmediate(() => this.giveUp()), this.question.timeoutMs);
    }
    this.#send();
  }

  /** Ends with the failure that is known so far, or with ETIMEOUT. */
  giveUp(): void {
    const reason = this.#failure ?? this.#fault ?? "ETIMEOUT";
    const isUnanswered = this.#failure === null && !this.#isHeard;
    const othersAnswered =
      isUnanswered &&
      this.#startedAt !== null &&
      this.#upstreams.haveAnsweredSince(this.question.servers, this.#startedAt);
    this.#end({ ...failedReply(reason, isUnanswered), ...(othersAnswered && { othersAnswered }) });
  }

  #send(): void {
    const server = this.#takeNext();
    if (server === undefined) this.#endIfAllAnswered();
    else this.#ask(server, Math.floor((this.#next - 1) / this.#perRound));
  }

  /** The next server, without those that have failed MOST_FAILURES times. */
  #takeNext(): DnsServer | undefined {
    const next = this.#plan.findIndex((one, at) => at >= this.#next && !this.#hasFailed(one));
    this.#next = next === -1 ? this.#plan.length : next + 1;
    return this.#plan[next];
  }

  #hasFailed(server: DnsServer): boolean {
    return (this.#failures.get(server) ?? 0) >= MOST_FAILURES;
  }

  #ask(server: DnsServer, round: number): void {
    const upstream = this.#upstreams.of(server);
    let isAnswered = false;
    let end = () => {};
    const over = () => {
      isAnswered = true;
      this.#unanswered.delete(end);
    };
    this.#wait = setTimeout(() => {
      if (!isAnswered) upstream.noteSilence();
      this.#events.onQuiet();
      this.#send();
    }, this.#waitOf(round));
    end = upstream.ask(this.question, {
      onReply: (reply) => {
        over();
        if (reply.outcome !== "failed") return this.#end(reply);
        this.#failure = reply.reason;
        this.#failures.set(server, (this.#failures.get(server) ?? 0) + 1);
        this.#continue();
      },
      onTruncated: () => {
        isAnswered = true;
        this.#isHeard = true;
      },
      onFault: (code) => {
        over();
        this.#fault = code;
        this.#continue();
      },
    });
    this.#unanswered.add(end);
  }

  /** Asks the next server of the round at once. The next round begins only when the time of this one has passed. */
  #continue(): void {
    if (this.#next % this.#perRound !== 0) {
      clearTimeout(this.#wait);
      this.#send();
    } else if (this.#failure === "EREFUSED" && this.#events.onRefused()) {
      this.#withdraw();
    } else if (this.#isSettled) {
      this.#endIfAllAnswered();
    } else {
      this.#events.onQuiet();
    }
  }

  /** Whether no server will be asked again. */
  get #isSettled(): boolean {
    return this.#plan.slice(this.#next).every((one) => this.#hasFailed(one));
  }

  /** Stops, to be begun again later. The deadline still applies. */
  #withdraw(): void {
    this.#stopAsking();
    this.#failures.clear();
  }

  #stopAsking(): void {
    clearTimeout(this.#wait);
    for (const end of this.#unanswered) end();
    this.#unanswered.clear();
  }

  #endIfAllAnswered(): void {
    if (this.#unanswered.size === 0) this.giveUp();
  }

  #end(reply: DnsReply): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    this.#stopAsking();
    this.#events.onEnd(reply);
  }

  /** Shorter if the deadline would otherwise pass before each server was asked. */
  #waitOf(round: number): number {
    const turn = this.question.timeoutMs / (this.#perRound + 1);
    return Math.min(FIRST_WAIT_MS, turn) * GROWTH ** round;
  }
}
