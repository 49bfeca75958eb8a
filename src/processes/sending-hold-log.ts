/** Lines in the log of a running service about `posthaste sending hold` and `release`, which other processes run. */
import type { Clock } from "#platform/clock.ts";
import type { Queryable } from "#platform/database/pool.ts";
import { firstIdAt, timeOfId } from "#platform/ids.ts";
import type { Log } from "#platform/log/log.ts";
import { listInstallationEvents } from "#workspace/audit/store.ts";

const MESSAGES: Readonly<Record<string, string>> = {
  "sending hold": "sending is held: nothing leaves",
  "sending release": "sending is released: messages leave when they are due",
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

  /** Logs the commands of the audit log since the last look, with who ran them and when. */
  async look(): Promise<void> {
    const events = await listInstallationEvents(this.#db, Object.keys(MESSAGES), this.#last);
    for (const { id, operation, actor_name } of events) {
      this.#last = id;
      this.#log.info({ by: actor_name, at: timeOfId(id) }, MESSAGES[operation]);
    }
  }
}
