/**
 * The UDP sockets for one server. Each question is sent from a random one of several ports with a random id, so that a
 * forged answer must guess both (RFC 5452 section 9.2). A port is closed after QUESTIONS_PER_PORT questions or when idle.
 */
import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { isIP } from "node:net";
import type { DnsServer } from "#platform/dns-server-address.ts";

const MOST_PORTS = 16;
const QUESTIONS_PER_PORT = 100;
const IDLE_MS = 5_000;

/** Receives the answer to one packet. */
export interface PacketListener {
  /** @returns whether this message is the answer; otherwise it is ignored, and waiting continues */
  hear(message: Buffer): boolean;
  /** The server cannot be reached. @param code of the system, such as ECONNREFUSED */
  fail(code: string): void;
}

export class UdpPorts {
  readonly #server: DnsServer;
  readonly #ports = new Set<UdpPort>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when the last port was closed */
  constructor(server: DnsServer, onEmpty: () => void) {
    this.#server = server;
    this.#onEmpty = onEmpty;
  }

  get isEmpty(): boolean {
    return this.#ports.size === 0;
  }

  /** @param query its first two octets are overwritten with the id @returns a function that stops waiting for the answer */
  send(query: Buffer, listener: PacketListener): () => void {
    const port = this.#take();
    const id = port.send(query, listener);
    return () => port.forget(id);
  }

  #take(): UdpPort {
    const open = [...this.#ports].filter(({ isOpen }) => isOpen);
    if (open.length >= MOST_PORTS) {
      const chosen = open[randomInt(open.length)];
      if (chosen !== undefined) return chosen;
    }
    const port = new UdpPort(this.#server, () => {
      this.#ports.delete(port);
      if (this.#ports.size === 0) this.#onEmpty();
    });
    this.#ports.add(port);
    return port;
  }
}

class UdpPort {
  readonly #socket: Socket;
  readonly #listeners = new Map<number, PacketListener>();
  readonly #onClosed: () => void;
  /** Questions sent before the socket is connected; null afterwards. */
  #early: Buffer[] | null = [];
  #asked = 0;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor({ host, port }: DnsServer, onClosed: () => void) {
    this.#onClosed = onClosed;
    this.#socket = createSocket(isIP(host) === 6 ? "udp6" : "udp4");
    this.#socket.on("error", (cause) => this.#fail(cause));
    this.#socket.on("message", (message) => this.#hear(message));
    this.#socket.on("connect", () => {
      for (const query of this.#early ?? []) this.#socket.send(query);
      this.#early = null;
    });
    this.#socket.connect(port, host);
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#asked < QUESTIONS_PER_PORT;
  }

  send(query: Buffer, listener: PacketListener): number {
    let id = randomInt(0x1_0000);
    while (this.#listeners.has(id)) id = randomInt(0x1_0000);
    query.writeUInt16BE(id);
    this.#asked += 1;
    this.#listeners.set(id, listener);
    clearTimeout(this.#idle);
    if (this.#early === null) this.#socket.send(query);
    else this.#early.push(query);
    return id;
  }

  forget(id: number): void {
    if (!this.#listeners.delete(id) || this.#listeners.size > 0) return;
    if (this.isOpen) this.#idle = setTimeout(() => this.#close(), IDLE_MS).unref();
    else this.#close();
  }

  #hear(message: Buffer): void {
    const id = message.length < 2 ? -1 : message.readUInt16BE();
    if (this.#listeners.get(id)?.hear(message)) this.forget(id);
  }

  #fail(cause: Error): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    this.#close();
    for (const listener of listeners) listener.fail(codeOf(cause));
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#socket.close();
    this.#onClosed();
  }
}

/** The system's code of a socket error, such as ECONNREFUSED; otherwise its message. */
export function codeOf(fault: Error): string {
  return "code" in fault ? String(fault.code) : fault.message;
}
