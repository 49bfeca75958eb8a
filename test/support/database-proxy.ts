/** A TCP proxy to a database that can drop packets, like a broken network, or freeze, like a stopped server. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll } from "vitest";

/** ReadyForQuery, outside of a transaction: the last message of an answer. */
const READY = Buffer.from("Z\0\0\0\x05I");

export class DatabaseProxy {
  readonly url: string;
  readonly #sockets: Set<Socket>;
  /** What the proxy drops: nothing, the server's answers, or all data and new connections. */
  lost: "nothing" | "answers" | "everything" = "nothing";
  #isFrozen = false;
  #cutAt: string | null = null;

  constructor(url: string, sockets: Set<Socket>) {
    this.url = url;
    this.#sockets = sockets;
  }

  /** Stops all traffic without loss: data sent meanwhile arrives after `thaw`, even if its sender has disconnected. */
  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Drops the answer to the next data that contains this text, and then cuts its connection: it has been committed. */
  cutAnswerTo(text: string): void {
    this.#cutAt = text;
  }

  /** Whether the answer that cutAnswerTo asked for has been cut. */
  get hasCut(): boolean {
    return this.#cutAt === null;
  }

  join(near: Socket, far: Socket): void {
    let isCut = false;
    near.on("data", (chunk) => {
      isCut ||= this.#cutAt !== null && chunk.includes(this.#cutAt);
    });
    far.on("data", (chunk) => {
      if (!isCut || !chunk.subarray(-READY.length).equals(READY)) return;
      this.#cutAt = null;
      near.destroy();
    });
    for (const [from, to, kind] of [
      [near, far, "everything"],
      [far, near, "answers"],
    ] as const) {
      const isLost = () =>
        this.lost === "everything" || (kind === "answers" && (isCut || this.lost === "answers"));
      const startsLost = this.lost === "everything";
      this.#sockets.add(from);
      from.on("error", () => from.destroy());
      from.on("end", () => to.end());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.end();
      });
      from.on("data", (chunk) => !startsLost && !isLost() && to.writable && to.write(chunk));
      if (this.#isFrozen) from.pause();
    }
  }
}

/** Starts a proxy to the database at this URL; it closes after the test file. */
export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { hostname, port, pathname, searchParams, username, password } = new URL(databaseUrl);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = host.startsWith("/")
      ? connect(`${host}/.s.PGSQL.${port || 5432}`)
      : connect(Number(port || 5432), host);
    proxy.join(near, far);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const user = password === "" ? username : `${username}:${password}`;
  const url = `postgresql://${user}@127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
  const proxy = new DatabaseProxy(url, sockets);
  return proxy;
}
