/**
 * A DNS client with a limited number of look-ups at a time. Waiting for a slot does not count towards the deadline of a
 * look-up. Run it in a separate thread (look-up-thread.ts), so that a busy event loop does not delay reading answers.
 */
import { limits } from "#platform/limits/limits.ts";
import { AdaptiveLimit } from "./adaptive-limit.ts";
import { LookUp } from "./ask-in-rounds.ts";
import type { DnsReply, Question } from "./question-and-reply.ts";
import { serverKey, Upstreams } from "./upstreams.ts";

/** Look-ups whose servers do not answer (quiet ones) give up their slot, up to this number. */
const MOST_QUIET = 2_000;
/** Delay before a look-up that was refused (REFUSED, because of too many at a time) waits for a slot again. */
const REFUSED_MS = 500;
/** Sets of servers that are remembered while they are idle. */
const MOST_SETS = 1_000;

export class DnsClient {
  readonly #places: number;
  readonly #upstreams = new Upstreams();
  /** Ordered by their last use, the least recent first. */
  readonly #sets = new Map<string, ServerSet>();
  /** Sets with waiting look-ups. They take turns (round robin), one look-up each. */
  readonly #withWaiting = new Set<ServerSet>();
  /** Slots in use by all sets. */
  #busy = 0;
  readonly #quiet = new Set<LookUp>();

  constructor(places: number = limits.lookUpsUnderWay.most) {
    this.#places = places;
  }

  /** Never rejects. */
  ask(question: Question): Promise<DnsReply> {
    const { promise, resolve } = Promise.withResolvers<DnsReply>();
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
      // Moved to the end of the set that this loop iterates over, so it is visited again.
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
    // Authoritative servers answer REFUSED for zones they do not serve; that says nothing about the load.
    if (lookUp.question.isOfZone || !set.busy.has(lookUp) || !set.pace.slowDown(set.busy.size)) return false;
    this.#freePlace(set, lookUp);
    setTimeout(() => {
      if (!lookUp.isEnded) this.#wait(set, lookUp);
    }, REFUSED_MS);
    this.#beginMore();
    return true;
  }

  #leave(set: ServerSet, lookUp: LookUp, reply: DnsReply): void {
    if (reply.outcome !== "failed") set.pace.noteAnswer();
    this.#freePlace(set, lookUp);
    this.#quiet.delete(lookUp);
    set.waiting.delete(lookUp);
    const isVain = reply.outcome === "failed" && reply.isUnanswered && !reply.othersAnswered;
    // A look-up that was never begun has asked no server, so it says nothing about the servers.
    if (isVain && lookUp.isBegun) set.giveUpWaiting();
    this.#beginMore();
  }

  #setOf({ servers }: Question): ServerSet {
    const key = servers.map(serverKey).join();
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

/** The look-ups for one set of servers. */
class ServerSet {
  readonly pace: AdaptiveLimit;
  /** Under way, and neither answered nor quiet. */
  readonly busy = new Set<LookUp>();
  /** In order of arrival. */
  readonly waiting = new Set<LookUp>();

  constructor(places: number) {
    this.pace = new AdaptiveLimit(places);
  }

  get hasRoom(): boolean {
    return this.busy.size < this.pace.places;
  }

  get isIdle(): boolean {
    return this.busy.size === 0 && this.waiting.size === 0;
  }

  takeWaiting(): LookUp | undefined {
    const [first] = this.waiting;
    if (first !== undefined) this.waiting.delete(first);
    return first;
  }

  /** Fails all waiting look-ups, because the servers do not answer. */
  giveUpWaiting(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const lookUp of waiting) lookUp.giveUp();
  }
}
