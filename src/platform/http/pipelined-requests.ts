/**
 * Handles pipelined requests (RFC 9112 section 9.3.2) one after another. A client may send further requests before the first
 * response, and Node.js emits all requests of one read at once, which may be thousands. Here only one waiting request of all
 * connections is begun in each iteration of the event loop, so that other clients are served in between. If too many
 * requests of a connection wait, those within the limit are answered, then the connection gets 429 and is closed.
 *
 * The remaining data of such a connection is not even parsed, because that costs as much as many requests. Node.js has no
 * call to stop parsing a connection, but it does not parse anything after a protocol upgrade; so the next request is treated
 * as an upgrade.
 */
import { IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Limit } from "#platform/limits/limit.ts";
import { limitRefusal } from "#platform/limits/limit-errors.ts";
import { refuseOnSocket } from "./request/malformed-request.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of one connection without a response. */
interface Line {
  current: ServerResponse | undefined;
  readonly waiting: Turn[];
  /** More requests were sent than may wait. */
  isOverrun: boolean;
}

export class PipelinedRequests {
  readonly #limit: Limit;
  readonly #lines = new WeakMap<Socket, Line>();
  /** Connections that continue with their next request, one in each iteration of the event loop. */
  readonly #next: (() => void)[] = [];

  constructor(limit: Limit) {
    this.#limit = limit;
  }

  /** Options for creating the server. */
  get serverOptions(): ServerOptions {
    const isOverrun = (socket: Socket) => this.#lines.get(socket)?.isOverrun === true;
    class Message extends IncomingMessage {
      #isUpgrade = false;

      get upgrade(): boolean {
        return this.#isUpgrade || isOverrun(this.socket);
      }

      set upgrade(isUpgrade: boolean | null) {
        // The constructor of IncomingMessage also sets it, before the private field exists.
        if (#isUpgrade in this) this.#isUpgrade = isUpgrade === true;
      }
    }
    return {
      IncomingMessage: Message,
      // Upgrade headers of other requests are ignored (RFC 9110 section 7.8).
      shouldUpgradeCallback: ({ socket }) => isOverrun(socket),
    };
  }

  /** Wraps the request listeners of the server. */
  watch(server: Server): void {
    const handlers = server.listeners("request") as Handle[];
    server.removeAllListeners("request");
    server.on("request", (request, response) =>
      this.#take({ request, response }, (...turn) => {
        for (const handle of handlers) handle.apply(server, turn);
      }),
    );
    server.on("upgrade", (_request, socket: Socket) => {
      // Node.js has detached the socket, but the responses to waiting requests are still written to it.
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
