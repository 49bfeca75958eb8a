import { setTimeout as delay } from "node:timers/promises";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { ExpiringMap } from "#platform/cache.ts";
import { ApiError } from "#platform/errors.ts";
import type { Caller } from "#platform/http/auth/caller.ts";
import { type KeyAuthenticator, requirePermissions } from "#platform/http/authenticate.ts";
import { inTime } from "#platform/in-time.ts";
import type { Log } from "#platform/log/log.ts";

const PERMISSION = "emails:send";

const LIMITS = {
  /** The time after which a failed login is answered, whatever was wrong. */
  failedMs: 1_000,
  /** Failed logins of one network after which all of its logins are refused. */
  failures: 20,
  /** How long they are refused after the last failure. */
  shutOutMs: 10 * 60_000,
  /** Logins at a time, of all networks; nearly all of them are failed ones waiting for their answer. */
  atOnce: 500,
};
const MOST_NETWORKS = 10_000;
/** A frozen database must not block the session. */
const LOOK_UP_MS = 4_000;

export interface Logins {
  /** @throws SmtpReply 535, or 454 when the key was not looked up */
  readonly login: (secret: string, network: string) => Promise<void>;
  /**
   * The caller of a key. Asked again for each message, because the right to send may end during a session.
   * @throws ApiError as the API does: UNAUTHORIZED, SERVICE_SUSPENDED, INSUFFICIENT_SCOPE
   */
  readonly callerOf: (secret: string) => Promise<Caller>;
}

/**
 * Logins on the submission port: the password is an API key. A failed login is answered after a fixed time, and a network
 * with too many failures is refused for a while.
 */
export function createLogins(
  { authenticator, log }: { readonly authenticator: KeyAuthenticator; readonly log: Log },
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
          throw new SmtpReply(454, "4.7.0", "Keys cannot be checked right now: retry shortly", {
            cause,
          });
        }
        log.info({ network, reason: cause.message }, "SMTP login failed");
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
  return new Error("key look-up timed out");
}
