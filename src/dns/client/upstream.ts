/** One DNS server: its sockets, and whether it has answered lately. */
import type { DnsServer } from "#platform/dns-server-address.ts";
import { type ExchangeEvents, exchange } from "./exchange.ts";
import type { Question } from "./question-and-reply.ts";
import { UdpPorts } from "./udp-ports.ts";

/** A server counts as silent after this many packets in a row without an answer. */
const SILENCES = 3;
/** A silent server is asked last for this time; then one look-up tries it again. */
const SILENT_MS = 10_000;

export class Upstream {
  readonly #server: DnsServer;
  readonly #ports: UdpPorts;
  #silences = 0;
  #silentUntil = 0;
  /** From `performance.now()`. */
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(server: DnsServer, onIdle: () => void) {
    this.#server = server;
    this.#ports = new UdpPorts(server, onIdle);
  }

  /** Whether all its sockets are closed. */
  get isIdle(): boolean {
    return this.#ports.isEmpty;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Whether it is asked in its order. For a silent server this is true once every SILENT_MS. */
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

  /** Call when a packet was not answered before the next one is sent. */
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
