import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { mailHostname, prepareDoctor } from "#test/support/doctor-run.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { startService } from "#test/support/service.ts";
import { password, startSmartHost } from "#test/support/smart-host.ts";

const examine = await prepareDoctor(await startService());

test("a port at which no host answers is a fault; a host that refuses the session is reachable and no fault", async () => {
  const shut = await examine({ mx: null });
  expect(shut.code).toBe(1);
  expect(shut.of("port")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(
      /No host answers\. mx\.example\.test.*ECONNREFUSED.*ask your provider to open it/,
    ),
  });
  const { of, code } = await examine({ mx: { answers: { banner: "554 5.7.1 You are on our list" } } });
  expect(of("port")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("You are on our list"),
  });
  expect(code).toBe(0);
});

test("another domain's hosts may be named, and one without a sender has to name them", async () => {
  const words = ["--mx-of", "other.test"];
  const change: DnsZone = { "other.test": { MX: [[10, "mx.example.test"]] } };
  const named = await examine({ words, change, env: () => ({ PLATFORM_FROM: "" }) });
  expect(named.of("port")?.status).toBe("ok");
  const unnamed = await examine({ env: () => ({ PLATFORM_FROM: "" }) });
  expect(unnamed.of("port")).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining("--mx-of"),
  });
});

test("a connection without a greeting is none: networks that close the port may answer in a host's place", async () => {
  const server = createServer((socket) => socket.end());
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { of } = await examine({ env: () => ({ SMTP_PORT: String(port) }) });
  expect(of("port")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/^No host answers\. mx\.example\.test/),
  });
});

test("mail hosts that are this machine do not show whether mail can leave it", async () => {
  const own: DnsZone = { "example.test": { MX: [[10, mailHostname]] } };
  expect((await examine({ change: own })).of("port")).toMatchObject({
    status: "not_checked",
    message: expect.stringMatching(/example\.test.*this machine.*--mx-of/),
  });
  const both: DnsZone = {
    "example.test": {
      MX: [
        [10, mailHostname],
        [20, "mx.example.test"],
      ],
    },
  };
  expect((await examine({ change: both })).of("port")).toMatchObject({
    status: "ok",
    message: expect.stringContaining("mx.example.test"),
  });
});

const relay = (port: number) => ({ MAIL_MODE: "relay", RELAY_URL: `smtp://smart.test:${port}` });

test("a relay is greeted in place of mail hosts; where it does not let us in, no mail leaves, which is a fault", async () => {
  const { of, findings } = await examine({ env: relay });
  expect(of("relay")).toMatchObject({ status: "ok" });
  expect(findings.map(({ check }) => check)).not.toContain("reverse DNS");
  const shut = await examine({ env: relay, mx: null });
  expect(shut.of("relay")).toMatchObject({ status: "fault", message: expect.stringContaining("RELAY_URL") });
  const refused = await examine({ env: relay, mx: { answers: { banner: "554 5.7.1 Not from there" } } });
  expect(refused.of("relay")).toMatchObject({
    status: "fault",
    message: expect.stringContaining("Not from there"),
  });
});

test("a server whose TLS breaks is greeted in clear text, as mail is", async () => {
  for (const env of [() => ({}), relay]) {
    const { of, code } = await examine({ env, mx: { tls: "broken" } });
    expect([of(env === relay ? "relay" : "port"), code]).toMatchObject([
      { status: "ok", message: expect.stringMatching(/ in clear text: TLS failed \(.+\)\.$/) },
      0,
    ]);
  }
});

test("a server without TLS is said to offer none", async () => {
  const { of } = await examine({ mx: { tls: "none" } });
  expect(of("port")).toMatchObject({
    status: "ok",
    message: expect.stringMatching(/ in clear text: the server offers no STARTTLS\.$/),
  });
});

test("a relay's further addresses are tried, as mail tries them", async () => {
  const change: DnsZone = { "smart.test": { A: ["127.0.0.3", "127.0.0.1"] } };
  expect((await examine({ env: relay, change })).of("relay")).toMatchObject({ status: "ok" });
});

test("a relay's password is tried, and a wrong one is a fault", async () => {
  const host = await startSmartHost();
  onTestFinished(() => host.close());
  const withPassword = (given: string) => () => ({
    MAIL_MODE: "relay",
    RELAY_URL: `smtp://shop:${encodeURIComponent(given)}@smart.test:${host.port}`,
  });
  expect((await examine({ env: withPassword(password) })).of("relay")).toMatchObject({ status: "ok" });
  expect((await examine({ env: withPassword("wrong") })).of("relay")).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/refuses us \(auth\): 535 .*RELAY_URL/),
  });
});

test("a relay without an address is a fault; one that the DNS does not tell is not checked", async () => {
  expect((await examine({ env: relay, change: { "smart.test": "nxdomain" } })).of("relay")).toMatchObject({
    status: "fault",
    message: expect.stringContaining("smart.test has no address"),
  });
  expect((await examine({ env: relay, change: { "smart.test": "servfail" } })).of("relay")).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining("ESERVFAIL"),
  });
});
