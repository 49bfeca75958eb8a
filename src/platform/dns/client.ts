/**
 * Look-ups over the network, a bounded number at a time; the others wait their turn, and the wait does not count towards
 * their deadlines. It belongs into a thread of its own (look-up-thread.ts), where nothing keeps it from reading answers.
 */
import { limits } from "../limits/limits.ts";
import { LookUp } from "./look-up.ts";
import { Pace } from "./pace.ts";
import type { Question, Reply, Server } from "./question.ts";
import { Upstream } from "./upstream.ts";

/** Look-ups whose servers are silent hold no place, up to so many. */
const MOST_QUIET = 2_000;
/** After this a look-up that was one of too many waits for a place again. */
const REFUSED_MS = 500;
/** What is known of a server that is not asked any more. */
const FORGOTTEN_MS = 60_000;

export class DnsClient {
  readonly #upstreams = new Map<string, Upstream>();
  readonly #pace: Pace;
  /** Begun, and either answered soon or quiet before long. */
  readonly #busy = new Set<LookUp>();
  readonly #quiet = new Set<LookUp>();
  /** In the order in which they came. */
  readonly #waiting = new Set<LookUp>();
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(places: number = limits.lookUpsUnderWay.most) {
    this.#pace = new Pace(places);
  }

  /** Never rejects. */
  ask(question: Question): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const lookUp: LookUp = new LookUp(question, {
      onQuiet: () => this.#fallQuiet(lookUp),
      onRefused: () => this.#heedRefusal(lookUp),
      onEnd: (reply) => {
        this.#leave(lookUp, reply);
        resolve(reply);
      },
    });
    this.#waiting.add(lookUp);
    this.#beginMore();
    return promise;
  }

  #beginMore(): void {
    for (const lookUp of this.#waiting) {
      if (this.#busy.size >= this.#pace.places) return;
      this.#waiting.delete(lookUp);
      this.#busy.add(lookUp);
      lookUp.begin(lookUp.question.servers.map((server) => this.#upstreamOf(server)));
    }
  }

  #fallQuiet(lookUp: LookUp): void {
    if (this.#quiet.size >= MOST_QUIET || !this.#busy.delete(lookUp)) return;
    this.#quiet.add(lookUp);
    this.#beginMore();
  }

  #heedRefusal(lookUp: LookUp): boolean {
    if (!this.#busy.has(lookUp) || !this.#pace.slowDown(this.#busy.size)) return false;
    this.#busy.delete(lookUp);
    setTimeout(() => {
      if (lookUp.isEnded) return;
      this.#waiting.add(lookUp);
      this.#beginMore();
    }, REFUSED_MS);
    return true;
  }

  #leave(lookUp: LookUp, reply: Reply): void {
    if (reply.outcome !== "failed") this.#pace.noteAnswer();
    this.#busy.delete(lookUp);
    this.#quiet.delete(lookUp);
    this.#waiting.delete(lookUp);
    if (reply.outcome !== "failed" || !reply.isUnanswered) this.#heardAt = performance.now();
    else if (this.#heardAt < lookUp.startedAt) this.#giveUpWaiting(lookUp.question);
    this.#beginMore();
  }

  /** While no server answers anything, waiting for a place is in vain. */
  #giveUpWaiting({ servers }: Question): void {
    const key = servers.map(keyOf).join();
    for (const waiting of this.#waiting) {
      if (waiting.question.servers.map(keyOf).join() === key) {
        this.#waiting.delete(waiting);
        waiting.giveUpUnasked();
      }
    }
  }

  #upstreamOf(server: Server): Upstream {
    const key = keyOf(server);
    const known = this.#upstreams.get(key);
    if (known !== undefined) return known;
    // Whether it was silent is remembered for a while longer than its sockets.
    const forget = () => {
      if (upstream.isIdle) this.#upstreams.delete(key);
    };
    const upstream: Upstream = new Upstream(server, () => setTimeout(forget, FORGOTTEN_MS).unref());
    this.#upstreams.set(key, upstream);
    return upstream;
  }
}

function keyOf({ host, port }: Server): string {
  return `${host} ${port}`;
}
