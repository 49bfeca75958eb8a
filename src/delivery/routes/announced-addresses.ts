/**
 * The source addresses of all delivery machines: each machine announces its own in a table, every 20 seconds.
 */
import type { Database } from "#platform/database/pool.ts";
import type { Log } from "#platform/log/log.ts";
import { localNetworks } from "#platform/network/own-addresses.ts";
import { announceAddresses, listAnnouncedAddresses } from "./announced-addresses-store.ts";

const ANNOUNCE_MS = 20_000;
/** A machine without an announcement for this long counts as gone. */
const SILENCE_SECONDS = 60;

export class MachineAddresses {
  readonly #db: Database;
  readonly #log: Log;
  #announced: ReadonlySet<string> = new Set();
  #exchanging: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  private constructor(db: Database, log: Log) {
    this.#db = db;
    this.#log = log;
  }

  /** Resolves after the first announcement. */
  static async watch(db: Database, log: Log): Promise<MachineAddresses> {
    const machines = new MachineAddresses(db, log);
    await machines.#exchange();
    machines.#timer = setInterval(() => {
      machines.#exchanging = machines.#exchange();
    }, ANNOUNCE_MS).unref();
    return machines;
  }

  /** Whether any machine, this one included, has announced the address. */
  have(ip: string): boolean {
    return this.#announced.has(ip);
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.#exchanging;
  }

  async #exchange(): Promise<void> {
    try {
      await announceAddresses(this.#db, localNetworks().addresses);
      this.#announced = new Set(await listAnnouncedAddresses(this.#db, SILENCE_SECONDS));
    } catch (err) {
      this.#log.error({ err }, "source addresses of delivery machines could not be exchanged");
    }
  }
}
