/**
 * Requests of one connection are handled one after another. A client may send the next ones before it has its answer
 * (pipelining, RFC 9112 section 9.3.2), and Node.js hands over at once all requests that one read has brought, thousands of
 * them. Of all that wait on any connection the event loop takes one in each turn, between what others ask. A connection with too many that wait has those
 * answered that the limit admits, then gets 429 and is closed.
 *
 * What else such a connection has sent is not even parsed, for that costs as much as many requests. Node.js has no call that
 * ends the parsing of a connection, but it parses nothing behind a request that changes the protocol: so the next request
 * is taken for one.
 */
import { IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Limit } from "#platform/limits/limit.ts";
import { limitRefusal } from "#platform/limits/refusal.ts";
import { refuseOnSocket } from "./request/malformed.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of one connection that have no answer yet. */
interface Line {
  current: ServerResponse | undefined;
  readonly waiting: Turn[];
  /** More were sent than may wait. */
  isOverrun: boolean;
}

export class RequestTurns {
  readonly #limit: Limit;
  readonly #lines = new WeakMap<Socket, Line>();
  /** What goes on next, of all connections together: one in each turn of the event loop. */
  readonly #next: (() => void)[] = [];

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** What the server is made with. */
  get serverOptions(): ServerOptions {
    const isOverrun = (socket: Socket) => this.#lines.get(socket)?.isOverrun === true;
    class Message extends IncomingMessage {
      #isUpgrade = false;

      get upgrade(): boolean {
        return this.#isUpgrade || isOverrun(this.socket);
      }

      set upgrade(isUpgrade: boolean | null) {
        // Also set by the constructor of IncomingMessage, before there is the field.
        if (#isUpgrade in this) this.#isUpgrade = isUpgrade === true;
      }
    }
    return {
      IncomingMessage: Message,
      // No other request changes the protocol: its Upgrade is left aside (RFC 9110 section 7.8).
      shouldUpgradeCallback: ({ socket }) => isOverrun(socket),
    };
  }

  /** Puts the turns before what handles the requests of the server. */
  watch(server: Server): void {
    const handlers = server.listeners("request") as Handle[];
    server.removeAllListeners("request");
    server.on("request", (request, response) =>
      this.#take({ request, response }, (...turn) => {
        for (const handle of handlers) handle.apply(server, turn);
      }),
    );
    server.on("upgrade", (_request, socket: Socket) => {
      // Node.js has let go of the socket, but the answers of those that wait are still written to it.
      socket.on("error", () => socket.destroy());
      socket.on("drain", () => this.#lines.get(socket)?.current?.emit("drain"));
    });
  }

  #take(turn: Turn, handle: Handle): void {
    const { socket } = turn.request;
    const line = this.#lineOf(socket);
    if (line.current === undefined) this.#begin(socket, line, turn, handle);
    else if (line.waiting.length + 1 < this.#limit.most) line.waiting.push(turn);
    else line.isOverrun = true;
  }

  #begin(socket: Socket, line: Line, { request, response }: Turn, handle: Handle): void {
    line.current = response;
    response.once("close", () => {
      if (line.waiting.length === 0 && !line.isOverrun) line.current = undefined;
      else this.#later(() => this.#goOn(socket, line, handle));
    });
    handle(request, response);
  }

  #later(go: () => void): void {
    if (this.#next.push(go) === 1) setImmediate(() => this.#takeNext());
  }

  #takeNext(): void {
    const go = this.#next.shift();
    if (this.#next.length > 0) setImmediate(() => this.#takeNext());
    go?.();
  }

  #goOn(socket: Socket, line: Line, handle: Handle): void {
    if (socket.destroyed) return;
    const turn = line.waiting.shift();
    if (turn !== undefined) this.#begin(socket, line, turn, handle);
    else if (line.isOverrun) refuseOnSocket(socket, "429 Too Many Requests", limitRefusal(this.#limit));
    else line.current = undefined;
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { current: undefined, waiting: [], isOverrun: false };
    this.#lines.set(socket, line);
    return line;
  }
}
