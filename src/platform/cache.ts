/** What is worth knowing for a while and no longer: maps whose entries end by themselves and whose size is bounded. */

/** Where there are too many entries, the one set longest ago goes. `now` is in milliseconds. */
export class ExpiringMap<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly until: number }>();
  readonly #most: number;
  readonly #now: () => number;

  constructor(most: number, now: () => number = () => performance.now()) {
    this.#most = most;
    this.#now = now;
  }

  /** How many have not ended. */
  get size(): number {
    return this.keys().length;
  }

  /** Of those that have not ended. */
  keys(): string[] {
    for (const key of this.#entries.keys()) this.get(key);
    return [...this.#entries.keys()];
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.until > this.#now()) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, ms: number): void {
    this.#entries.delete(key);
    const [oldest] = this.#entries.size >= this.#most ? this.#entries.keys() : [];
    if (oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, until: this.#now() + ms });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}

export interface Remembering<Value> {
  readonly ms: number;
  /** Answers kept at once. */
  readonly most: number;
  /** Which answers are worth keeping; by default all. */
  readonly isKept?: (answer: Value) => boolean;
  readonly now?: () => number;
}

/**
 * Answers to questions that are asked again and again. Whoever asks while an answer is on its way shares it; one that
 * fails, or is not worth keeping, is asked for anew the next time.
 */
export class Answers<Value> {
  readonly #kept: ExpiringMap<Promise<Value>>;
  readonly #ms: number;
  readonly #isKept: (answer: Value) => boolean;

  constructor({ ms, most, isKept = () => true, now }: Remembering<Value>) {
    this.#kept = new ExpiringMap(most, now);
    this.#ms = ms;
    this.#isKept = isKept;
  }

  get(question: string, find: () => Promise<Value>): Promise<Value> {
    const known = this.#kept.get(question);
    if (known !== undefined) return known;
    const answer = find();
    this.#kept.set(question, answer, this.#ms);
    const forget = () => {
      if (this.#kept.get(question) === answer) this.#kept.delete(question);
    };
    answer.then((found) => {
      if (!this.#isKept(found)) forget();
    }, forget);
    return answer;
  }

  clear(): void {
    this.#kept.clear();
  }
}
