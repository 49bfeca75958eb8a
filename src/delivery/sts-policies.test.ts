import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startFakeDns } from "../../test/support/fake-dns.ts";
import { createStsPolicies } from "./sts-policies.ts";

const pem = (name: string) =>
  readFileSync(new URL(`../../test/support/${name}.pem`, import.meta.url), "utf8");
const certificate = pem("fake-mx-certificate");
const dns = await startFakeDns();

const enforced = "version: STSv1\nmode: enforce\nmx: *.example.test\nmax_age: 86400\n";
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked = 0;
const server = createServer({ cert: certificate, key: pem("fake-mx-key") }, (request, response) => {
  asked += 1;
  answer(request, response);
}).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.close();
});

let time = 0;
beforeEach(() => {
  asked = 0;
  time = 0;
  answer = (_request, response) => response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced);
  dns.zone = {
    "_mta-sts.example.test": { TXT: ["v=STSv1; id=1"] },
    "mta-sts.example.test": { A: ["127.0.0.1"] },
  };
});
const policies = (change: Partial<Parameters<typeof createStsPolicies>[0]> = {}) =>
  createStsPolicies({
    resolver: dns.resolver,
    allowPrivate: true,
    port,
    ca: certificate,
    now: () => time,
    ...change,
  });
const policy = { mode: "enforce", mx: ["*.example.test"], maxAgeSeconds: 86_400 };

test("a policy is fetched once, from the well-known place, however many ask", async () => {
  let path: string | undefined;
  answer = (request, response) => {
    path = request.url;
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(enforced);
  };
  const { policyOf } = policies();
  expect(await Promise.all([policyOf("example.test"), policyOf("example.test")])).toEqual([policy, policy]);
  expect(await policyOf("example.test")).toEqual(policy);
  expect([path, asked]).toEqual(["/.well-known/mta-sts.txt", 1]);
});

test("a domain without a record is not asked for a policy, and looked at again after an hour", async () => {
  const { policyOf } = policies();
  dns.zone = {};
  expect(await policyOf("example.test")).toBeNull();
  dns.zone = {
    "_mta-sts.example.test": { TXT: ["v=STSv1; id=1"] },
    "mta-sts.example.test": { A: ["127.0.0.1"] },
  };
  expect([await policyOf("example.test"), asked]).toEqual([null, 0]);
  time = 3_600_001;
  expect(await policyOf("example.test")).toEqual(policy);
});

describe("a policy that was had once", () => {
  test("is fetched anew when its id changes, and only then", async () => {
    const { policyOf } = policies();
    await policyOf("example.test");
    time = 3_600_001;
    await policyOf("example.test");
    expect(asked).toBe(1);
    dns.zone["_mta-sts.example.test"] = { TXT: ["v=STSv1; id=2"] };
    answer = (_request, response) =>
      response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced.replace("enforce", "testing"));
    time = 7_200_002;
    expect(await policyOf("example.test")).toMatchObject({ mode: "testing" });
  });

  test("holds while its record is suppressed or its host is away, and ends with its age", async () => {
    const { policyOf } = policies();
    await policyOf("example.test");
    dns.zone = { "_mta-sts.example.test": "servfail" };
    time = 3_600_001;
    expect(await policyOf("example.test")).toEqual(policy);
    dns.zone = { "_mta-sts.example.test": { TXT: ["v=STSv1; id=2"] } };
    time = 7_200_002;
    expect(await policyOf("example.test")).toEqual(policy);
    dns.zone = {};
    time = 86_400_001;
    expect(await policyOf("example.test")).toBeNull();
  });

  test("is taken back by mode none", async () => {
    const { policyOf } = policies();
    answer = (_request, response) =>
      response
        .writeHead(200, { "Content-Type": "text/plain" })
        .end("version: STSv1\nmode: none\nmax_age: 86400\n");
    expect(await policyOf("example.test")).toBeNull();
  });
});

describe("nothing is demanded by", () => {
  test.each<[string, typeof answer]>([
    [
      "a redirect",
      (_request, response) =>
        response.writeHead(302, { Location: `https://mta-sts.example.test:${port}/elsewhere` }).end(),
    ],
    [
      "a page",
      (_request, response) => response.writeHead(200, { "Content-Type": "text/html" }).end(enforced),
    ],
    [
      "a 404",
      (_request, response) => response.writeHead(404, { "Content-Type": "text/plain" }).end(enforced),
    ],
    [
      "more than 64 KB",
      (_request, response) =>
        response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced + "#".repeat(70_000)),
    ],
    [
      "a text that is no policy",
      (_request, response) => response.writeHead(200, { "Content-Type": "text/plain" }).end("hello"),
    ],
    [
      "a connection that breaks",
      (_request, response) => {
        response.writeHead(200, { "Content-Type": "text/plain" }).write("version: STSv1\n");
        response.destroy();
      },
    ],
  ])("%s", async (_what, its) => {
    answer = its;
    expect(await policies().policyOf("example.test")).toBeNull();
    expect(asked).toBe(1);
  });

  test("a host whose certificate nobody vouches for", async () => {
    const { ca: _, ...untrusting } = { ca: certificate, resolver: dns.resolver, allowPrivate: true, port };
    expect(await createStsPolicies(untrusting).policyOf("example.test")).toBeNull();
    expect(asked).toBe(0);
  });

  test("a host whose certificate is for another name", async () => {
    dns.zone = {
      "_mta-sts.other.test": { TXT: ["v=STSv1; id=1"] },
      "mta-sts.other.test": { A: ["127.0.0.1"] },
    };
    expect(await policies().policyOf("other.test")).toBeNull();
    expect(asked).toBe(0);
  });

  test("a host on a private address, which is not talked to", async () => {
    expect(await policies({ allowPrivate: false }).policyOf("example.test")).toBeNull();
    expect(asked).toBe(0);
  });
});
