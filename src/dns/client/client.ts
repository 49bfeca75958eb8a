/**
 * Look-ups over the network, a bounded number at a time; the others wait their turn, and the wait does not count towards
 * their deadlines. It belongs into a thread of its own (look-up-thread.ts), where nothing keeps it from reading answers.
 */
import { limits } from "#platform/limits/limits.ts";
import { LookUp } from "./look-up.ts";
import type { Question, Reply } from "./question.ts";
import { ServerSet } from "./server-set.ts";
import { keyOf, Upstreams } from "./upstreams.ts";

/** Look-ups whose servers are silent hold no place, up to so many. */
const MOST_QUIET = 2_000;
/** After this a look-up that was one of too many waits for a place again. */
const REFUSED_MS = 500;
/** More sets of servers are known only while they are being asked. */
const MOST_SETS = 1_000;

export class DnsClient {
  readonly #places: number;
  readonly #upstreams = new Upstreams();
  /** The one asked longest ago comes first. */
  readonly #sets = new Map<string, ServerSet>();
  /** Sets with look-ups that wait, in turn: each begins one before the first begins its next. */
  readonly #withWaiting = new Set<ServerSet>();
  /** Of all sets. */
  #busy = 0;
  readonly #quiet = new Set<LookUp>();

  constructor(places: number = limits.lookUpsUnderWay.most) {
    this.#places = places;
  }

  /** Never rejects. */
  ask(question: Question): Promise<Reply> {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const set = this.#setOf(question);
    const lookUp: LookUp = new LookUp(question, this.#upstreams, {
      onQuiet: () => this.#fallQuiet(set, lookUp),
      onRefused: () => this.#heedRefusal(set, lookUp),
      onEnd: (reply) => {
        this.#leave(set, lookUp, reply);
        resolve(reply);
      },
    });
    this.#wait(set, lookUp);
    return promise;
  }

  #wait(set: ServerSet, lookUp: LookUp): void {
    set.waiting.add(lookUp);
    this.#withWaiting.add(set);
    this.#beginMore();
  }

  #beginMore(): void {
    for (const set of this.#withWaiting) {
      if (this.#busy >= this.#places) return;
      if (set.waiting.size > 0 && !set.hasRoom) continue;
      this.#withWaiting.delete(set);
      const lookUp = set.takeWaiting();
      if (lookUp === undefined) continue;
      // At the end, where this loop comes by again.
      if (set.waiting.size > 0) this.#withWaiting.add(set);
      set.busy.add(lookUp);
      this.#busy += 1;
      lookUp.begin();
    }
  }

  #freePlace(set: ServerSet, lookUp: LookUp): boolean {
    const hadPlace = set.busy.delete(lookUp);
    if (hadPlace) this.#busy -= 1;
    return hadPlace;
  }

  #fallQuiet(set: ServerSet, lookUp: LookUp): void {
    if (this.#quiet.size >= MOST_QUIET || !this.#freePlace(set, lookUp)) return;
    this.#quiet.add(lookUp);
    this.#beginMore();
  }

  #heedRefusal(set: ServerSet, lookUp: LookUp): boolean {
    // The servers of a zone refuse what they do not serve, however few the questions are.
    if (lookUp.question.isOfZone || !set.busy.has(lookUp) || !set.pace.slowDown(set.busy.size)) return false;
    this.#freePlace(set, lookUp);
    setTimeout(() => {
      if (!lookUp.isEnded) this.#wait(set, lookUp);
    }, REFUSED_MS);
    this.#beginMore();
    return true;
  }

  #leave(set: ServerSet, lookUp: LookUp, reply: Reply): void {
    if (reply.outcome !== "failed") set.pace.noteAnswer();
    this.#freePlace(set, lookUp);
    this.#quiet.delete(lookUp);
    set.waiting.delete(lookUp);
    const isVain = reply.outcome === "failed" && reply.isUnanswered && !reply.othersAnswered;
    // One that was never begun has asked no server, and says nothing about them.
    if (isVain && lookUp.isBegun) set.giveUpWaiting();
    this.#beginMore();
  }

  #setOf({ servers }: Question): ServerSet {
    const key = servers.map(keyOf).join();
    const set = this.#sets.get(key) ?? new ServerSet(this.#places);
    this.#sets.delete(key);
    if (this.#sets.size >= MOST_SETS) this.#forgetOldest();
    this.#sets.set(key, set);
    return set;
  }

  #forgetOldest(): void {
    for (const [key, set] of this.#sets) {
      if (set.isIdle) {
        this.#sets.delete(key);
        return;
      }
    }
  }
}
