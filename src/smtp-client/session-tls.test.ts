/** TLS faults of servers, and the command injection of RFC 3207 section 6. */
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { SMTPServer } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, fakeMxCertificate, fakeMxKey, startFakeMx } from "#test/support/fake-mx.ts";
import { startScriptedPeer } from "#test/support/scripted-peer.ts";
import { standardDeadlines, withOptionalTls } from "./deadlines.ts";
import { openSession, type SessionOptions } from "./session.ts";

const attempt = async (port: number, options: Partial<SessionOptions> = {}) => {
  const result = await openSession({
    host: "mx.example.test",
    address: "127.0.0.1",
    port,
    ehloName: "out.example.test",
    tls: "opportunistic",
    ...options,
  });
  if (result.outcome === "open") onTestFinished(() => result.session.destroy());
  return result;
};

const mxWith = async (options: FakeMxOptions) => {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return mx;
};

const open = async (port: number, options?: Partial<SessionOptions>) => {
  const result = await attempt(port, options);
  if (result.outcome !== "open") throw new Error(JSON.stringify(result));
  return result.session;
};

const mail = {
  mailFrom: "b.1@bounce.test",
  rcptTo: "ann@example.test",
  message: Buffer.from("Message-ID: <1@out.example.test>\r\n\r\nHello\r\n..\r\n"),
  smtpUtf8: false,
};

describe("STARTTLS", () => {
  test.each(["opportunistic", "required"] as const)(
    "%s: used if offered, and EHLO is sent again",
    async (tls) => {
      const mx = await mxWith({ tls: "offered" });
      const session = await open(mx.port, { tls });
      expect(session.tls).toMatchObject({
        protocol: "TLSv1.3",
        cipher: expect.stringMatching(/^TLS_/),
        verified: false,
      });
      expect(session.offers).toMatchObject({ startTls: false, pipelining: true });
      expect(await session.send(mail)).toMatchObject({ outcome: "accepted" });
      expect(mx.messages).toMatchObject([{ tls: true, raw: mail.message }]);
      expect(mx.commands.slice(0, 3)).toEqual(["EHLO out.example.test", "STARTTLS", "EHLO out.example.test"]);
    },
  );

  test("a certificate is verified for the name of the host and against the roots given", async () => {
    const mx = await mxWith({ tls: "offered" });
    const secureContext = createSecureContext({ ca: fakeMxCertificate });
    const verified = async (options: Partial<SessionOptions>) => (await open(mx.port, options)).tls?.verified;
    expect(await verified({ secureContext })).toBe(true);
    expect(await verified({ secureContext, host: "mx.elsewhere.test" })).toBe(false);
    expect(await verified({ secureContext, host: "mx.elsewhere.test", servername: "mx.example.test" })).toBe(
      true,
    );
    expect(await verified({ secureContext, host: "127.0.0.1" })).toBe(false);
    expect(await verified({})).toBe(false);
  });

  test("not offered: opportunistic continues in clear text, required fails", async () => {
    const mx = await mxWith({ tls: "none" });
    expect((await open(mx.port)).tls).toBeNull();
    expect(await attempt(mx.port, { tls: "required" })).toMatchObject({
      outcome: "broken",
      stage: "starttls",
      fault: "tls",
      tlsFailed: true,
    });
  });

  test("none: STARTTLS is never sent", async () => {
    const mx = await mxWith({ tls: "offered" });
    expect((await open(mx.port, { tls: "none" })).tls).toBeNull();
    expect(mx.commands).toEqual(["EHLO out.example.test"]);
  });

  test("many messages are sent over one TLS connection", async () => {
    const mx = await mxWith({ tls: "offered" });
    const session = await open(mx.port);
    const results = await Promise.all(Array.from({ length: 50 }, () => session.send(mail)));
    expect(results.every(({ outcome }) => outcome === "accepted")).toBe(true);
    const large = { ...mail, message: Buffer.from("0123456789\r\n".repeat(200_000)) };
    expect(await session.send(large)).toMatchObject({ outcome: "accepted" });
    expect(mx.messages.at(-1)?.raw.equals(large.message)).toBe(true);
    expect(mx.connections).toBe(1);
  });
});

describe("a TLS failure is reported as one, and the host can be tried again without TLS", () => {
  test.each([
    ["refused with 454", { tls: "refused" }, /STARTTLS refused: 454/],
    ["broken handshake", { tls: "broken" }, /TLS handshake/],
    ["TLS 1.1 only", { tls: "offered", tlsVersion: "TLSv1.1" }, /TLS handshake/],
  ] as const)("%s", async (_case, options, reason) => {
    const mx = await mxWith(options);
    for (const tls of ["opportunistic", "required"] as const) {
      expect(await attempt(mx.port, { tls })).toMatchObject({
        outcome: "broken",
        stage: "starttls",
        fault: "tls",
        reason: expect.stringMatching(reason),
        tlsFailed: true,
      });
    }
    const session = await open(mx.port, { tls: "none" });
    expect(await session.send(mail)).toMatchObject({ outcome: "accepted" });
  });

  test("a handshake without end", async () => {
    const server = await startScriptedPeer(async (peer) => {
      peer.say("220 hi\r\n");
      await peer.hear("EHLO");
      peer.say("250-hi\r\n250 STARTTLS\r\n");
      await peer.hear("STARTTLS");
      peer.say("220 go\r\n");
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    expect(await attempt(server.port, { deadlines: { ...standardDeadlines, starttls: 100 } })).toMatchObject({
      outcome: "broken",
      stage: "starttls",
      fault: "timeout",
      tlsFailed: true,
    });
  });

  test("a server that asks for a later try keeps its reply, and clear text may still be tried", async () => {
    const leaving = await mxWith({ tls: "offered", answers: { starttls: "421 4.3.2 bye" } });
    expect(await attempt(leaving.port)).toMatchObject({
      outcome: "refused",
      stage: "starttls",
      code: 421,
      tlsFailed: true,
    });
  });
});

test("a TLS step has 15 seconds if clear text is allowed, otherwise a minute", async () => {
  expect(standardDeadlines).toMatchObject({ starttls: 60_000, ehloUnderTls: 60_000 });
  expect(withOptionalTls(standardDeadlines)).toEqual({
    ...standardDeadlines,
    starttls: 15_000,
    ehloUnderTls: 15_000,
  });
  const short = { ...standardDeadlines, starttls: 100, ehloUnderTls: 100 };
  expect(withOptionalTls(short)).toEqual(short);
});

/** In TLS 1.2, before its first reply. */
function renegotiating(socket: Socket): void {
  const secureContext = createSecureContext({
    key: fakeMxKey,
    cert: fakeMxCertificate,
    maxVersion: "TLSv1.2",
  });
  const tls = new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => {});
  const isRenegotiated = new Promise<void>((resolve) =>
    tls.once("secure", () => tls.renegotiate({}, () => resolve())),
  );
  tls.once("data", () => void isRenegotiated.then(() => tls.write("250 hi\r\n")));
}

test("a server that renegotiates keeps its session", async () => {
  const mx = await mxWith({ tls: "offered", insteadOfTls: renegotiating });
  const session = await open(mx.port);
  expect(session.tls?.protocol).toBe("TLSv1.2");
});

test("replies injected in clear text behind the 220 are ignored", async () => {
  const mx = await mxWith({ tls: "injected", size: 1_000_000 });
  const session = await open(mx.port);
  expect(session.offers).toMatchObject({ size: 1_000_000, pipelining: true });
  expect(await session.send(mail)).toMatchObject({ outcome: "accepted" });
  expect(mx.messages).toMatchObject([{ tls: true }]);
});

test("an independent server implementation accepts our sessions, with and without TLS", async () => {
  const received: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        received.push(`${session.secure} ${Buffer.concat(chunks).toString("latin1")}`);
        done(null, "2.0.0 taken");
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  for (const tls of ["required", "none"] as const) {
    const session = await open(port, { tls });
    expect(await session.send(mail)).toMatchObject({ outcome: "accepted", enhanced: "2.0.0" });
    await session.quit();
  }
  const body = mail.message.toString("latin1");
  expect(received).toEqual([`true ${body}`, `false ${body}`]);
});
