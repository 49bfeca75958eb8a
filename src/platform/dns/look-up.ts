/**
 * One question to the servers in turn. Each round asks every server; an answer to any packet counts until the deadline,
 * so that a slow server is not cut off by what a fast one takes.
 */
import type { Question, Reply } from "./question.ts";
import { failure } from "./read-reply.ts";
import type { Upstream } from "./upstream.ts";

/** How long the first round waits for an answer before the next server, or the same one again, is asked. */
const FIRST_WAIT_MS = 750;
/** Each round waits longer than the one before it. */
const GROWTH = 1.5;
/** So many times a server may answer that it fails. */
const MOST_FAILURES = 2;
/** So many times a look-up begins anew because the servers refused to answer so many at one time. */
const MOST_REPEATS = 20;

export interface LookUpEvents {
  onEnd(reply: Reply): void;
  /** It goes on, but is no load any more: its servers are silent, or it waits for the next round. */
  onQuiet(): void;
  /** Each server has refused it. @returns whether it is begun anew later, because it was one of too many */
  onRefused(): boolean;
}

export class LookUp {
  readonly question: Question;
  /** By the clock of `performance.now()`. */
  startedAt = 0;
  readonly #events: LookUpEvents;
  /** The servers of all rounds. */
  #plan: readonly Upstream[] = [];
  #perRound = 1;
  #next = 0;
  #repeats = 0;
  readonly #failures = new Map<Upstream, number>();
  #failure: string | null = null;
  #fault: string | null = null;
  /** Ends the wait for each packet that may still be answered. */
  readonly #unanswered = new Set<() => void>();
  #wait: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #isEnded = false;

  constructor(question: Question, events: LookUpEvents) {
    this.question = question;
    this.#events = events;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  begin(upstreams: readonly Upstream[]): void {
    this.startedAt = performance.now();
    const inTurn = upstreams.filter((upstream) => upstream.takesItsTurn());
    const round = [...inTurn, ...upstreams.filter((upstream) => !inTurn.includes(upstream))];
    this.#perRound = round.length;
    this.#next = 0;
    this.#plan = Array.from({ length: this.question.tries }, () => round).flat();
    // What has arrived by now is read before the time counts as over: a thread that was kept waiting has no silent server.
    this.#deadline = setTimeout(() => setImmediate(() => this.#giveUp()), this.question.timeoutMs);
    this.#send();
  }

  /** Without having been begun: no server answers anything at present. */
  giveUpUnasked(): void {
    this.#giveUp();
  }

  #send(): void {
    const upstream = this.#takeNext();
    if (upstream === undefined) this.#endIfAllIsSaid();
    else this.#ask(upstream, Math.floor((this.#next - 1) / this.#perRound));
  }

  /** A server that has said twice that it fails is left out. */
  #takeNext(): Upstream | undefined {
    const next = this.#plan.findIndex((one, at) => at >= this.#next && !this.#hasFailed(one));
    this.#next = next === -1 ? this.#plan.length : next + 1;
    return this.#plan[next];
  }

  #hasFailed(upstream: Upstream): boolean {
    return (this.#failures.get(upstream) ?? 0) >= MOST_FAILURES;
  }

  #ask(upstream: Upstream, round: number): void {
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
        this.#failures.set(upstream, (this.#failures.get(upstream) ?? 0) + 1);
        this.#goOn();
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
    } else if (this.#failure === "EREFUSED" && this.#repeats < MOST_REPEATS && this.#events.onRefused()) {
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

  #withdraw(): void {
    this.#repeats += 1;
    this.#stop();
    this.#failures.clear();
    this.#failure = null;
    this.#fault = null;
  }

  #stop(): void {
    clearTimeout(this.#wait);
    clearTimeout(this.#deadline);
    for (const end of this.#unanswered) end();
    this.#unanswered.clear();
  }

  #endIfAllIsSaid(): void {
    if (this.#unanswered.size === 0) this.#giveUp();
  }

  #giveUp(): void {
    this.#end(failure(this.#failure ?? this.#fault ?? "ETIMEOUT", this.#failure === null));
  }

  #end(reply: Reply): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stop();
    this.#events.onEnd(reply);
  }

  /** Shorter where the deadline would leave a server without its turn. */
  #waitOf(round: number): number {
    const turn = this.question.timeoutMs / (this.#perRound + 1);
    return Math.min(FIRST_WAIT_MS, turn) * GROWTH ** round;
  }
}
