/**
 * Whose turn it is at a mailbox provider: one conversation at a time and so many a minute, whoever asks. A host that
 * is asked faster takes us for somebody who harvests addresses, and blocks our mail with us.
 */
import type { CutOff } from "./cut-off.ts";

const MINUTE_MS = 60_000;

export interface TurnLimits {
  /** Conversations begun with one provider in any minute. */
  readonly perMinute: number;
  /** Who may wait for one provider. */
  readonly mostWaiting: number;
  /** Providers about which something is remembered. */
  readonly mostProviders: number;
}

const STANDARD: TurnLimits = { perMinute: 60, mostWaiting: 200, mostProviders: 10_000 };

interface Provider {
  isBusy: boolean;
  /** When the conversations of the last minute began, by performance.now(). */
  begun: number[];
  /** In the order of their coming; each is called when its turn has come. */
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

export class ProviderTurns {
  readonly #limits: TurnLimits;
  readonly #providers = new Map<string, Provider>();
  #sweptAt = performance.now();

  constructor(limits: Partial<TurnLimits> = {}) {
    this.#limits = { ...STANDARD, ...limits };
  }

  /** How many providers are remembered. */
  get size(): number {
    return this.#providers.size;
  }

  /**
   * Does the work when its turn has come. Undefined when that does not happen before the cut-off, or too many
   * wait already.
   */
  async take<Result>(name: string, cutOff: CutOff, work: () => Promise<Result>): Promise<Result | undefined> {
    const provider = this.#find(name);
    if (provider === undefined || provider.waiting.size >= this.#limits.mostWaiting) return undefined;
    if (!(await this.#turn(provider, cutOff))) return undefined;
    try {
      return await work();
    } finally {
      provider.isBusy = false;
      this.#callNext(provider);
    }
  }

  #find(name: string): Provider | undefined {
    this.#sweep();
    const known = this.#providers.get(name);
    if (known !== undefined || this.#providers.size >= this.#limits.mostProviders) return known;
    const provider: Provider = { isBusy: false, begun: [], waiting: new Set(), timer: undefined };
    this.#providers.set(name, provider);
    return provider;
  }

  #turn(provider: Provider, cutOff: CutOff): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const call = () => resolve(true);
    provider.waiting.add(call);
    this.#callNext(provider);
    const leave = cutOff.listen(() => {
      if (provider.waiting.delete(call)) resolve(false);
    });
    return promise.finally(leave);
  }

  #callNext(provider: Provider): void {
    const [call] = provider.waiting;
    if (provider.isBusy || call === undefined) return;
    const now = performance.now();
    forgetOld(provider, now);
    const [oldest] = provider.begun;
    if (oldest !== undefined && provider.begun.length >= this.#limits.perMinute) {
      clearTimeout(provider.timer);
      // Whoever waits has a deadline of its own that keeps the process.
      provider.timer = setTimeout(
        () => this.#callNext(provider),
        Math.ceil(oldest + MINUTE_MS - now),
      ).unref();
      return;
    }
    provider.waiting.delete(call);
    provider.isBusy = true;
    provider.begun.push(now);
    call();
  }

  /** Once a minute, forgets the providers that nobody asked anything in the last one. */
  #sweep(): void {
    const now = performance.now();
    if (now - this.#sweptAt < MINUTE_MS) return;
    this.#sweptAt = now;
    for (const [name, provider] of this.#providers) {
      forgetOld(provider, now);
      if (!provider.isBusy && provider.waiting.size === 0 && provider.begun.length === 0)
        this.#providers.delete(name);
    }
  }
}

function forgetOld(provider: Provider, now: number): void {
  provider.begun = provider.begun.filter((at) => at > now - MINUTE_MS);
}

/** What everybody in this process shares. */
export const turnsOfProcess = new ProviderTurns();
