import { once } from "node:events";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { prepareDoctor } from "#test/support/doctor-run.ts";
import type { DnsZone } from "#test/support/fake-dns.ts";
import { fakeMxCertificate, fakeMxKey } from "#test/support/fake-mx.ts";
import { startService } from "#test/support/service.ts";

const examineAll = await prepareDoctor(await startService());

async function examine(url: string, change: DnsZone = {}) {
  const { of } = await examineAll({ change, env: () => ({ PUBLIC_URL: url }) });
  return of("public URL");
}

/** Until the test ends. */
async function listening(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Its certificate names mx.example.test. */
const secureServer = () =>
  listening(createServer({ key: fakeMxKey, cert: fakeMxCertificate }).on("tlsClientError", () => {}));

test("links are in order where a name and its certificate lead to a server", async () => {
  const authorities = getCACertificates();
  onTestFinished(() => setDefaultCACertificates(authorities));
  setDefaultCACertificates([...authorities, fakeMxCertificate]);
  const url = `https://mx.example.test:${await secureServer()}/`;
  expect(await examine(url)).toMatchObject({ status: "ok", message: `Links lead to ${url}.` });
});

test("a certificate that browsers do not trust is a fault, and so is none", async () => {
  expect(await examine(`https://mx.example.test:${await secureServer()}/`)).toMatchObject({
    status: "fault",
    message: expect.stringMatching(/Browsers do not trust .*self.signed certificate/),
  });
  const plain = await listening(createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
  expect(await examine(`https://mx.example.test:${plain}/`)).toMatchObject({ status: "fault" });
});

test("a name without an address is a fault, and so is an address that only this machine has", async () => {
  expect(await examine("https://nowhere.ours.test/")).toMatchObject({
    status: "fault",
    message: expect.stringContaining("nowhere.ours.test has no address in the DNS"),
  });
  expect(await examine("")).toMatchObject({ status: "fault" });
});

test.each<[string, string, DnsZone, string]>([
  ["a silent DNS", "https://post.ours.test/", { "post.ours.test": "servfail" }, "ESERVFAIL"],
  ["a server that this machine does not reach", "https://post.ours.test:9/", {}, "ECONNREFUSED"],
  ["an address in place of a name", "https://8.8.4.4/", {}, "certificate"],
])("%s leaves it open, which is said", async (_, url, change, reason) => {
  expect(await examine(url, change)).toMatchObject({
    status: "not_checked",
    message: expect.stringContaining(reason),
  });
});
