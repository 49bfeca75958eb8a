/**
 * The backends of a server that still work on statements of closed connections. A backend that waits for a standby (wait event
 * SyncRep) does not notice that its client is gone, and keeps its place among max_connections. A process therefore opens no
 * more connections to a server while there are many: otherwise it would take all places as long as writes wait.
 */
import { type ServerAddress, serverName } from "./database-address.ts";
import { NoRoomError } from "./server-faults.ts";
import { findBackends } from "./server-role-store.ts";

const MOST = 8;
/** How often the server is asked which of them are still there. */
const ASK_MS = 1_000;

export class UnansweredBackends {
  readonly #connectionString: string;
  readonly #server: ServerAddress;
  /** Process ids on the server. */
  readonly #pids = new Set<number>();
  #asking: Promise<void> | null = null;
  #askAt = 0;

  constructor(connectionString: string, server: ServerAddress) {
    this.#connectionString = connectionString;
    this.#server = server;
  }

  add(pid: number): void {
    this.#pids.add(pid);
  }

  /** @throws NoRoomError while there are too many, or the server does not tell */
  async requireRoom(): Promise<void> {
    if (this.#pids.size < MOST) return;
    if (performance.now() >= this.#askAt) {
      this.#asking ??= this.#ask().finally(() => {
        this.#asking = null;
        this.#askAt = performance.now() + ASK_MS;
      });
    }
    await this.#asking;
    if (this.#pids.size >= MOST) {
      throw new NoRoomError(
        `${serverName(this.#server)} has not answered ${this.#pids.size} statements: no more connections are opened until it does`,
      );
    }
  }

  /** Never rejects: without an answer all of them may be there. */
  async #ask(): Promise<void> {
    const asked = [...this.#pids];
    const found = await findBackends(this.#connectionString, this.#server, asked);
    if (found === null) return;
    for (const pid of asked) if (!found.has(pid)) this.#pids.delete(pid);
  }
}
