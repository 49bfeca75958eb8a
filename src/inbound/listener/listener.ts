/**
 * One SMTP port: limits, TLS, logging and a graceful stop around the protocol of smtp-server. The options' `open` says
 * what the port does with the commands of a client.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { Log } from "#platform/log/log.ts";
import { RepeatedFaults } from "#platform/log/repeated-faults.ts";
import type { Certificate } from "./certificate.ts";
import { ClientConnection, endConnection, peerOf } from "./client-connection.ts";
import type { ConnectionCaps } from "./connection-caps.ts";
import type { Conversation } from "./conversation-interface.ts";
import type { MessageMemory } from "./message-data.ts";
import { type ClientAddress, isProxyHeader, readProxyHeader, showClient } from "./proxy-header.ts";
import type { NetworkLog } from "./rate-limited-log.ts";
import { replaceCommandReaders } from "./read-path-command.ts";
import { answerSoon, SmtpReply } from "./smtp-reply.ts";

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** The name in the greeting. */
  readonly name: string;
  /** TLS from the first byte; otherwise STARTTLS is offered. */
  readonly isImplicitTls: boolean;
  readonly needsLogin: boolean;
  /** Accept any name in EHLO and any sender in MAIL, unless they break the protocol: neither is used. */
  readonly takesAnySender?: boolean;
  readonly certificate: Certificate;
  readonly caps: ConnectionCaps;
  readonly memory: MessageMemory;
  /** Octets of the largest message. */
  readonly mostBytes: number;
  readonly log: Log;
  readonly networkLog: NetworkLog;
  /** Whether connections from this address begin with a PROXY header. */
  readonly isProxy?: (address: string) => boolean;
  /**
   * Opens the conversation of one client. @param network the client's IPv4 address, or the /64 of its IPv6 address
   * @param ip its whole address
   */
  readonly open: (network: string, ip: string) => Conversation;
  readonly deadlines?: Partial<typeof DEADLINES>;
}

const DEADLINES = {
  /** For the PROXY header. */
  proxyMs: 5_000,
  /** RFC 5321 section 4.5.3.2.7: at least five minutes. */
  idleMs: 5 * 60_000,
  /** From the connection to the login, TLS included, however busy the client looks. */
  loginMs: 60_000,
  /** From DATA to the final dot. */
  dataMs: 10 * 60_000,
  /** A whole session without login: a byte now and then would keep a connection open for ever. */
  anonymousMs: 30 * 60_000,
};
/** Fits a key in an AUTH line, and the longest address with its parameters. */
const LONGEST_COMMAND = 4_096;
/** Commands of smtp-server that are switched off, besides those it offers only on request. */
const DISABLED = ["VRFY", "XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"];

export class SmtpListener {
  readonly #options: ListenerOptions;
  readonly #deadlines: typeof DEADLINES;
  readonly #faults: RepeatedFaults;
  readonly #smtp: SMTPServer;
  readonly #tlsServer: TlsServer;
  readonly #server = createServer((socket) => void this.#accept(socket));
  readonly #unwatchCertificate: () => void;
  readonly #clients = new Set<ClientConnection>();
  /** Keyed by peerOf. After a client has disconnected, another client may connect from the same port. */
  readonly #byPeer = new Map<string, ClientConnection>();
  /** Connections of proxies whose header has not come yet. */
  readonly #unannounced = new Set<Socket>();
  /** Clients behind proxies on a port with implicit TLS, keyed by peerOf of the proxy. */
  readonly #behindProxies = new Map<string, ClientAddress>();
  #port: number;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#deadlines = { ...DEADLINES, ...options.deadlines };
    this.#faults = new RepeatedFaults(options.log);
    const tls = { ...options.certificate.current, minVersion: "TLSv1.2" } as const;
    this.#smtp = new SMTPServer({ ...tls, ...this.#smtpOptions(), ...this.#handlers() });
    this.#smtp.on("error", (err) => options.log.debug({ err }, "SMTP connection error"));
    // Node.js crashes when the socket under one of smtp-server's own TLS handshakes is destroyed.
    this.#tlsServer = createTlsServer(tls, (socket) => {
      // The TLS socket knows only the address of the proxy.
      const client = this.#behindProxies.get(peerOf(socket.remoteAddress ?? "", socket.remotePort));
      if (client !== undefined) showClient(socket, client);
      this.#smtp.server.emit("connection", socket);
    });
    this.#unwatchCertificate = options.certificate.onChange((pair) => {
      this.#smtp.updateSecureContext(pair);
      this.#tlsServer.setSecureContext({ ...tls, ...pair });
    });
  }

  /** @throws the listening socket's error, such as EADDRINUSE */
  static async start(options: ListenerOptions): Promise<SmtpListener> {
    const listener = new SmtpListener(options);
    const server = listener.#server;
    server.listen(options.port, options.host);
    await once(server, "listening");
    const address = server.address();
    if (typeof address === "object" && address !== null) listener.#port = address.port;
    server.on("error", (err) => options.log.error({ err }, "SMTP listener error"));
    return listener;
  }

  /** The port in use: an option of 0 takes any free one. */
  get port(): number {
    return this.#port;
  }

  /**
   * Accepts no new client and ends idle sessions with 421. Waits up to `patienceMs` for messages that are being received,
   * then closes all connections.
   */
  async stop(patienceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#smtp.close();
    this.#unwatchCertificate();
    for (const socket of this.#unannounced) socket.destroy();
    for (const client of this.#clients) client.stop();
    const patience = new AbortController();
    await Promise.race([
      closed,
      delay(patienceMs, undefined, { signal: patience.signal, ref: false }).catch(() => {}),
    ]);
    patience.abort();
    for (const { socket } of this.#clients) socket.destroy();
    await closed;
  }

  async #accept(socket: Socket): Promise<void> {
    const { isProxy = () => false, networkLog } = this.#options;
    const { remoteAddress: proxy = "", remotePort } = socket;
    if (!isProxy(proxy)) return this.#admit(socket, () => this.#beginAndLook(socket));
    socket.on("error", () => {});
    this.#unannounced.add(socket);
    const client = await readProxyHeader(socket, this.#deadlines.proxyMs).catch((fault: Error) => fault);
    this.#unannounced.delete(socket);
    if (client instanceof Error) {
      networkLog.note(networkOf(proxy), `SMTP connection refused: ${client.message}`);
      socket.destroy();
      return;
    }
    if (client !== null) this.#announce(socket, peerOf(proxy, remotePort), client);
    this.#admit(socket, () => this.#begin(socket));
  }

  #announce(socket: Socket, peer: string, client: ClientAddress): void {
    if (this.#options.isImplicitTls) {
      this.#behindProxies.set(peer, client);
      socket.once("close", () => this.#behindProxies.delete(peer));
    }
    showClient(socket, client);
  }

  /** @param begin called unless there are too many connections */
  #admit(socket: Socket, begin: () => void): void {
    const { caps, networkLog, open, isImplicitTls, needsLogin, name } = this.#options;
    const network = networkOf(socket.remoteAddress ?? "");
    const port = socket.remotePort;
    const send421 = (text: string) => this.#connectionOf(network, port)?.send(421, text);
    const slot = caps.admit(network, (reason) => {
      networkLog.note(network, `SMTP session ended: ${reason}`);
      endConnection(socket, () => send421(reason));
    });
    if (slot === null) {
      networkLog.note(network, "SMTP connection refused: too many connections");
      socket.on("error", () => {});
      const reply = isImplicitTls ? "" : `421 4.7.0 ${name} Too many connections: retry later\r\n`;
      endConnection(socket, () => socket.end(reply));
      return;
    }
    const client = new ClientConnection({
      socket,
      peer: peerOf(network, port),
      slot,
      conversation: open(network, socket.remoteAddress ?? ""),
      send421,
      onFault: (fault) => this.#replyOf(fault),
    });
    const isLoggedIn = () => Boolean(this.#connectionOf(network, port)?.session.user);
    const { loginMs, anonymousMs } = this.#deadlines;
    if (needsLogin) client.endAfter(loginMs, "4.7.0 No login within the time limit", isLoggedIn);
    else client.endAfter(anonymousMs, "4.4.2 The session took too long", isLoggedIn);
    this.#clients.add(client);
    this.#byPeer.set(client.peer, client);
    socket.once("close", () => this.#releaseClosed());
    begin();
  }

  #begin(socket: Socket): void {
    (this.#options.isImplicitTls ? this.#tlsServer : this.#smtp.server).emit("connection", socket);
  }

  /** Logs the mistake of an operator whose proxy is not named. */
  #beginAndLook(socket: Socket): void {
    const network = networkOf(socket.remoteAddress ?? "");
    const look = (first: Buffer) => {
      if (!isProxyHeader(first)) return;
      this.#options.networkLog.note(
        network,
        "SMTP connection begins with a PROXY header, but SMTP_PROXIES does not name its address",
      );
    };
    if (!this.#options.isImplicitTls) {
      this.#begin(socket);
      // After smtp-server's listener: this one must not be the first to make the data flow.
      socket.once("data", look);
      return;
    }
    // A TLS socket takes its data past the listeners of this one, so the first data is read before it is made.
    socket.on("error", () => {});
    socket.once("readable", () => {
      const first = socket.read();
      if (first === null) return void socket.destroy();
      look(first);
      socket.unshift(first);
      this.#begin(socket);
    });
  }

  /** Called for each closed session, too: smtp-server removes all listeners from a socket that begins TLS. */
  #releaseClosed(): void {
    for (const client of this.#clients) {
      if (!client.socket.destroyed) continue;
      this.#clients.delete(client);
      if (this.#byPeer.get(client.peer) === client) this.#byPeer.delete(client.peer);
      client.release();
    }
  }

  /** smtp-server's connection of a client; it has none before the end of an implicit TLS handshake. */
  #connectionOf(network: string, port: number | undefined) {
    return [...this.#smtp.connections].find(
      (one) => one.remotePort === port && networkOf(one.remoteAddress) === network,
    );
  }

  #clientOf({ remoteAddress, remotePort }: SMTPServerSession): ClientConnection {
    const client = this.#byPeer.get(peerOf(networkOf(remoteAddress), remotePort));
    if (client === undefined) throw new SmtpReply(421, "4.3.0", "The session has ended");
    return client;
  }

  #smtpOptions(): SMTPServerOptions {
    const { isImplicitTls, needsLogin, name, mostBytes } = this.#options;
    return {
      secure: isImplicitTls,
      secured: isImplicitTls,
      name,
      banner: "Posthaste",
      heloResponse: "%s",
      size: mostBytes,
      logger: false,
      disableReverseLookup: true,
      disabledCommands: DISABLED,
      authMethods: ["PLAIN", "LOGIN"],
      authOptional: !needsLogin,
      authRequiredMessage: "5.7.0 Log in first",
      maxCommandLength: LONGEST_COMMAND,
      socketTimeout: this.#deadlines.idleMs,
    };
  }

  #handlers(): Pick<
    SMTPServerOptions,
    "onConnect" | "onSecure" | "onAuth" | "onMailFrom" | "onRcptTo" | "onData" | "onClose"
  > {
    const { needsLogin, takesAnySender = false, memory, mostBytes } = this.#options;
    return {
      onConnect: (session, callback) => {
        const connection = [...this.#smtp.connections].find((one) => one.session.id === session.id);
        if (connection !== undefined) replaceCommandReaders(connection, takesAnySender);
        this.#offerLogin(session, session.secure);
        callback();
      },
      onSecure: (_socket, session, callback) => {
        this.#offerLogin(session, true);
        callback();
      },
      onAuth: ({ password }, session, callback) =>
        this.#answer(async () => {
          const client = this.#clientOf(session);
          await client.conversation.login?.(password ?? "");
          client.noteLogin();
          return { user: session.id };
        }, callback),
      onMailFrom: (address, session, callback) =>
        this.#answer(async () => {
          if (needsLogin && !session.secure)
            throw new SmtpReply(530, "5.7.0", "Issue a STARTTLS command first");
          const { envelope, hostNameAppearsAs: helo } = session;
          await answerSoon(this.#clientOf(session).conversation.mail(address, envelope, helo));
        }, callback),
      onRcptTo: (address, session, callback) =>
        this.#answer(
          async () => answerSoon(this.#clientOf(session).conversation.recipient(address, session.envelope)),
          callback,
        ),
      onData: (stream, session, callback) =>
        this.#answer(async () => {
          const limits = { memory, mostBytes, dataMs: this.#deadlines.dataMs };
          return this.#clientOf(session).receive(stream, session.envelope, limits);
        }, callback),
      onClose: () => this.#releaseClosed(),
    };
  }

  /** AUTH is offered only over TLS: without it a third party could read the key. */
  #offerLogin(session: SMTPServerSession, isSecure: boolean): void {
    session.disabledCommands = isSecure && this.#options.needsLogin ? DISABLED : [...DISABLED, "AUTH"];
  }

  /** Gives a promise's result to a callback of smtp-server. */
  #answer<Value>(work: () => Promise<Value>, callback: (fault: Error | null, value?: Value) => void): void {
    work().then(
      (value) => callback(null, value),
      (fault: unknown) => callback(this.#replyOf(fault)),
    );
  }

  /** The reply to a fault; any but a SmtpReply is logged and becomes 451. */
  #replyOf(fault: unknown): Error {
    if (fault instanceof SmtpReply) return fault;
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : String(fault).slice(0, 100);
    this.#faults.note(
      { kind: code, level: "error", message: "SMTP command failed", fields: { err: fault } },
      "smtp",
    );
    return new SmtpReply(451, "4.3.0", "Something failed on our side: retry shortly");
  }
}
