/**
 * An SMTP port of ours: limits, TLS, the log and a graceful end, around the protocol of smtp-server. What is said in a
 * conversation is the business of whoever opens one, in functions that throw SmtpReply to refuse.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerEnvelope,
  type SMTPServerSession,
} from "smtp-server";
import { networkOf } from "#platform/http/auth/source-network.ts";
import type { Log } from "#platform/log/log.ts";
import { RepeatedFaults } from "#platform/log/repeated-faults.ts";
import type { Certificate } from "./certificate.ts";
import type { Admission, ConnectionCaps } from "./connection-caps.ts";
import {
  type MessageMemory,
  type MessageRoom,
  type ReceivedMessage,
  withMessageData,
} from "./message-data.ts";
import type { NetworkLog } from "./network-log.ts";
import { readAnySender, readPathCommand } from "./path-command.ts";
import { answerSoon, SmtpReply } from "./smtp-reply.ts";

/** One client from its first byte to its last, over any number of messages. */
export interface Conversation {
  /** Where there is none nobody can log in; where there is one everybody must, after TLS. */
  readonly login?: (password: string) => Promise<void>;
  readonly mail: (from: SMTPServerAddress, envelope: SMTPServerEnvelope) => Promise<void>;
  readonly recipient: (to: SMTPServerAddress, envelope: SMTPServerEnvelope) => Promise<void>;
  /** Gives the text of the 250, enhanced code included. It has a deadline of its own. */
  readonly message: (received: ReceivedMessage, envelope: SMTPServerEnvelope) => Promise<string>;
  /** What is taken of the message for these recipients; up to the port's size when it does not say. */
  readonly room?: () => MessageRoom;
  /** Told of each message, also of one that is refused for its size: the octets that came of it. */
  readonly counted?: (octets: number) => Promise<void>;
}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** In the greeting. */
  readonly name: string;
  /** TLS from the first byte; otherwise STARTTLS is offered. */
  readonly isImplicitTls: boolean;
  readonly needsLogin: boolean;
  /** The names in EHLO and MAIL are of no use here: all but what breaks the protocol is taken. */
  readonly takesAnySender?: boolean;
  readonly certificate: Certificate;
  readonly caps: ConnectionCaps;
  readonly memory: MessageMemory;
  /** Octets of the largest message. */
  readonly mostBytes: number;
  readonly log: Log;
  readonly networkLog: NetworkLog;
  /** @param network the client's address, or of IPv6 its network */
  readonly open: (network: string) => Conversation;
  readonly deadlines?: Partial<typeof DEADLINES>;
}

export interface Listener {
  readonly port: number;
  /** Nobody new, 421 to who is idle, and at most so long for messages under way; then everybody is cut off. */
  stop(patienceMs: number): Promise<void>;
}

const DEADLINES = {
  /** RFC 5321 section 4.5.3.2.7: at least five minutes. */
  idleMs: 5 * 60_000,
  /** From the connection to the login, TLS included, however busy the client looks. */
  loginMs: 60_000,
  /** From DATA to the final dot. */
  dataMs: 10 * 60_000,
  /** All of it, of who need not log in: a byte now and then would hold a connection for ever. */
  strangerMs: 30 * 60_000,
};
/** Room for a key in an AUTH line and for the longest address with its parameters. */
const LONGEST_COMMAND = 4_096;
/** Of smtp-server's, beside those it does not offer without being asked. */
const NOT_OFFERED = ["VRFY", "XCLIENT", "XFORWARD", "WIZ", "SHELL", "KILL"];
/** What a connection that is refused may take to read why. */
const REFUSAL_MS = 1_000;

/** @throws when the port cannot be had */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { name, isImplicitTls, needsLogin, certificate, caps, log, networkLog, mostBytes } = options;
  const deadlines = { ...DEADLINES, ...options.deadlines };
  const faults = new RepeatedFaults(log);
  const conversations = new Map<string, Conversation>();
  const receiving = new Set<string>();
  /** With what is to be done when each is gone. */
  const sockets = new Map<Socket, () => void>();
  /** By network and port of the client. */
  const admissions = new Map<string, Admission>();
  let isStopping = false;

  /** Called by the library as well, which takes all listeners off a socket that begins TLS. */
  const forgetGone = () => {
    for (const [socket, forget] of sockets) {
      if (socket.destroyed && sockets.delete(socket)) forget();
    }
  };

  const conversationOf = ({ id }: SMTPServerSession): Conversation => {
    const conversation = conversations.get(id);
    if (conversation === undefined) throw new SmtpReply(421, "4.3.0", "The session is over");
    return conversation;
  };
  const hangUp = (id: string, text: string) => {
    for (const connection of smtp.connections) if (connection.session.id === id) connection.send(421, text);
  };
  const peerOf = (network: string, remotePort: number | undefined) => `${network} ${remotePort}`;
  const admissionOf = ({ remoteAddress, remotePort }: SMTPServerSession) =>
    admissions.get(peerOf(networkOf(remoteAddress), remotePort));
  /** The library knows of a connection only after its TLS handshake. */
  const connectionOf = (peer: string) =>
    [...smtp.connections].find((one) => peerOf(networkOf(one.remoteAddress), one.remotePort) === peer);
  const endSession = (socket: Socket, peer: string, text: string) => {
    connectionOf(peer)?.send(421, text);
    setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
  };
  /** Counted from the connection, TLS handshake included. */
  const endInTime = (socket: Socket, peer: string) => {
    const [ms, reason] = needsLogin
      ? [deadlines.loginMs, "4.7.0 Nobody logged in"]
      : [deadlines.strangerMs, "4.4.2 The session took too long"];
    return setTimeout(() => {
      if (!connectionOf(peer)?.session.user) endSession(socket, peer, reason);
    }, ms).unref();
  };
  const replyOf = (fault: unknown): Error => {
    if (fault instanceof SmtpReply) return fault;
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : String(fault).slice(0, 100);
    faults.note(
      { kind: code, level: "error", message: "an SMTP command failed", fields: { err: fault } },
      "smtp",
    );
    return new SmtpReply(451, "4.3.0", "Something failed on our side: retry shortly");
  };
  /** Promises for the library's callbacks. */
  const answer = <Value>(
    work: () => Promise<Value>,
    callback: (fault: Error | null, value?: Value) => void,
  ) => {
    work().then(
      (value) => callback(null, value),
      (fault: unknown) => callback(replyOf(fault)),
    );
  };
  /** Nothing is offered, and no key wanted, that anybody on the way could read. */
  const offerLogin = (session: SMTPServerSession, isOffered: boolean) => {
    session.disabledCommands = isOffered && needsLogin ? NOT_OFFERED : [...NOT_OFFERED, "AUTH"];
  };

  const receive = async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> => {
    const { id, envelope } = session;
    const late = setTimeout(() => {
      hangUp(id, "4.4.2 The message took too long");
    }, deadlines.dataMs);
    receiving.add(id);
    const admission = admissionOf(session);
    admission?.beginMessage();
    const conversation = conversationOf(session);
    let octets = 0;
    let isFlood = false;
    const limits = {
      ...(conversation.room?.() ?? { most: mostBytes }),
      memory: options.memory,
      onOctets: (more: number) => {
        octets += more;
        admission?.receive(more);
      },
      onFlood: () => {
        isFlood = true;
      },
    };
    try {
      return await withMessageData(stream, limits, (received) => {
        clearTimeout(late);
        admission?.endMessage();
        return conversation.message(received, envelope);
      });
    } finally {
      clearTimeout(late);
      admission?.progress();
      receiving.delete(id);
      await answerSoon(Promise.resolve(conversation.counted?.(octets))).catch((fault: unknown) =>
        replyOf(fault),
      );
      if (isFlood) setImmediate(hangUp, id, "4.7.0 The message was far too large");
      if (isStopping) setImmediate(hangUp, id, "4.3.2 The service is stopping");
    }
  };

  /** In place of the library's own reader of MAIL and RCPT. */
  const readCommand = (name: string, line: Buffer | string) => {
    const isSender = name.toUpperCase() === "MAIL FROM";
    return isSender && options.takesAnySender === true
      ? readAnySender(line.toString())
      : readPathCommand(name.toUpperCase(), line.toString());
  };

  const tls = { ...certificate.current, minVersion: "TLSv1.2" } as const;
  const smtp = new SMTPServer({
    ...tls,
    secure: isImplicitTls,
    secured: isImplicitTls,
    name,
    banner: "Posthaste",
    heloResponse: "%s",
    size: mostBytes,
    logger: false,
    disableReverseLookup: true,
    disabledCommands: NOT_OFFERED,
    authMethods: ["PLAIN", "LOGIN"],
    authOptional: !needsLogin,
    authRequiredMessage: "5.7.0 Log in first",
    maxCommandLength: LONGEST_COMMAND,
    socketTimeout: deadlines.idleMs,
    onConnect(session, callback) {
      const connection = [...smtp.connections].find((one) => one.session.id === session.id);
      if (connection !== undefined) {
        connection._parseAddressCommand = readCommand;
        if (options.takesAnySender === true) takeAnyName(connection);
      }
      conversations.set(session.id, options.open(networkOf(session.remoteAddress)));
      offerLogin(session, session.secure);
      callback();
    },
    onSecure(_socket, session, callback) {
      offerLogin(session, true);
      callback();
    },
    onAuth({ password }, session, callback) {
      answer(async () => {
        await conversationOf(session).login?.(password ?? "");
        admissionOf(session)?.progress();
        return { user: session.id };
      }, callback);
    },
    onMailFrom(address, session, callback) {
      answer(async () => {
        if (needsLogin && !session.secure)
          throw new SmtpReply(530, "5.7.0", "Issue a STARTTLS command first");
        await answerSoon(conversationOf(session).mail(address, session.envelope));
      }, callback);
    },
    onRcptTo(address, session, callback) {
      answer(() => answerSoon(conversationOf(session).recipient(address, session.envelope)), callback);
    },
    onData(stream, session, callback) {
      answer(() => receive(stream, session), callback);
    },
    onClose({ id }) {
      conversations.delete(id);
      forgetGone();
    },
  });
  smtp.on("error", (err) => log.debug({ err }, "an SMTP connection broke"));
  /** Not the library's, because Node.js crashes when the socket under a handshake of the library's is destroyed. */
  const tlsServer = createTlsServer(tls, (socket) => smtp.server.emit("connection", socket));
  const forgetCertificate = certificate.onChange((pair) => {
    smtp.updateSecureContext(pair);
    tlsServer.setSecureContext({ ...tls, ...pair });
  });

  const server = createServer((socket) => {
    const network = networkOf(socket.remoteAddress ?? "");
    const peer = peerOf(network, socket.remotePort);
    const admission = caps.admit(network, (reason) => {
      networkLog.note(network, `an SMTP session was ended: ${reason}`);
      endSession(socket, peer, reason);
    });
    if (admission === null) {
      networkLog.note(network, "an SMTP connection was refused: there are too many");
      refuse(socket, isImplicitTls ? "" : `421 4.7.0 ${name} Too many connections: retry later\r\n`);
      return;
    }
    const late = endInTime(socket, peer);
    admissions.set(peer, admission);
    sockets.set(socket, () => {
      clearTimeout(late);
      admission.leave();
      if (admissions.get(peer) === admission) admissions.delete(peer);
    });
    socket.once("close", forgetGone);
    (isImplicitTls ? tlsServer : smtp.server).emit("connection", socket);
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  server.on("error", (err) => log.error({ err }, "an SMTP port has trouble"));
  const address = server.address();

  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    async stop(patienceMs) {
      isStopping = true;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      smtp.close();
      forgetCertificate();
      for (const connection of smtp.connections) {
        if (!receiving.has(connection.session.id)) connection.send(421, "4.3.2 The service is stopping");
      }
      const patience = new AbortController();
      await Promise.race([
        closed,
        delay(patienceMs, undefined, { signal: patience.signal, ref: false }).catch(() => {}),
      ]);
      patience.abort();
      for (const socket of sockets.keys()) socket.destroy();
      await closed;
    },
  };
}

type CommandHandler = (line: Buffer, done: () => void) => void;

/** The part of a connection of smtp-server that finds the handler of a command. */
interface CommandReader {
  _getHandler(name: string): CommandHandler | undefined;
}

/** EHLO and HELO with blanks in the name, as computers with odd names say it: the first word counts, as with other MTAs. */
function takeAnyName(connection: CommandReader): void {
  const handlerOf = connection._getHandler.bind(connection);
  connection._getHandler = (name) => {
    const handler = handlerOf(name);
    if (handler === undefined || (name !== "EHLO" && name !== "HELO")) return handler;
    return (line, callback) => {
      const [command = "", first = ""] = line.toString("latin1").trim().split(/\s+/);
      return handler.call(connection, Buffer.from(`${command} ${first}`, "latin1"), callback);
    };
  };
}

function refuse(socket: Socket, reply: string): void {
  socket.on("error", () => {});
  socket.end(reply);
  setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
}
