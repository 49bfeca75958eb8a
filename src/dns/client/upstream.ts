/** A server as one process knows it: its sockets, and whether it has been silent lately. */
import { type ExchangeEvents, exchange } from "./exchange.ts";
import type { Question, Server } from "./question.ts";
import { UdpPorts } from "./udp-ports.ts";

/** So many packets in a row without an answer make a server a silent one. */
const SILENCES = 3;
/** For so long a silent server is asked last; then one look-up finds out whether it has come back. */
const SILENT_MS = 10_000;

export class Upstream {
  readonly #server: Server;
  readonly #ports: UdpPorts;
  #silences = 0;
  #silentUntil = 0;
  /** By the clock of `performance.now()`. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(server: Server, onIdle: () => void) {
    this.#server = server;
    this.#ports = new UdpPorts(server, onIdle);
  }

  /** Whether all its sockets have been given up. */
  get isIdle(): boolean {
    return this.#ports.isEmpty;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Whether it is asked in its order; a silent server is once in a while, by a single look-up. */
  takesItsTurn(): boolean {
    if (this.#silences < SILENCES) return true;
    const now = performance.now();
    if (now < this.#silentUntil) return false;
    this.#silentUntil = now + SILENT_MS;
    return true;
  }

  ask(question: Question, events: ExchangeEvents): () => void {
    return exchange(this.#server, this.#ports, question, {
      onReply: (reply) => {
        this.#noteAnswer();
        events.onReply(reply);
      },
      onTruncated: () => {
        this.#noteAnswer();
        events.onTruncated();
      },
      onFault: (code) => {
        this.#fallSilent();
        events.onFault(code);
      },
    });
  }

  /** A packet has had no answer by the time the next one is sent. */
  noteSilence(): void {
    this.#silences += 1;
    if (this.#silences >= SILENCES) this.#fallSilent();
  }

  #noteAnswer(): void {
    this.#silences = 0;
    this.#answeredAt = performance.now();
  }

  #fallSilent(): void {
    this.#silences = SILENCES;
    this.#silentUntil = performance.now() + SILENT_MS;
  }
}
