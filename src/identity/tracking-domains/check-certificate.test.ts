import { once } from "node:events";
import { createServer as createTcpServer, type Server } from "node:net";
import { createServer } from "node:tls";
import sql from "sql-template-tag";
import { afterAll, expect, test } from "vitest";
import { createZoneResolver } from "#identity/dns-checks/zone-resolver.ts";
import { fakeMxCertificate, fakeMxKey } from "#test/support/fake-mx.ts";
import { startService } from "#test/support/service.ts";
import { createCertificateCheck } from "./check-certificate.ts";
import { trackingBase, trackingBaseBelow } from "./tracking-base-url.ts";
import { recheckTrackingDomains, type TrackingDomainLoss, verifyTrackingDomain } from "./verify.ts";

const target = "post.example.com";
const publicUrl = `https://${target}`;
const here = { CNAME: target };
const service = await startService({
  env: { PUBLIC_URL: publicUrl },
  zone: {
    [target]: { A: ["127.0.0.1"] },
    "mx.example.test": here,
    "links.other.example": here,
  },
});
const { database: db, workspaceId, clock, dns } = service;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});
async function listening(server: Server): Promise<number> {
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Its certificate names mx.example.test. */
const secure = await listening(
  createServer({ key: fakeMxKey, cert: fakeMxCertificate }).on("tlsClientError", () => {}),
);
const checkAt = (port: number, ca?: string) =>
  createCertificateCheck({
    servers: [dns.address],
    port,
    allowPrivate: true,
    ...(ca !== undefined && { ca }),
  });

test("a certificate of the name by a trusted authority is no fault; of another name, or of nobody, it is", async () => {
  const trusting = checkAt(secure, fakeMxCertificate);
  expect(await trusting("mx.example.test")).toBeNull();
  expect(await trusting("links.other.example")).toContain("does not match certificate's altnames");
  expect(await checkAt(secure)("mx.example.test")).toMatch(/self.signed certificate/);
});

test("a server that knows no TLS is a fault; nobody there, one that hangs up, and a private address are none", async () => {
  const plain = await listening(createTcpServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")));
  expect(await checkAt(plain)("mx.example.test")).toContain("does not speak TLS");
  const mute = await listening(createTcpServer((socket) => socket.resetAndDestroy()));
  expect(await checkAt(mute)("mx.example.test")).toBeNull();
  const gone = createTcpServer();
  const port = await listening(gone);
  gone.close();
  expect(await checkAt(port)("mx.example.test")).toBeNull();
  const asEver = createCertificateCheck({ servers: [dns.address], port: secure });
  expect(await asEver("links.other.example")).toBeNull();
});

test("links do not use a domain while its certificate is wrong, and its owner reads why", async () => {
  const { id } = (await service.call("POST", "/tracking-domains", { domain: "mx.example.test" })).body.data;
  const shown = async () => (await service.call("GET", `/tracking-domains/${id}`)).body.data;
  const bases = async () => [
    await trackingBase(db, workspaceId, id, publicUrl),
    await trackingBaseBelow(db, workspaceId, "example.test", publicUrl),
  ];
  const own = "https://mx.example.test";
  const deps = { db, clock, target, resolverFor: createZoneResolver([dns.address]) };
  const before = { ...(await shown()), created_at: clock.now(), verified_at: null, checked_at: null };
  const untrusted = { ...deps, findCertificateFault: checkAt(secure) };
  await verifyTrackingDomain(untrusted, workspaceId, before);
  expect(await shown()).toMatchObject({
    is_verified: true,
    https_fault: expect.stringMatching(/self.signed/),
  });
  expect(await bases()).toEqual([publicUrl, publicUrl]);

  const trusted = { ...deps, findCertificateFault: checkAt(secure, fakeMxCertificate) };
  await verifyTrackingDomain(trusted, workspaceId, before);
  expect(await shown()).toMatchObject({ is_verified: true, https_fault: null });
  expect(await bases()).toEqual([own, own]);

  clock.advance(24 * 3_600_000);
  const losses: TrackingDomainLoss[] = [];
  const onLoss = (loss: TrackingDomainLoss) => void losses.push(loss);
  await recheckTrackingDomains({ ...untrusted, onLoss }, new AbortController().signal);
  expect(losses).toMatchObject([{ domainId: id, httpsFault: expect.stringMatching(/self.signed/) }]);
  expect(await bases()).toEqual([publicUrl, publicUrl]);
  const fault = await db.row(sql`select https_fault from tracking_domains where id = ${id}`);
  expect(fault).toMatchObject({ https_fault: expect.any(String) });
});
