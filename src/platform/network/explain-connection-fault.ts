/**
 * Explains in plain words why a connection ended. The messages of OpenSSL contain pointers, source paths, line numbers and
 * line breaks, which do not help a person who reads the timeline of a message.
 */

const NO_TLS = "the server does not speak TLS here";
const OLD_TLS = "the server has no TLS version from 1.2 on";
const NO_CIPHER = "the server accepts no cipher that is safe enough";
const REFUSED =
  'the server refused the handshake (alert "handshake failure"): no cipher or certificate in common, or it asks for a certificate of ours';

/** Patterns of OpenSSL's reasons, and what we say instead. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|http request|unknown protocol|length too long|unexpected message|record type/,
    NO_TLS,
  ],
  [/alert protocol version|unsupported protocol|version too low|no protocols available|ssl version/, OLD_TLS],
  [/alert handshake failure/, REFUSED],
  [/insufficient security|no shared cipher|(?:unknown|wrong) cipher/, NO_CIPHER],
  [/legacy renegotiation/, "the server cannot renegotiate safely (RFC 5746)"],
  [/bad record mac|digest check failed|bad decrypt/, "data from the server was corrupted in transit"],
];
/** Names of the OpenSSL libraries that read certificates. */
const CERTIFICATE = /asn1|x509|pem routines/i;
const ALERT = /^(?:ssl\/tls|sslv3|tlsv1(?:[.\d]*)) (?:alert )?(.+)$/;
const TOO_WEAK = /too (?:small|weak|short)/;

/** Error codes of sockets, and what we say instead. */
const LOST: ReadonlyMap<string, string> = new Map([
  ["ECONNRESET", "the server reset the connection"],
  ["EPIPE", "the server closed the connection"],
  ["ETIMEDOUT", "the connection timed out"],
]);

/** One clause, in one line, for an error of a connected socket or of TLS on it. */
export function connectionFault(error: Error): string {
  const { reason, library } = openSslErrorOf(error);
  if (reason !== "") return tlsFault(reason, library);
  // Node.js gives the code ECONNRESET to a connection that is closed before the TLS handshake.
  if (error.message.startsWith("Client network socket disconnected"))
    return "the server closed the connection";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return LOST.get(code) ?? oneLine(error.message);
}

function tlsFault(reason: string, library: string): string {
  const known = REASONS.find(([words]) => words.test(reason));
  if (known !== undefined) return known[1];
  if (TOO_WEAK.test(reason)) return `the server's key is too weak: ${reason}`;
  const alert = ALERT.exec(reason)?.[1];
  if (alert !== undefined) return `the server sent the TLS alert "${alert}"`;
  const what = CERTIFICATE.test(library)
    ? "the server's certificate cannot be read"
    : "the server's TLS is faulty";
  return `${what}: ${reason}`;
}

/** Read from the properties of the error, else from its message. Empty strings if the error is not from OpenSSL. */
function openSslErrorOf(error: Error): { readonly reason: string; readonly library: string } {
  const [, library = "", reason = ""] = /error:[\dA-F]+:([^:]*):[^:]*:([^:\n]*)/i.exec(error.message) ?? [];
  const told = { reason: textOf(error, "reason"), library: textOf(error, "library") };
  // Node's own errors about certificates have a reason, but no library.
  return told.reason === "" || told.library === "" ? { reason: oneLine(reason), library } : told;
}

function textOf(error: Error, property: "reason" | "library"): string {
  const value: unknown = Reflect.get(error, property);
  return typeof value === "string" ? oneLine(value) : "";
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
