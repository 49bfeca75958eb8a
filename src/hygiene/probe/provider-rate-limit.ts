import { MINUTE_MS } from "#platform/time-units.ts";
import type { ProbeDeadline } from "./probe-deadline.ts";

export interface RateLimits {
  /** Sessions begun with one provider within any minute. */
  readonly perMinute: number;
  /** Probes that may wait for one provider. */
  readonly mostWaiting: number;
  /** Providers whose sessions are counted. */
  readonly mostProviders: number;
}

const STANDARD: RateLimits = { perMinute: 60, mostWaiting: 200, mostProviders: 10_000 };

interface Provider {
  isBusy: boolean;
  /** When the sessions of the last minute began, by performance.now(). */
  begun: number[];
  /** In the order of arrival; each is called when its session may begin. */
  readonly waiting: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Limits probes of one mailbox provider: one session at a time, and a number of sessions per minute. A provider that
 * gets more questions takes this service for an address harvester and blocks its mail.
 */
export class ProviderRateLimit {
  readonly #limits: RateLimits;
  readonly #providers = new Map<string, Provider>();
  #sweptAt = performance.now();

  constructor(limits: Partial<RateLimits> = {}) {
    this.#limits = { ...STANDARD, ...limits };
  }

  /** The number of providers whose sessions are counted. */
  get size(): number {
    return this.#providers.size;
  }

  /**
   * Runs the session when the limit allows it. Undefined when that is not before the deadline, or too many probes wait.
   * @param name the provider
   */
  async run<Result>(
    name: string,
    deadline: ProbeDeadline,
    session: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const provider = this.#find(name);
    if (provider === undefined || provider.waiting.size >= this.#limits.mostWaiting) return undefined;
    if (!(await this.#waitFor(provider, deadline))) return undefined;
    try {
      return await session();
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

  #waitFor(provider: Provider, deadline: ProbeDeadline): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const call = () => resolve(true);
    provider.waiting.add(call);
    this.#callNext(provider);
    const removeListener = deadline.onExpire(() => {
      if (provider.waiting.delete(call)) resolve(false);
    });
    return promise.finally(removeListener);
  }

  #callNext(provider: Provider): void {
    const [call] = provider.waiting;
    if (provider.isBusy || call === undefined) return;
    const now = performance.now();
    forgetOld(provider, now);
    const [oldest] = provider.begun;
    if (oldest !== undefined && provider.begun.length >= this.#limits.perMinute) {
      clearTimeout(provider.timer);
      // The deadlines of the waiting probes keep the process running.
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

  /** Removes, once a minute, the providers without a session in the last minute. */
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

/** The rate limit of this process. */
export const sharedRateLimit = new ProviderRateLimit();
