/**
 * Requests of one connection are handled one after another. A client may send the next ones before it has its answer
 * (pipelining, RFC 9112 section 9.3.2), and Node.js hands over at once all requests that one read has brought, thousands of
 * them. Between two of them the event loop serves other connections. A connection with too many that wait has those
 * answered that the limit admits, then gets 429 and is closed; the rest is dropped.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Limit } from "#platform/limits/limits.ts";
import { limitRefusal } from "#platform/limits/refusal.ts";
import { refuseOnSocket } from "./request/malformed.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The requests of one connection that have no answer yet. */
interface Line {
  isBusy: boolean;
  readonly waiting: Turn[];
  /** More were sent than may wait. */
  isOverrun: boolean;
}

export class RequestTurns {
  readonly #limit: Limit;
  readonly #onOverrun: (socket: Socket) => void;
  readonly #lines = new WeakMap<Socket, Line>();

  constructor(limit: Limit, onOverrun: (socket: Socket) => void) {
    this.#limit = limit;
    this.#onOverrun = onOverrun;
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
  }

  #take(turn: Turn, handle: Handle): void {
    const { socket } = turn.request;
    const line = this.#lineOf(socket);
    if (!line.isBusy) {
      this.#begin(socket, line, turn, handle);
    } else if (line.isOverrun) {
      socket.pause();
    } else if (line.waiting.length + 1 < this.#limit.most) {
      line.waiting.push(turn);
    } else {
      line.isOverrun = true;
      socket.pause();
      this.#onOverrun(socket);
    }
  }

  #begin(socket: Socket, line: Line, { request, response }: Turn, handle: Handle): void {
    line.isBusy = true;
    response.once("close", () => {
      if (line.waiting.length === 0 && !line.isOverrun) line.isBusy = false;
      else if (!socket.destroyed) setImmediate(() => this.#next(socket, line, handle));
    });
    handle(request, response);
  }

  #next(socket: Socket, line: Line, handle: Handle): void {
    if (socket.destroyed) return;
    // Node.js reads on after each answer.
    if (line.isOverrun) socket.pause();
    const turn = line.waiting.shift();
    if (turn !== undefined) this.#begin(socket, line, turn, handle);
    else refuseOnSocket(socket, "429 Too Many Requests", limitRefusal(this.#limit));
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { isBusy: false, waiting: [], isOverrun: false };
    this.#lines.set(socket, line);
    return line;
  }
}
