/**
 * One question to the servers in turn. Each round asks every server; an answer to any packet counts until the deadline,
 * so that a slow server is not cut off by what a fast one takes.
 */
import type { Question, Reply, Server } from "./question.ts";
import { failure } from "./read-reply.ts";
import type { Upstreams } from "./upstreams.ts";

/** How long the first round waits for an answer before the next server, or the same one again, is asked. */
const FIRST_WAIT_MS = 750;
/** Each round waits longer than the one before it. */
const GROWTH = 1.5;
/** So many times a server may answer that it fails. */
const MOST_FAILURES = 2;

export interface LookUpEvents {
  onEnd(reply: Reply): void;
  /** It goes on, but is no load any more: its servers are silent, or it waits for the next round. */
  onQuiet(): void;
  /** Each server has refused it. @returns whether it is begun anew later, because it was one of too many */
  onRefused(): boolean;
}

export class LookUp {
  readonly question: Question;
  readonly #upstreams: Upstreams;
  readonly #events: LookUpEvents;
  /** By the clock of `performance.now()`; it stays where the look-up begins anew. */
  #startedAt: number | null = null;
  /** The servers of all rounds. */
  #plan: readonly Server[] = [];
  #perRound = 1;
  #next = 0;
  readonly #failures = new Map<Server, number>();
  #failure: string | null = null;
  #fault: string | null = null;
  /** A server has answered that its answer is too long for a packet. */
  #isHeard = false;
  /** Ends the wait for each packet that may still be answered. */
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

  /** For the first time, or anew after a refusal: the deadline is that of the first time. */
  begin(): void {
    const round = this.#upstreams.inTurn(this.question.servers);
    this.#perRound = round.length;
    this.#next = 0;
    this.#plan = Array.from({ length: this.question.tries }, () => round).flat();
    if (this.#startedAt === null) {
      this.#startedAt = performance.now();
      // What has arrived by now is read before the time counts as over: a thread that was kept waiting has no silent server.
      this.#deadline = setTimeout(() => setImmediate(() => this.giveUp()), this.question.timeoutMs);
    }
    this.#send();
  }

  /** Ends with what is known by now. */
  giveUp(): void {
    const reason = this.#failure ?? this.#fault ?? "ETIMEOUT";
    const isUnanswered = this.#failure === null && !this.#isHeard;
    const othersAnswered =
      isUnanswered &&
      this.#startedAt !== null &&
      this.#upstreams.haveAnsweredSince(this.question.servers, this.#startedAt);
    this.#end({ ...failure(reason, isUnanswered), ...(othersAnswered && { othersAnswered }) });
  }

  #send(): void {
    const server = this.#takeNext();
    if (server === undefined) this.#endIfAllIsSaid();
    else this.#ask(server, Math.floor((this.#next - 1) / this.#perRound));
  }

  /** A server that has said twice that it fails is left out. */
  #takeNext(): Server | undefined {
    const next = this.#plan.findIndex((one, at) => at >= this.#next && !this.#hasFailed(one));
    this.#next = next === -1 ? this.#plan.length : next + 1;
    return this.#plan[next];
  }

  #hasFailed(server: Server): boolean {
    return (this.#failures.get(server) ?? 0) >= MOST_FAILURES;
  }

  #ask(server: Server, round: number): void {
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
        this.#goOn();
      },
      onTruncated: () => {
        isAnswered = true;
        this.#isHeard = true;
      },
      onFault: (code) => {
        over();
        this.#fault = code;
        this.#goOn();
      },
    });
    this.#unanswered.add(end);
  }

  /** To the next server of the round at once; the next round begins when this one has had its time. */
  #goOn(): void {
    if (this.#next % this.#perRound !== 0) {
      clearTimeout(this.#wait);
      this.#send();
    } else if (this.#failure === "EREFUSED" && this.#events.onRefused()) {
      this.#withdraw();
    } else if (this.#isSettled) {
      this.#endIfAllIsSaid();
    } else {
      this.#events.onQuiet();
    }
  }

  /** Whether no server would be asked again. */
  get #isSettled(): boolean {
    return this.#plan.slice(this.#next).every((one) => this.#hasFailed(one));
  }

  /** The deadline goes on. */
  #withdraw(): void {
    this.#stopAsking();
    this.#failures.clear();
  }

  #stopAsking(): void {
    clearTimeout(this.#wait);
    for (const end of this.#unanswered) end();
    this.#unanswered.clear();
  }

  #endIfAllIsSaid(): void {
    if (this.#unanswered.size === 0) this.giveUp();
  }

  #end(reply: Reply): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    this.#stopAsking();
    this.#events.onEnd(reply);
  }

  /** Shorter where the deadline would leave a server without its turn. */
  #waitOf(round: number): number {
    const turn = this.question.timeoutMs / (this.#perRound + 1);
    return Math.min(FIRST_WAIT_MS, turn) * GROWTH ** round;
  }
}
