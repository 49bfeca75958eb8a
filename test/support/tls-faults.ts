/**
 * Mail servers whose TLS fails before the first reply under TLS, each in a different way. All offer STARTTLS and accept
 * mail in clear text. `row` is the first column of the table "When TLS fails" in docs/delivery.md.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { createSecureContext, type SecureVersion, TLSSocket } from "node:tls";
import { type FakeMxOptions, fakeMxCertificate, fakeMxKey, pem } from "./fake-mx.ts";
import { DROP, RESET, SLOW } from "./fake-mx-scripts.ts";

export interface TlsFault {
  readonly row: string;
  readonly what: string;
  readonly mx: FakeMxOptions;
  /** Matches the text in the message's timeline. */
  readonly reason: RegExp;
}

const rsa = { key: pem("rsa-key"), cert: pem("rsa-certificate") };
/** Diffie-Hellman parameters of 1,024 bits. */
const SMALL_DH = `-----BEGIN DH PARAMETERS-----
MIGHAoGBAPUlIqVEmtkOuSRP80yd1AWcFpO7OXaKL+dkw0yp4HNEETR/aqRgKORn
ldyqjnPxLE9Rmz792SPDIKxMoPEVxHxIUlemTONAgBUr6HK01/me0pZpT5wzhEAk
mRxMXzy69Pou48T2/lCocpZr7GRQf+mEqUGnKHAArwbMPaTsXR1HAgEC
-----END DH PARAMETERS-----`;

const ALERT = 21;
const HANDSHAKE = 22;
const SERVER_HELLO = 2;
const CERTIFICATE = 11;
const RC4_SHA = 0x0005;
const ECDHE_RSA_AES128 = 0xc02f;
/** The renegotiation_info extension (RFC 5746). */
const SECURE_RENEGOTIATION = Buffer.from([0, 5, 0xff, 0x01, 0, 1, 0]);

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const record = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type, 3, 3]), uint16(content.length), content]);
const handshake = (type: number, content: Buffer) =>
  record(HANDSHAKE, Buffer.concat([Buffer.from([type, 0]), uint16(content.length), content]));
const serverHello = (cipher: number, extensions: Buffer) =>
  handshake(
    SERVER_HELLO,
    Buffer.concat([
      uint16(0x0303),
      randomBytes(32),
      Buffer.from([0]),
      uint16(cipher),
      Buffer.from([0]),
      extensions,
    ]),
  );
const certificateOf = (der: Buffer) =>
  handshake(
    CERTIFICATE,
    Buffer.concat([Buffer.from([0]), uint16(der.length + 3), Buffer.from([0]), uint16(der.length), der]),
  );
const SSL_3_HELLO = Buffer.concat([
  Buffer.from([HANDSHAKE, 3, 0, 0, 42, SERVER_HELLO, 0, 0, 38, 3, 0]),
  randomBytes(32),
  Buffer.from([0, 0, 5, 0]),
]);
const fatalAlert = (number: number) => record(ALERT, Buffer.from([2, number]));

/** Sends these octets in reply to the ClientHello. */
const saying =
  (...octets: (Buffer | string)[]) =>
  (socket: Socket) => {
    socket.once("data", () => {
      for (const one of octets) socket.write(one);
    });
  };
const then =
  (end: (socket: Socket) => void) =>
  (socket: Socket): void => {
    socket.once("data", () => end(socket));
  };

interface ServerTls {
  readonly maxVersion?: SecureVersion;
  /** Requires a client certificate. In TLS 1.3 the refusal arrives after the handshake. */
  readonly requestCert?: boolean;
}

function secured(socket: Duplex, { maxVersion, requestCert = false }: ServerTls = {}): TLSSocket {
  const secureContext = createSecureContext({
    key: fakeMxKey,
    cert: fakeMxCertificate,
    ...(maxVersion && { maxVersion }),
  });
  const options = { isServer: true, secureContext, requestCert, rejectUnauthorized: requestCert };
  return new TLSSocket(socket as Socket, options).on("error", () => {}).resume();
}

/** Changes one octet in each TLS segment from the server. */
function distorted(socket: Socket): void {
  const [server, wire] = duplexPair();
  secured(server);
  socket.on("data", (octets: Buffer) => wire.write(octets));
  wire.on("data", (octets: Buffer) => {
    const changed = Buffer.from(octets);
    const at = changed.length - 3;
    changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
    socket.write(changed);
  });
  socket.on("close", () => wire.destroy());
}

/** Sends one octet of an endless record every 20 ms. */
function dribble(socket: Socket): void {
  socket.write(Buffer.from([HANDSHAKE, 3, 3, 2, 0, SERVER_HELLO]));
  const timer = setInterval(() => socket.write(Buffer.from([0])), 20);
  socket.on("close", () => clearInterval(timer));
}

const only = (maxVersion: SecureVersion, ciphers: string): FakeMxOptions => ({
  tlsOptions: { ...rsa, minVersion: "TLSv1", maxVersion, ciphers: `${ciphers}:@SECLEVEL=0` },
});
const answering = (starttls: string): FakeMxOptions => ({ answers: { starttls } });
const insteadOfTls = (play: (socket: Socket) => void): FakeMxOptions => ({ insteadOfTls: play });
const underTls = (ehlo: string): FakeMxOptions => ({ answersUnderTls: { ehlo } });

const rows: Readonly<Record<string, readonly (readonly [string, FakeMxOptions, RegExp])[]>> = {
  "refuses STARTTLS": [
    ["454", { tls: "refused" }, /STARTTLS refused: 454 4\.7\.0 TLS not available/],
    ["502", answering("502 5.5.1 Not implemented"), /STARTTLS refused: 502/],
    ["554", answering("554 5.7.3 Unable to initialize security subsystem"), /STARTTLS refused: 554/],
    ["421", answering("421 4.3.0 TLS is broken, bye"), /421 4\.3\.0 TLS is broken, bye/],
  ],
  "hangs up at STARTTLS": [
    ["in silence", answering(DROP), /STARTTLS failed: the server (?:closed|reset) the connection/],
    ["with a reset", answering(RESET), /STARTTLS failed: .*reset/],
  ],
  "answers STARTTLS with something else": [
    ["no SMTP reply", answering("what?"), /STARTTLS failed: not an SMTP reply: "what\?"/],
    [
      "a reply of another kind",
      answering("354 go on"),
      /STARTTLS failed: the server answered STARTTLS with "354 go on"/,
    ],
    ["two codes", answering("220-go\r\n454 no"), /STARTTLS failed: a reply with two codes/],
  ],
  "does not answer STARTTLS": [["silence", answering(SLOW), /STARTTLS failed: no answer in time/]],
  "hangs up in the handshake": [
    ["right behind the 220", insteadOfTls((socket) => socket.end()), /TLS handshake failed: .*closed/],
    ["at the client's hello", insteadOfTls(then((socket) => socket.end())), /TLS handshake failed: .*closed/],
    [
      "in the middle of a record",
      insteadOfTls(then((socket) => socket.end(handshake(SERVER_HELLO, randomBytes(90)).subarray(0, 40)))),
      /TLS handshake failed: .*closed/,
    ],
    [
      "with a reset",
      insteadOfTls(then((socket) => socket.resetAndDestroy())),
      /TLS handshake failed: .*reset/,
    ],
    [
      "with a reset right behind the 220",
      insteadOfTls((socket) => socket.resetAndDestroy()),
      /TLS handshake failed: .*(?:reset|closed)|STARTTLS failed: .*reset/,
    ],
  ],
  "does not speak TLS after its 220": [
    ["nonsense", { tls: "broken" }, /TLS handshake failed: the server does not speak TLS/],
    ["a web server", insteadOfTls(saying("HTTP/1.1 400 Bad Request\r\n\r\n")), /does not speak TLS/],
    ["SMTP goes on", insteadOfTls(saying("500 5.5.2 Unknown command\r\n")), /does not speak TLS/],
    ["zeros", insteadOfTls(saying(Buffer.alloc(200))), /does not speak TLS/],
    ["an echo", insteadOfTls((socket) => socket.on("data", (octets) => socket.write(octets))), /speak TLS/],
    ["a record that is too long", insteadOfTls(saying(Buffer.from([22, 3, 3, 0xff, 0xff]))), /speak TLS/],
    [
      "nonsense in a record",
      insteadOfTls(saying(record(HANDSHAKE, Buffer.alloc(90, "Z")))),
      /TLS handshake failed/,
    ],
  ],
  "hangs in the handshake": [
    ["in silence", insteadOfTls(() => {}), /TLS handshake failed: .*in time/],
    ["an octet at a time", insteadOfTls(then(dribble)), /TLS handshake failed: .*in time/],
  ],
  "has only TLS versions before 1.2": [
    ["TLS 1.0", only("TLSv1", "ALL"), /no TLS version/],
    ["TLS 1.1", { tlsVersion: "TLSv1.1" }, /no TLS version/],
    ["SSL 3", insteadOfTls(saying(SSL_3_HELLO)), /no TLS version/],
  ],
  "has only ciphers or keys that are too weak": [
    ["Camellia with SHA-1", only("TLSv1.2", "CAMELLIA128-SHA"), /no cipher/],
    ["no encryption", only("TLSv1.2", "NULL-SHA256"), /no cipher/],
    ["no authentication of the server", only("TLSv1.2", "ADH-AES128-SHA256"), /no cipher/],
    ["RC4", insteadOfTls(saying(serverHello(RC4_SHA, SECURE_RENEGOTIATION))), /no cipher/],
    [
      "a Diffie-Hellman group of 1,024 bits",
      {
        tlsOptions: {
          ...rsa,
          maxVersion: "TLSv1.2",
          ciphers: "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0",
          dhparam: SMALL_DH,
        },
      },
      /too weak: dh key too small/,
    ],
  ],
  "cannot renegotiate safely (RFC 5746)": [
    ["no extension", insteadOfTls(saying(serverHello(ECDHE_RSA_AES128, Buffer.alloc(0)))), /RFC 5746/],
  ],
  "has no certificate that can be read": [
    [
      "none",
      insteadOfTls((socket) => {
        new TLSSocket(socket, { isServer: true, secureContext: createSecureContext() }).on("error", () => {});
      }),
      /TLS handshake failed: /,
    ],
    [
      "junk",
      insteadOfTls(
        saying(serverHello(ECDHE_RSA_AES128, SECURE_RENEGOTIATION), certificateOf(Buffer.alloc(300, "Z"))),
      ),
      /certificate .*cannot be read/,
    ],
  ],
  "breaks the rules of TLS otherwise": [
    [
      "a list of certificates without an end",
      insteadOfTls(
        saying(
          serverHello(ECDHE_RSA_AES128, SECURE_RENEGOTIATION),
          handshake(CERTIFICATE, Buffer.from([0, 0, 0])),
        ),
      ),
      /the server's TLS is faulty: /,
    ],
  ],
  "ends the handshake with an alert": [
    [
      "handshake failure",
      insteadOfTls(saying(fatalAlert(40))),
      /the server refused the handshake \(alert "handshake failure"\): no cipher/,
    ],
    ["internal error", insteadOfTls(saying(fatalAlert(80))), /alert "internal error"/],
    ["unrecognized name", insteadOfTls(saying(fatalAlert(112))), /alert "unrecognized name"/],
    ["an undefined number", insteadOfTls(then((socket) => socket.end(fatalAlert(199)))), /handshake failed/],
    [
      "a client certificate",
      insteadOfTls((socket) => secured(socket, { maxVersion: "TLSv1.2", requestCert: true })),
      /TLS handshake failed: .*(?:certificate of ours|closed|reset)/,
    ],
  ],
  "sends octets that TLS finds changed": [
    ["a bad record", insteadOfTls(distorted), /TLS handshake failed: .*corrupted in transit/],
  ],
  "hangs up under TLS before its first answer": [
    ["at EHLO", underTls(DROP), /EHLO under TLS failed: the server (?:closed|reset) the connection/],
    ["at EHLO, with a reset", underTls(RESET), /EHLO under TLS failed: .*(?:closed|reset)/],
    [
      "at once",
      insteadOfTls((socket) => secured(socket).once("secure", () => socket.destroy())),
      /EHLO under TLS failed: .*(?:closed|reset)|handshake failed: .*(?:closed|reset)/,
    ],
    [
      "requires a client certificate",
      insteadOfTls((socket) => secured(socket, { requestCert: true })),
      /EHLO under TLS failed: .*alert "certificate required"/,
    ],
  ],
  "refuses EHLO and HELO under TLS": [
    [
      "503",
      underTls("503 5.5.1 Bad sequence of commands"),
      /EHLO under TLS refused: 503 5\.5\.1 Bad sequence/,
    ],
    ["550", underTls("550 5.7.1 Not here"), /EHLO under TLS refused: 550/],
    ["451", underTls("451 4.3.0 Later"), /451 4\.3\.0 Later/],
    ["421", underTls("421 4.3.2 Not now"), /421 4\.3\.2 Not now/],
  ],
  "answers EHLO under TLS with something else": [
    ["no SMTP reply", underTls("what?"), /EHLO under TLS failed: not an SMTP reply/],
    [
      "a reply of another kind",
      underTls("354 go on"),
      /EHLO under TLS failed: the server answered EHLO with "354 go on"/,
    ],
    ["a greeting", underTls("220 mx ESMTP"), /EHLO under TLS failed: .*answered EHLO with "220 mx ESMTP"/],
    [
      "its greeting once more, and then the answer",
      insteadOfTls((socket) => {
        const tls = secured(socket);
        tls.once("secure", () => tls.write("220 mx ESMTP\r\n"));
        tls.on("data", () => tls.write("250-mx\r\n250 8BITMIME\r\n"));
      }),
      /EHLO under TLS failed: /,
    ],
  ],
  "does not answer EHLO under TLS": [["silence", underTls(SLOW), /EHLO under TLS failed: no answer in time/]],
};

export const tlsFaults: readonly TlsFault[] = Object.entries(rows).flatMap(([row, faults]) =>
  faults.map(([what, mx, reason]) => ({
    row,
    what,
    reason,
    mx: { tls: "offered", slowMs: 60_000, ...mx } as const,
  })),
);
