/**
 * Registers a running process in the database. The operator sees it (`posthaste status`, /metrics), and what it could not
 * work with waits for its end: a migration that needs a newer program, and a secret key that it lacks.
 */
import { hostname } from "node:os";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { newId } from "#platform/ids.ts";
import { inTime } from "#platform/in-time.ts";
import type { Log } from "#platform/log/log.ts";
import { version } from "#platform/version.ts";
import {
  type ProcessIdentity,
  type ProcessReport,
  removeRunningProcess,
  saveRunningProcess,
} from "./running-processes-store.ts";

const RENEW_MS = 5_000;
/** A database that gives no answer must not delay the stop of a process; others see that it is silent. */
const STOP_MS = 2_000;

export interface RegistrationOptions {
  readonly db: Database;
  readonly log: Log;
  readonly roles: readonly string[];
  /** Of its secret keys, in the order of the ring. A child process has none: its parent registers the same. */
  readonly keyFingerprints?: readonly Buffer[];
  /** What the process says now about its delivery; nothing by default. */
  readonly report?: () => ProcessReport;
  /** Called after each renewal. */
  readonly onRenewed?: () => Promise<void>;
}

export class ProcessRegistration {
  readonly #options: RegistrationOptions;
  readonly #identity: ProcessIdentity;
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> | null = null;
  #isFailing = false;

  private constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#identity = {
      id: newId(),
      host: hostname(),
      pid: process.pid,
      roles: options.roles,
      version,
      node_version: process.versions.node,
      key_fingerprints: options.keyFingerprints ?? null,
    };
    this.#timer = setInterval(() => void this.renew(), RENEW_MS).unref();
  }

  /**
   * Registers the process in one transaction with the check that it may run, so that a migration or a new key that begins
   * afterwards sees it.
   * @param admit takes the locks that these take, too, and throws if the process must not run
   */
  static async begin(
    options: RegistrationOptions,
    admit: (tx: Queryable) => Promise<void>,
  ): Promise<ProcessRegistration> {
    const registration = new ProcessRegistration(options);
    try {
      await options.db.transaction(async (tx) => {
        await admit(tx);
        await registration.#save(tx);
      });
    } catch (fault) {
      clearInterval(registration.#timer);
      throw fault;
    }
    return registration;
  }

  /** Registers a child of a registered process, in the background. */
  static ofChild(options: RegistrationOptions): ProcessRegistration {
    const registration = new ProcessRegistration(options);
    void registration.renew();
    return registration;
  }

  /** Done every five seconds. A failure is logged once, with a line when it has ended, and changes nothing else. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
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

  async #renew(): Promise<void> {
    const { db, log, onRenewed } = this.#options;
    try {
      await this.#save(db);
      await onRenewed?.();
      if (this.#isFailing) log.info("process is registered as running again");
      this.#isFailing = false;
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, "process could not be registered as running, trying again");
      this.#isFailing = true;
    }
  }

  async #save(db: Queryable): Promise<void> {
    const { report } = this.#options;
    await saveRunningProcess(db, this.#identity, report?.() ?? { waits: [], paused_lanes: {} });
  }
}
