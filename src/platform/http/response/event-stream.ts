/**
 * Server-sent events (HTML Standard, section 9.2): an answer that stays open. The body is written to the connection directly
 * and not by Fastify, so the limits on unread answers do not count it (unsent-responses.ts); a reader that does not keep up
 * is cut off instead. A comment now and then keeps proxies from closing a quiet stream. When the server stops, all
 * streams end first, so that it can close.
 */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, type TSchema, Type } from "typebox";

export const EVENT_STREAM = "text/event-stream";
/** Browsers come back after a time between these, so that not all do at once. */
const RETRY_FROM_MS = 2_000;
const RETRY_SPREAD_MS = 3_000;

/** The open end of a stream, for the code that writes events. */
export interface EventSink {
  /** Writes whole events (`eventText`). A reader that has not read the former ones is cut off. */
  send(events: string): void;
  /** Ends the stream in order. */
  end(): void;
  /** Calls the listener once, when the stream has ended for any reason; at once if it has. */
  onEnd(listener: () => void): void;
}

/** @param lastEventId of the header Last-Event-ID: where a lost stream continues */
type StartStream = (sink: EventSink, lastEventId: string | undefined) => void;

/**
 * Returned by the handler of an endpoint that answers a stream. `start` is called once, before the first event; if the
 * answer comes too late to be sent, `discard` is called instead, and gives back what the stream holds.
 */
export class EventStream {
  readonly start: StartStream;
  readonly discard: () => void;

  constructor(start: StartStream, discard: () => void = () => {}) {
    this.start = start;
    this.discard = discard;
  }
}

/** The `answer` of an endpoint that sends events. @param events the shape of the data of each event, by its name */
export function eventStreamShape(description: string, events: Readonly<Record<string, TSchema>>) {
  return Type.Unsafe<EventStream>({
    ...Type.String({ contentMediaType: EVENT_STREAM, description }),
    "x-events": events,
  });
}

/** The events of an `eventStreamShape`; undefined for other shapes. */
export function eventsOfStream(shape: TSchema): Readonly<Record<string, TSchema>> | undefined {
  return "x-events" in shape ? (shape["x-events"] as Readonly<Record<string, TSchema>>) : undefined;
}

/** One event as text. @param data one line of JSON */
export function eventText(name: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`;
}

/** The event that a server sends before it ends a stream itself. */
export const StreamEnd = Type.Object(
  {
    reason: Type.Enum(["access_lost", "stopping"], {
      description:
        "`access_lost`: the key, the session or a permission has ended; do not come back. `stopping`: this process stops; come back.",
    }),
  },
  { $id: "StreamEnd" },
);

export function streamEndText(reason: Static<typeof StreamEnd>["reason"]): string {
  return eventText("end", JSON.stringify({ reason }));
}

/** The open streams of a server. */
export class EventStreams {
  readonly #open = new Set<OpenStream>();
  readonly #heartbeatMs: number;
  readonly #onStarted: (request: FastifyRequest, milliseconds: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** @param onStarted called with the request and how long its headers took, because Fastify does not see the end */
  constructor(heartbeatMs: number, onStarted: (request: FastifyRequest, milliseconds: number) => void) {
    this.#heartbeatMs = heartbeatMs;
    this.#onStarted = onStarted;
  }

  /** Ends the streams before the server closes. */
  watch(server: FastifyInstance): void {
    server.addHook("preClose", async () => {
      this.#isStopping = true;
      for (const stream of this.#open) stream.stop();
    });
  }

  /** Sends the headers, and hands the stream over. */
  answer(request: FastifyRequest, reply: FastifyReply, { start }: EventStream): FastifyReply {
    reply.hijack();
    request.isStream = true;
    this.#onStarted(request, reply.elapsedTime);
    const { raw } = reply;
    reply.headers({
      "Content-Type": `${EVENT_STREAM}; charset=utf-8`,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      // nginx would collect the events of a quiet stream.
      "X-Accel-Buffering": "no",
    });
    for (const [name, value] of Object.entries(reply.getHeaders())) raw.setHeader(name, value ?? "");
    raw.writeHead(200);
    const stream = new OpenStream(raw);
    this.#open.add(stream);
    this.#timer ??= setInterval(() => this.#beat(), this.#heartbeatMs).unref();
    stream.onEnd(() => this.#forget(stream));
    if (request.method !== "HEAD") {
      stream.send(`retry: ${Math.round(RETRY_FROM_MS + Math.random() * RETRY_SPREAD_MS)}\n\n`);
    }
    const { "last-event-id": lastEventId } = request.headers;
    start(stream, typeof lastEventId === "string" ? lastEventId : undefined);
    if (request.method === "HEAD") stream.end();
    else if (this.#isStopping) stream.stop();
    return reply;
  }

  #beat(): void {
    for (const stream of this.#open) stream.send(": still here\n\n");
  }

  #forget(stream: OpenStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

class OpenStream implements EventSink {
  readonly #response: ServerResponse;
  readonly #listeners: (() => void)[] = [];
  #hasEnded = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    // Without a listener the error of a broken connection would end the process.
    response.on("error", () => response.destroy());
    response.once("close", () => this.#ended());
    if (response.destroyed) this.#ended();
  }

  send(events: string): void {
    if (this.#hasEnded || this.#response.writableEnded) return;
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.#response.write(events);
  }

  end(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  stop(): void {
    this.send(streamEndText("stopping"));
    // A reader that does not keep up would keep the server from closing.
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.end();
  }

  onEnd(listener: () => void): void {
    if (this.#hasEnded) listener();
    else this.#listeners.push(listener);
  }

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const listener of this.#listeners) listener();
  }
}
