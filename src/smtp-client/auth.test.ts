import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createSecureContext } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { fakeMxCertificate } from "#test/support/fake-mx.ts";
import { startScriptedPeer } from "#test/support/scripted-peer.ts";
import { logIn } from "./auth.ts";
import { parseExtensions } from "./extensions.ts";
import { openSession, type SessionOptions } from "./session.ts";

const credentials = { user: "me@example.test", password: "pässword 123" };
const key = readFileSync(new URL("../../test/support/fake-mx-key.pem", import.meta.url));
const mail = {
  mailFrom: "b.1@bounce.test",
  rcptTo: "ann@example.test",
  message: Buffer.from("Message-ID: <1@out.example.test>\r\n\r\nHello\r\n"),
  smtpUtf8: false,
};

/**
 * A fake smart host, independent of our server code, that knows one account. Returns its port and the commands it got.
 */
async function startSmartHost(options: SMTPServerOptions) {
  const logIns: string[] = [];
  const server = new SMTPServer({
    key,
    cert: fakeMxCertificate,
    allowInsecureAuth: true,
    onAuth({ method, username, password }, _session, done) {
      logIns.push(method);
      const isRight = username === credentials.user && password === credentials.password;
      if (isRight) done(null, { user: username });
      else done(new Error("Invalid username or password"));
    },
    ...options,
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, logIns };
}

async function open(port: number, options: Partial<SessionOptions> = {}) {
  const target = { host: "mx.example.test", address: "127.0.0.1", port, ehloName: "out.example.test" };
  const result = await openSession({ ...target, tls: "opportunistic", credentials, ...options });
  if (result.outcome === "open") onTestFinished(() => result.session.destroy());
  return result;
}

test.each([
  ["PLAIN, the better of two", ["LOGIN", "PLAIN"], "PLAIN"],
  ["LOGIN where there is nothing else", ["LOGIN"], "LOGIN"],
])("%s", async (_name, authMethods, used) => {
  const host = await startSmartHost({ authMethods });
  const opened = await open(host.port);
  if (opened.outcome !== "open") throw new Error(JSON.stringify(opened));
  expect(opened.session.tls).not.toBeNull();
  expect(await opened.session.send(mail)).toMatchObject({ outcome: "accepted" });
  expect(host.logIns).toEqual([used]);
});

test("implicit TLS starts before any command is sent", async () => {
  const host = await startSmartHost({ secure: true });
  const secureContext = createSecureContext({ ca: fakeMxCertificate });
  const opened = await open(host.port, { tls: "implicit", secureContext });
  if (opened.outcome !== "open") throw new Error(JSON.stringify(opened));
  expect(opened.session.tls).toMatchObject({ verified: true });
  expect(await opened.session.send(mail)).toMatchObject({ outcome: "accepted" });
});

test("no credentials are sent to a server that lacks the required TLS", async () => {
  const host = await startSmartHost({ hideSTARTTLS: true });
  expect(await open(host.port, { tls: "implicit" })).toMatchObject({
    outcome: "broken",
    stage: "starttls",
    tlsFailed: true,
  });
  expect(host.logIns).toEqual([]);
});

test.each([["PLAIN"], ["LOGIN"]])("a refused %s login is a rejection at the auth stage", async (method) => {
  const host = await startSmartHost({ authMethods: [method] });
  const opened = await open(host.port, { credentials: { ...credentials, password: "wrong" } });
  expect(opened).toMatchObject({ outcome: "refused", stage: "auth", code: 535, tlsFailed: false });
});

test.each([
  ["no mechanism of ours", "250-x\r\n250 AUTH XOAUTH2\r\n", "", /neither AUTH PLAIN nor LOGIN/],
  ["no mechanism at all", "250 x\r\n", "", /neither AUTH PLAIN nor LOGIN/],
  ["a challenge to PLAIN", "250-x\r\n250 AUTH PLAIN\r\n", "334 go on\r\n", /334/],
  ["a third challenge to LOGIN", "250-x\r\n250 AUTH=LOGIN\r\n", "334 a\r\n334 b\r\n334 c\r\n", /334/],
])("%s breaks the session", async (_name, greeting, answers, reason) => {
  await using peer = await startScriptedPeer(async (client) => {
    client.say("220 x\r\n");
    await client.hear("EHLO");
    client.say(greeting);
    for (const answer of answers.match(/.+\r\n/g) ?? []) {
      await client.hear("\r\n");
      client.say(answer);
    }
  });
  expect(await open(peer.port)).toMatchObject({
    outcome: "broken",
    stage: "auth",
    reason: expect.stringMatching(reason),
  });
});

test.each([
  ["in clear text", null],
  ["under a certificate that nobody vouches for", { protocol: "TLSv1.3", cipher: "x", verified: false }],
])("the password is not sent to a remote host %s", async (_name, tls) => {
  const offers = parseExtensions({ code: 250, lines: ["x", "AUTH PLAIN LOGIN"] });
  const told: string[] = [];
  const ask = async (_step: unknown, command: string) => {
    told.push(command);
    return { code: 235, lines: [""] };
  };
  const refused = await logIn({ ask }, { offers, tls }, { credentials, address: "192.0.2.1" });
  expect(refused).toMatchObject({ outcome: "broken", stage: "auth", fault: "tls", tlsFailed: false });
  expect(told).toEqual([]);
  const verified = { protocol: "TLSv1.3", cipher: "x", verified: true };
  expect(await logIn({ ask }, { offers, tls: verified }, { credentials, address: "192.0.2.1" })).toBeNull();
  expect(told).toHaveLength(1);
});
