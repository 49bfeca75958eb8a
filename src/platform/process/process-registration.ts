/** Registers a running process in the database, so that the operator sees it (`posthaste status`, /metrics). */
import { hostname } from "node:os";
import type { Database } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import type { Log } from "#platform/log/log.ts";
import { version } from "#platform/version.ts";
import { type ProcessIdentity, removeRunningProcess, saveRunningProcess } from "./running-processes-store.ts";

const RENEW_MS = 5_000;
/** A database that gives no answer must not delay the stop of a process; others see that it is silent. */
const STOP_MS = 2_000;

export interface RegistrationOptions {
  readonly db: Database;
  readonly log: Log;
  readonly roles: readonly string[];
  /** For what the process waits now, bounded; nothing by default. */
  readonly waits?: () => readonly object[];
}

export class ProcessRegistration {
  readonly #options: RegistrationOptions;
  readonly #identity: ProcessIdentity;
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | null = null;

  /** Registers the process in the background, and again every five seconds. A failure is logged and changes nothing else. */
  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#identity = {
      id: newId(),
      host: hostname(),
      pid: process.pid,
      roles: options.roles,
      version,
      node_version: process.versions.node,
    };
    this.#timer = setInterval(() => this.#renew(), RENEW_MS).unref();
    this.#renew();
  }

  /** Removes the process from the list. */
  async stop(): Promise<void> {
    const { db, log } = this.#options;
    clearInterval(this.#timer);
    const removed = Promise.resolve(this.#renewing).then(() => removeRunningProcess(db, this.#identity.id));
    await inTime(STOP_MS, removed).catch((err: unknown) =>
      log.warn({ err }, "process could not be removed from the list of running processes"),
    );
  }

  async #save(): Promise<void> {
    const { db, waits } = this.#options;
    await saveRunningProcess(db, this.#identity, waits?.() ?? []);
  }

  #renew(): void {
    const { log } = this.#options;
    this.#renewing ??= this.#save()
      .catch((err: unknown) => log.warn({ err }, "process could not be registered as running"))
      .finally(() => {
        this.#renewing = null;
      });
  }
}
