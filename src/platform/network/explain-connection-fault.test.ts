import { expect, test } from "vitest";
import { connectionFault } from "./explain-connection-fault.ts";

/** As Node.js and OpenSSL write them. */
const openSsl = (text: string, properties: object = {}) =>
  Object.assign(new Error(`402D6512897F0000:error:${text}\n`), properties);
const from = "../deps/openssl/openssl/ssl/record";

test.each([
  [
    openSsl(
      `0A00010B:SSL routines:tls_validate_record_header:wrong version number:${from}/tlsany_meth.c:77:`,
    ),
    "the server does not speak TLS here",
  ],
  [
    openSsl(`0A000152:SSL routines:final_renegotiate:unsafe legacy renegotiation disabled:${from}/x.c:896:`, {
      library: "SSL routines",
      reason: "unsafe legacy renegotiation disabled",
    }),
    "the server cannot renegotiate safely (RFC 5746)",
  ],
  [
    openSsl(
      `0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:${from}/x.c:918:SSL alert number 40`,
    ),
    'the server refused the handshake (alert "handshake failure"): no cipher or certificate in common, or it asks for a certificate of ours',
  ],
  [
    openSsl(`0A000417:SSL routines:ssl3_read_bytes:tlsv1 alert insufficient security:${from}/x.c:918:`),
    "the server accepts no cipher that is safe enough",
  ],
  [
    openSsl(`0A000102:SSL routines:ssl_choose_client_version:unsupported protocol:${from}/x.c:2407:`),
    "the server has no TLS version from 1.2 on",
  ],
  [
    openSsl(
      `0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:${from}/x.c:918:SSL alert number 70`,
    ),
    "the server has no TLS version from 1.2 on",
  ],
  [
    openSsl(`0A00018A:SSL routines:tls_process_ske_dhe:dh key too small:${from}/x.c:2354:`),
    "the server's key is too weak: dh key too small",
  ],
  [
    openSsl(
      `0A000458:SSL routines:ssl3_read_bytes:tlsv1 unrecognized name:${from}/x.c:918:SSL alert number 112`,
    ),
    'the server sent the TLS alert "unrecognized name"',
  ],
  [
    openSsl(`0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:${from}/x.c:918:`),
    'the server sent the TLS alert "certificate required"',
  ],
  [
    openSsl(`068000A8:asn1 encoding routines:asn1_check_tlen:wrong tag:../deps/x.c:1231:`),
    "the server's certificate cannot be read: wrong tag",
  ],
  [
    openSsl(`0A00009F:SSL routines:tls_process_server_certificate:length mismatch:../x.c:1:`),
    "the server's TLS is faulty: length mismatch",
  ],
  [
    Object.assign(
      new Error(
        "write EPROTO 00A0B1C2:error:0A000119:SSL routines:tls_get_more_records:bad record mac:../x.c:1:\n",
      ),
      { code: "EPROTO" },
    ),
    "data from the server was corrupted in transit",
  ],
  [Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }), "the server reset the connection"],
  [
    Object.assign(
      new Error("Client network socket disconnected before secure TLS connection was established"),
      {
        code: "ECONNRESET",
      },
    ),
    "the server closed the connection",
  ],
  [
    Object.assign(new Error("Hostname/IP does not match certificate's altnames: Host: a. is not b"), {
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
      reason: "Host: a. is not b",
    }),
    "Hostname/IP does not match certificate's altnames: Host: a. is not b",
  ],
  [new Error("something else,\nin two lines"), "something else, in two lines"],
])("%s", (error, words) => {
  expect(connectionFault(error)).toBe(words);
});
