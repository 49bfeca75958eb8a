import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { KeptConnections } from "#platform/network/kept-connections.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { answerWith, startReceiver } from "#test/support/webhook-receiver.ts";
import { createReceiver } from "./post-to-receiver.ts";

const dns = await startFakeDns();
const receiver = await startReceiver();
afterAll(() => Promise.all([dns.close(), receiver.close()]));
const resolver = createResolver({ servers: [dns.address], timeoutMs: 10_000, tries: 1 });
const timeoutMs = 20_000;
const connections = new KeptConnections();
const post = createReceiver({ resolver, allowPrivate: true, timeoutMs, connections });
const postPublic = createReceiver({ resolver, allowPrivate: false, timeoutMs, connections });
const attempt = (url: string) => ({ url, headers: { "webhook-id": "1" }, body: '{"a":"ä"}' });

beforeEach(() => {
  receiver.arrived.length = 0;
  receiver.answer = answerWith(204);
});

test("body and headers arrive as they were given, at the host's own name", async () => {
  dns.zone = { "hooks.test": { A: ["127.0.0.1"] } };
  expect(await post(attempt(`http://hooks.test:${receiver.port}/x?y=1`))).toMatchObject({
    isDelivered: true,
    statusCode: 204,
    error: null,
  });
  expect(receiver.arrived).toMatchObject([
    { body: '{"a":"ä"}', headers: { host: `hooks.test:${receiver.port}`, "webhook-id": "1" } },
  ]);
});

test("a redirect is a failure and is not followed", async () => {
  receiver.answer = answerWith(302, { location: receiver.url });
  expect(await post(attempt(receiver.url))).toMatchObject({
    isDelivered: false,
    statusCode: 302,
    error: "HTTP 302: redirects are not followed",
  });
  expect(receiver.arrived).toHaveLength(1);
});

test.each([400, 410, 500])("HTTP %i is a failure", async (status) => {
  receiver.answer = answerWith(status);
  expect(await post(attempt(receiver.url))).toMatchObject({ statusCode: status, error: `HTTP ${status}` });
});

test("of an endless answer little is read", async () => {
  receiver.answer = (response) => {
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  const { isDelivered, durationMs } = await post(attempt(receiver.url));
  expect(isDelivered).toBe(true);
  expect(durationMs).toBeLessThan(timeoutMs);
});

test("who does not answer in time has failed; who answers and then stalls has not", async () => {
  const impatient = createReceiver({ resolver, allowPrivate: true, timeoutMs: 2_000, connections });
  receiver.answer = () => {};
  expect(await impatient(attempt(receiver.url))).toMatchObject({
    isDelivered: false,
    statusCode: null,
    error: "no answer within 2 seconds",
  });
  receiver.answer = (response) => response.writeHead(200).write("x");
  expect(await impatient(attempt(receiver.url))).toMatchObject({ isDelivered: true, statusCode: 200 });
});

test("who switches to another protocol has not taken it, and holds nobody up", async () => {
  receiver.answer = (response) => {
    response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  };
  expect(await post(attempt(receiver.url))).toMatchObject({
    isDelivered: false,
    statusCode: null,
    error: "the connection was closed without an answer",
  });
});

test("a refused connection, a broken answer and a name without address are failures with words", async () => {
  const gone = await startReceiver();
  await gone.close();
  expect((await post(attempt(gone.url))).error).toContain("ECONNREFUSED");
  receiver.answer = (response) => response.destroy();
  expect((await post(attempt(receiver.url))).error).toBe("socket hang up");
  dns.zone = { test: {}, "broken.test": "servfail" };
  expect((await post(attempt("http://none.test/"))).error).toBe("none.test has no address");
  expect((await post(attempt("http://broken.test/"))).error).toMatch(
    "the DNS did not answer for broken.test",
  );
});

describe("without ALLOW_PRIVATE_WEBHOOKS", () => {
  test.each([
    ["127.0.0.1"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["[::1]"],
    ["[::ffff:127.0.0.1]"],
    ["[fd00::1]"],
    ["localhost"],
    ["0x7f000001"],
  ])("nothing is sent to %s", async (host) => {
    const result = await postPublic(attempt(`https://${host}:${receiver.port}/`));
    expect(result).toMatchObject({ isDelivered: false, statusCode: null });
    expect(result.error).toContain("which is not a public address");
    expect(receiver.arrived).toEqual([]);
  });

  test("nothing is sent without TLS", async () => {
    const { error } = await postPublic(attempt("http://hooks.test/"));
    expect(error).toBe("the URL is not https");
  });

  test("one private address among public ones is enough to refuse", async () => {
    dns.zone = { "mixed.test": { A: ["192.0.1.1", "127.0.0.1"] }, "six.test": { AAAA: ["::1"] } };
    for (const name of ["mixed.test", "six.test"]) {
      const { error } = await postPublic(attempt(`https://${name}:${receiver.port}/`));
      expect(error).toContain("which is not a public address");
    }
    expect(receiver.arrived).toEqual([]);
  });
});

test("where a name was looked at is what is connected to, whatever it leads to a moment later", async () => {
  dns.zone = { "rebind.test": { A: ["127.0.0.1"] } };
  dns.questions.length = 0;
  const rebinding = {
    ...resolver,
    async ipv4(name: string) {
      const answer = await resolver.ipv4(name);
      dns.zone = { "rebind.test": { A: ["127.0.0.2"] } };
      return answer;
    },
  };
  const pinned = createReceiver({ resolver: rebinding, allowPrivate: true, timeoutMs: 1_000, connections });
  expect(await pinned(attempt(`http://rebind.test:${receiver.port}/`))).toMatchObject({ isDelivered: true });
  expect(receiver.arrived).toHaveLength(1);
  expect(dns.questions.filter(({ type }) => type === "A")).toHaveLength(1);
});

test("the certificate has to be the name's, which is also asked for in the handshake", async () => {
  const support = join(import.meta.dirname, "../../test/support");
  const cert = readFileSync(join(support, "fake-mx-certificate.pem"), "utf8");
  const key = readFileSync(join(support, "fake-mx-key.pem"), "utf8");
  const names: unknown[] = [];
  const server = createTlsServer({
    cert,
    key,
    SNICallback: (name, done) => done(null, void names.push(name)),
  });
  server.on("request", (_request, response) => response.writeHead(204).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  dns.zone = { "other.test": { A: ["127.0.0.1"] }, "mx.example.test": { A: ["127.0.0.1"] } };
  const trusting = createReceiver({
    resolver,
    allowPrivate: true,
    timeoutMs: 2_000,
    connections,
    authorities: [cert],
  });
  expect(await trusting(attempt(`https://other.test:${port}/`))).toMatchObject({ isDelivered: false });
  expect(await trusting(attempt(`https://mx.example.test:${port}/`))).toMatchObject({ isDelivered: true });
  expect(names).toEqual(["other.test", "mx.example.test"]);
  expect((await post(attempt(`https://other.test:${port}/`))).error).toMatch(/self.signed|certificate/i);
  server.closeAllConnections();
  server.close();
});
