/**
 * A mail exchanger on loopback for tests and benchmarks. It accepts messages, keeps or counts them, and misbehaves on
 * request: for all clients (FakeMxOptions) or for single recipients, whose local parts select a script
 * (fake-mx-scripts.ts). Tests use `waitForMessages` and never sleep.
 *
 * Run by hand, `node test/support/fake-mx.ts --port 2525` counts messages without keeping them.
 */
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createSecureContext, type SecureContextOptions, type SecureVersion } from "node:tls";
import { parseArgs } from "node:util";
import { type Behaviour, Conversation } from "./fake-mx-conversation.ts";

export interface FakeMxOptions extends Partial<Omit<Behaviour, "secureContext">> {
  /** Default: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** False, for benchmarks: counts messages by Message-ID without keeping them. */
  readonly keep?: boolean;
  /** Its certificate: self-signed ("own", the default), or issued by an authority that is sent along (issuedChain). */
  readonly certificate?: "own" | "issued";
  /** The newest TLS version that it supports. */
  readonly tlsVersion?: SecureVersion;
  /** More TLS options; they win over the two above. */
  readonly tlsOptions?: SecureContextOptions;
}

/** A message that the fake MX has accepted with 250. */
export interface ReceivedMessage {
  readonly mailFrom: string;
  readonly rcptTo: string;
  /** The parameters of MAIL, such as "SIZE=120 BODY=8BITMIME". */
  readonly parameters: string;
  /** The message without dot-stuffing. */
  readonly raw: Buffer;
  readonly tls: boolean;
  /** The number of its connection, counted from 1. */
  readonly connection: number;
  /** The IP address of the client; below, its EHLO name. */
  readonly peer: string;
  readonly ehlo: string;
}

export interface FakeMx {
  readonly port: number;
  /** In the order of arrival; empty with `keep: false`. */
  readonly messages: readonly ReceivedMessage[];
  /** Number of accepted messages. */
  readonly received: number;
  /** Copies by Message-ID. */
  readonly copies: ReadonlyMap<string, number>;
  /** All command lines of all connections; empty with `keep: false`. */
  readonly commands: readonly string[];
  /** Number of connections since the start; below, the open ones. */
  readonly connections: number;
  readonly openConnections: number;
  /** Resolves to all messages so far once `count` have been accepted. */
  waitForMessages(count: number): Promise<readonly ReceivedMessage[]>;
  /** Closes all connections and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A self-signed certificate for mx.example.test and *.example.test; it and its key are for tests only. */
export const fakeMxCertificate = pem("fake-mx-certificate");
export const fakeMxKey = pem("fake-mx-key");
/** A certificate for mx.example.test and mta-sts.example.test, followed by the certificate of its authority. */
export const issuedChain = pem("issued-certificate");
export const issuedKey = pem("issued-key");

export function pem(name: string): string {
  return readFileSync(new URL(`${name}.pem`, import.meta.url), "utf8");
}

/** Starts a fake MX. It listens when the promise resolves. */
export async function startFakeMx(options: FakeMxOptions = {}): Promise<FakeMx> {
  const {
    port = 0,
    host = "127.0.0.1",
    keep = true,
    tlsVersion,
    certificate,
    tlsOptions,
    ...wishes
  } = options;
  const behaviour: Behaviour = {
    esmtp: true,
    pipelining: true,
    eightBitMime: true,
    smtpUtf8: true,
    size: 52_428_800,
    tls: "none",
    insteadOfTls: null,
    answers: {},
    answersUnderTls: {},
    slowMs: 1_000,
    ...wishes,
    secureContext: createSecureContext({
      ...(certificate === "issued"
        ? { key: issuedKey, cert: issuedChain }
        : { key: fakeMxKey, cert: fakeMxCertificate }),
      // OpenSSL 3 supports TLS versions before 1.2 only at its lowest security level.
      ...(tlsVersion && { minVersion: "TLSv1", maxVersion: tlsVersion, ciphers: "DEFAULT@SECLEVEL=0" }),
      ...tlsOptions,
    }),
  };

  const messages: ReceivedMessage[] = [];
  const commands: string[] = [];
  const copies = new Map<string, number>();
  const appearances = new Map<string, number>();
  const sockets = new Set<Socket>();
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let received = 0;
  let connections = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    const connection = ++connections;
    const peer = socket.remoteAddress ?? "";
    let ehlo = "";
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    new Conversation(socket, behaviour, {
      command: (line) => {
        if (keep) commands.push(line);
        ehlo = /^(?:EHLO|HELO) (.*)$/i.exec(line)?.[1] ?? ehlo;
      },
      meet: (recipient) => {
        const times = (appearances.get(recipient) ?? 0) + 1;
        appearances.set(recipient, times);
        return times;
      },
      deliver: ({ data, ...envelope }) => {
        const id = /^message-id:\s*(\S+)/im.exec(data)?.[1] ?? "";
        copies.set(id, (copies.get(id) ?? 0) + 1);
        if (keep) messages.push({ ...envelope, raw: Buffer.from(data, "latin1"), connection, peer, ehlo });
        received += 1;
        for (const { count, resolve } of waiting) if (count <= received) resolve();
        if (waiting.length > 0) waiting = waiting.filter(({ count }) => count > received);
      },
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    copies,
    commands,
    get received() {
      return received;
    },
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    async waitForMessages(count) {
      if (received < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return messages;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "2525" } } });
  const mx = await startFakeMx({ port: Number(values.port), keep: false });
  process.stdout.write(`listening on port ${mx.port}\n`);
  let reported = 0;
  setInterval(() => {
    if (mx.received > reported)
      process.stdout.write(`${mx.received} received, ${mx.copies.size} different\n`);
    reported = mx.received;
  }, 1_000);
}
