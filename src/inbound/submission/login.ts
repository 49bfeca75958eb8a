/**
 * Logins on the submission port: the password is an API key. A wrong one is answered after the same time whatever was
 * wrong with it, and a network that keeps guessing is not listened to for a while.
 */

import { setTimeout as delay } from "node:timers/promises";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { ApiError } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type Authenticator, requirePermissions } from "#platform/http/authenticate.ts";
import { inTime } from "#platform/in-time.ts";
import type { Log } from "#platform/log/log.ts";

const PERMISSION = "emails:send";

const LIMITS = {
  /** When a wrong login is answered. */
  failedMs: 1_000,
  /** Wrong logins of one network, and for how long after the last of them nobody there is let in. */
  failures: 20,
  shutOutMs: 10 * 60_000,
  /** Logins at once, of all networks: those that wait for a refusal, but for an instant. */
  atOnce: 500,
};
const MOST_NETWORKS = 10_000;
/** A database that is frozen must not freeze a session with it. */
const LOOK_UP_MS = 4_000;

export interface Logins {
  /** @throws SmtpReply 535 or, where nothing was looked up, 454 */
  readonly login: (secret: string, network: string) => Promise<void>;
  /**
   * Whose key it is at this moment: a session may outlive the right to send.
   * @throws ApiError as the API does: UNAUTHORIZED, SERVICE_SUSPENDED, INSUFFICIENT_SCOPE
   */
  readonly callerOf: (secret: string) => Promise<Caller>;
}

export function createLogins(
  { authenticator, log }: { readonly authenticator: Authenticator; readonly log: Log },
  limits: Readonly<typeof LIMITS> = LIMITS,
): Logins {
  const failures = new ExpiringMap<number>(MOST_NETWORKS);
  let underWay = 0;

  const callerOf = async (secret: string): Promise<Caller> => {
    const caller = await inTime(LOOK_UP_MS, authenticator.authenticate(secret), notInTime);
    if (caller.isSuspended) throw new ApiError("SERVICE_SUSPENDED", "The workspace is suspended");
    requirePermissions(caller, [PERMISSION]);
    return caller;
  };

  return {
    callerOf,
    async login(secret, network) {
      const failed = failures.get(network) ?? 0;
      if (failed >= limits.failures || underWay >= limits.atOnce) {
        throw new SmtpReply(454, "4.7.0", "Too many logins failed: retry later");
      }
      const began = performance.now();
      underWay += 1;
      try {
        await callerOf(secret);
      } catch (cause) {
        if (!(cause instanceof ApiError)) {
          throw new SmtpReply(454, "4.7.0", "Keys cannot be checked at this moment: retry shortly", {
            cause,
          });
        }
        log.info({ network, reason: cause.message }, "a login on the submission port failed");
        failures.set(network, (failures.get(network) ?? 0) + 1, limits.shutOutMs);
        await delay(Math.max(0, began + limits.failedMs - performance.now()));
        throw new SmtpReply(535, "5.7.8", secret === "" ? "The password is an API key" : cause.message, {
          cause,
        });
      } finally {
        underWay -= 1;
      }
    },
  };
}

function notInTime(): Error {
  return new Error("the key was not looked up in time");
}
