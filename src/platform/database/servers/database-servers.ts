/**
 * The servers of one database, and which of them is the primary. All pools and sessions of a process share one value for a
 * URL, so that they leave a server together.
 *
 * - With several servers all are asked at the same time, each with a short deadline. The primary is the writable one with
 *   the highest timeline that this process has seen: every promotion raises it, so a former primary that comes back is not
 *   followed, even while it alone can be reached.
 * - The servers are asked again when a connection to the primary fails, when it shuts down, when a statement has no answer,
 *   and every few seconds: after a break of the network, connections to a former primary go on as if nothing had happened.
 * - A server that refuses a write as read-only is left at once: all its connections are closed, also those of a URL with
 *   one host name, which may lead to another server by now.
 */
import { setTimeout as delay } from "node:timers/promises";
import { readDatabaseAddress, type ServerAddress, serverName } from "./database-address.ts";
import { NoPrimaryError, NotPrimaryError } from "./server-faults.ts";
import { findServerRole, type ServerRole } from "./server-role-store.ts";
import { UnansweredBackends } from "./unanswered-backends.ts";

/** Time for the other servers to answer after the first writable one. */
const OTHERS_MS = 300;
/** After a search without result, connections fail for this time without another one. */
const PAUSE_MS = 300;
/** How often all servers are asked while connections are open. */
const WATCH_MS = 3_000;

type WritableRole = Extract<ServerRole, { readonly kind: "writable" }>;

/** A connection that can be closed when its server is left. */
export interface ServedConnection {
  /** Null before the first attempt to connect. */
  readonly server: ServerAddress | null;
  /** Closes the connection; its statements fail with `fault`. */
  abandon(fault: Error): void;
}

export class DatabaseServers {
  static readonly #known = new Map<string, DatabaseServers>();

  /** For the driver. */
  readonly connectionString: string;
  /** Whether the address leads to a writable server only. */
  readonly mustWrite: boolean;
  readonly #servers: readonly ServerAddress[];
  readonly #connections = new Set<ServedConnection>();
  readonly #unanswered = new Map<ServerAddress, UnansweredBackends>();
  #primary: ServerAddress | null = null;
  /** The highest of any primary so far. */
  #timeline = 0;
  /** The system identifier of the primaries so far. */
  #system: string | null = null;
  #search: Promise<void> | null = null;
  #watch: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  #fault = new NoPrimaryError("no server was asked yet");

  /** The servers of this URL, the same for every pool of this process. @throws Error for an invalid URL */
  static of(url: string): DatabaseServers {
    const known = DatabaseServers.#known.get(url);
    if (known !== undefined) return known;
    const servers = new DatabaseServers(url);
    DatabaseServers.#known.set(url, servers);
    return servers;
  }

  constructor(url: string) {
    const { connectionString, servers, mustWrite } = readDatabaseAddress(url);
    this.connectionString = connectionString;
    this.#servers = servers;
    this.mustWrite = mustWrite;
  }

  get areSeveral(): boolean {
    return this.#servers.length > 1;
  }

  /** The server to connect to. @throws NoPrimaryError within seconds if none can be written to */
  async choose(): Promise<ServerAddress> {
    const [only] = this.#servers;
    if (only !== undefined && !this.areSeveral) return only;
    if (this.#primary === null && performance.now() >= this.#pausedUntil) await this.#searchOnce();
    if (this.#primary === null) throw this.#fault;
    return this.#primary;
  }

  opened(connection: ServedConnection): void {
    this.#connections.add(connection);
    if (this.areSeveral) this.#watch ??= setInterval(() => this.suspect(), WATCH_MS).unref();
  }

  closed(connection: ServedConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    clearInterval(this.#watch);
    this.#watch = undefined;
    // Without the watch another server may become the primary unnoticed.
    this.#primary = null;
  }

  /** What this server still works on for closed connections. */
  unanswered(server: ServerAddress): UnansweredBackends {
    const known = this.#unanswered.get(server) ?? new UnansweredBackends(this.connectionString, server);
    this.#unanswered.set(server, known);
    return known;
  }

  /** Call when the server takes no connections: the next one asks all servers again. */
  unreachable(server: ServerAddress): void {
    if (this.#primary === server) this.#primary = null;
  }

  /** Call when the primary may have changed: asks all servers in the background. Existing connections stay meanwhile. */
  suspect(): void {
    if (this.areSeveral && performance.now() >= this.#pausedUntil) void this.#searchOnce();
  }

  /** Call when the server is a standby or read-only: closes all its connections. Returns the fault that they got. */
  leave(server: ServerAddress): NotPrimaryError {
    this.unreachable(server);
    const fault = new NotPrimaryError(`${serverName(server)} is a standby or read-only`);
    this.#abandon((of) => of === server, fault);
    return fault;
  }

  #abandon(isLeft: (server: ServerAddress) => boolean, fault: NotPrimaryError): void {
    for (const connection of this.#connections)
      if (connection.server !== null && isLeft(connection.server)) connection.abandon(fault);
  }

  #searchOnce(): Promise<void> {
    this.#search ??= this.#searchAll().finally(() => {
      this.#search = null;
    });
    return this.#search;
  }

  /** Resolves when every server has answered or is overdue, or soon after the first that is writable. */
  async #searchAll(): Promise<void> {
    const found = Promise.withResolvers<void>();
    const roles = new Map<ServerAddress, ServerRole>();
    const faults = new Map<ServerAddress, string | null>();
    // A process that knows no timeline yet compares the answers: a former primary may be the first.
    let isComparing = this.#timeline === 0;
    const answers = Promise.all(
      this.#servers.map(async (server) => {
        const role = await findServerRole(this.connectionString, server);
        roles.set(server, role);
        if (!isComparing) faults.set(server, this.#judge(server, role));
        if (isComparing ? role.kind === "writable" : faults.get(server) === null) found.resolve();
      }),
    );
    await Promise.race([answers, found.promise.then(() => delay(OTHERS_MS, null, { ref: false }))]);
    if (isComparing) {
      isComparing = false;
      const doubt = doubtOf([...roles.values()]);
      for (const [server, role] of roles)
        faults.set(
          server,
          doubt !== null && role.kind === "writable"
            ? `${serverName(server)} ${doubt}`
            : this.#judge(server, role),
        );
    }
    // A primary that does not answer is kept until a connection to it fails: it, or this process, may only be busy.
    if ([...faults.values()].every((fault) => fault !== null)) {
      const reasons = this.#servers.flatMap((server) => faults.get(server) ?? []);
      this.#pausedUntil = performance.now() + PAUSE_MS;
      this.#fault = new NoPrimaryError(`no database server can be written to: ${reasons.join(", ")}`);
    }
  }

  /** Follows the server if it is the newest primary so far. Returns the reason if it cannot be written to. */
  #judge(server: ServerAddress, role: ServerRole): string | null {
    switch (role.kind) {
      case "writable":
        return this.#consider(server, role);
      case "away":
        return `${serverName(server)} does not answer (${role.reason})`;
      case "full":
        return `${serverName(server)} takes no more connections`;
      case "read-only":
        return this.leave(server).message;
    }
  }

  #consider(server: ServerAddress, { timeline, system }: WritableRole): string | null {
    if (this.#system !== null && system !== null && system !== this.#system)
      return `${serverName(server)} is not of the database system that this process works with`;
    if (timeline < this.#timeline) {
      const fault = new NotPrimaryError(`${serverName(server)} was the primary before another was promoted`);
      if (this.#primary === server) this.#primary = null;
      this.#abandon((of) => of === server, fault);
      return fault.message;
    }
    const isNewer = timeline > this.#timeline;
    this.#timeline = timeline;
    this.#system ??= system;
    if (this.#primary === server || (this.#primary !== null && !isNewer)) return null;
    this.#primary = server;
    this.#abandon((of) => of !== server, new NotPrimaryError(`${serverName(server)} is the primary now`));
    return null;
  }
}

/** Why a process that knows no primary yet cannot tell which of these servers it is; null: it can. */
function doubtOf(roles: readonly ServerRole[]): string | null {
  if (roles.some(({ kind }) => kind === "full")) return "may have been the primary before";
  const systems = new Set(roles.flatMap((role) => ("system" in role ? [role.system] : [])));
  systems.delete(null);
  return systems.size > 1 ? "is of another database system than the others of DATABASE_URL" : null;
}
