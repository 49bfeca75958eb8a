/**
 * A connection of the driver that goes to the primary among the servers of its URL. It reports to DatabaseServers what its
 * server says about itself, so that all connections leave a server that is no longer the primary.
 */
import pg from "pg";
import type { ServerAddress } from "./database-address.ts";
import { DatabaseServers, type ServedConnection } from "./database-servers.ts";
import { isReadOnlyCode } from "./server-faults.ts";
import { SERVER_MS } from "./server-role-store.ts";

/** Settings that PostgreSQL reports by itself, at the start of a session and after a change. */
const READ_ONLY_SETTINGS = new Set(["in_hot_standby", "default_transaction_read_only"]);
/** Shutdown, crash, start (57P01 to 57P03), and a lost connection: the server may not be the primary when it is back. */
const GOING_AWAY = /^(57P|08)/;

type Connected = (fault: Error | null, client?: pg.Client) => void;

export class ServerConnection extends pg.Client implements ServedConnection {
  /** Of the driver, missing in its types: the process id of the backend, and whether the last statement is answered. */
  declare processID: number | null;
  declare readyForQuery: boolean;

  readonly #servers: DatabaseServers;
  #server: ServerAddress | null = null;
  readonly #readOnlySettings = new Set<string>();

  /** @param config its `connectionString` may name several servers; the pool needs it to be optional */
  constructor(config?: pg.ClientConfig) {
    const servers = DatabaseServers.of(config?.connectionString ?? "");
    super({
      ...config,
      connectionString: servers.connectionString,
      ...(servers.areSeveral && { connectionTimeoutMillis: SERVER_MS }),
    });
    this.#servers = servers;
    this.connection.on("parameterStatus", (status: { parameterName: string; parameterValue: string }) =>
      this.#note(status.parameterName, status.parameterValue === "on"),
    );
    this.connection.on("errorMessage", (message: { code?: string }) => this.#judge(message.code));
    this.once("end", () => servers.closed(this));
    // Between the driver's answer and the listeners of the pool an error would end the process.
    this.on("error", () => {});
  }

  get server(): ServerAddress | null {
    return this.#server;
  }

  abandon(fault: Error): void {
    this.connection.stream.destroy(fault);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const opening = this.#open();
    if (callback === undefined) return opening;
    opening.then(
      (client) => callback(null, client),
      (fault: Error) => callback(fault),
    );
    return undefined;
  }

  override end(): Promise<void>;
  override end(callback: (fault: Error) => void): void;
  override end(callback?: (fault: Error) => void): Promise<void> | undefined {
    const isOpen = this.processID !== null && !this.connection.stream.destroyed;
    if (this.#server !== null && isOpen && !this.readyForQuery)
      this.#servers.unanswered(this.#server).add(Number(this.processID));
    if (callback === undefined) return super.end();
    super.end(callback);
    return undefined;
  }

  async #open(): Promise<pg.Client> {
    const server = await this.#servers.choose();
    this.#server = server;
    if (this.#servers.areSeveral) {
      this.host = server.host;
      this.port = server.port;
    }
    await this.#servers.unanswered(server).requireRoom();
    this.#servers.opened(this);
    try {
      await super.connect();
    } catch (fault) {
      this.#servers.closed(this);
      const isAnswer = fault instanceof pg.DatabaseError && !GOING_AWAY.test(fault.code ?? "");
      if (!isAnswer) this.#servers.unreachable(server);
      throw fault;
    }
    if (this.#servers.mustWrite && this.#readOnlySettings.size > 0) throw this.#servers.leave(server);
    return this;
  }

  #note(setting: string, isOn: boolean): void {
    if (!READ_ONLY_SETTINGS.has(setting)) return;
    if (isOn) this.#readOnlySettings.add(setting);
    else this.#readOnlySettings.delete(setting);
  }

  /** After the statement has got its error. */
  #judge(code: string | undefined): void {
    const server = this.#server;
    if (server === null) return;
    if (isReadOnlyCode(code)) setImmediate(() => this.#servers.leave(server));
    else if (GOING_AWAY.test(code ?? "")) this.#servers.suspect();
  }
}
