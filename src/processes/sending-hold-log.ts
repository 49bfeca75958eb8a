/** Lines in the log of a running service about `posthaste sending hold` and `release`, which other processes run. */
import { findHold } from "#delivery/hold/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, timeOfId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { listInstallationEvents } from "#workspace/audit/store.ts";

const RELEASE = "sending release";
const MESSAGES: Readonly<Record<string, string>> = {
  "sending hold": "sending is held: nothing leaves",
  [RELEASE]: "sending is released: messages leave when they are due",
};

export class SendingHoldLog {
  readonly #db: Queryable;
  readonly #log: Pick<Log, "info">;
  /** The id of the last event that was logged, or the first id of the start. */
  #last: string;

  constructor(db: Queryable, log: Pick<Log, "info">, clock: Clock) {
    this.#db = db;
    this.#log = log;
    this.#last = firstIdAt(clock.now());
  }

  /**
   * Logs the commands of the audit log since the last look, with who ran them and when. A release that discards messages is
   * in the audit log before the hold ends: it is logged when the hold has ended, and not at all if the command was stopped.
   */
  async look(): Promise<void> {
    const events = await listInstallationEvents(this.#db, Object.keys(MESSAGES), this.#last);
    for (const [place, { id, operation, actor_name }] of events.entries()) {
      const next = events[place + 1]?.operation;
      if (operation === RELEASE && next === undefined && (await findHold(this.#db)) !== undefined) return;
      this.#last = id;
      if (operation === RELEASE && next === RELEASE) continue;
      this.#log.info({ by: actor_name, at: timeOfId(id) }, MESSAGES[operation]);
    }
  }
}
