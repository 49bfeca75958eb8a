import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import sql from "sql-template-tag";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { stubClock } from "#test/support/clock.ts";
import { testDatabase } from "#test/support/database.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { StsPolicies } from "./mta-sts-policies.ts";
import { findStsPolicy, keepStsPolicy } from "./mta-sts-store.ts";

const pem = (name: string) =>
  readFileSync(new URL(`../../../test/support/${name}.pem`, import.meta.url), "utf8");
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

const db = await testDatabase();
const start = Date.now();
const clock = stubClock(new Date(start));
const at = (ms: number) => clock.set(new Date(start + ms));
beforeEach(async () => {
  await db.run(sql`delete from sts_policies`);
  asked = 0;
  at(0);
  answer = (_request, response) => response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced);
  dns.zone = {
    "_mta-sts.example.test": { TXT: ["v=STSv1; id=1"] },
    "mta-sts.example.test": { A: ["127.0.0.1"] },
  };
});
function policies(change: Partial<ConstructorParameters<typeof StsPolicies>[0]> = {}) {
  const found = new StsPolicies({
    db,
    clock,
    resolver: dns.resolver,
    allowPrivate: true,
    port,
    ca: certificate,
    ...change,
  });
  return { policyOf: (domain: string) => found.policyOf(domain) };
}
const policy = { mode: "enforce", mx: ["*.example.test"], maxAgeSeconds: 86_400 };

test("a policy is fetched once, from its well-known URL, for concurrent calls", async () => {
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

test("without a record no policy is fetched, and the record is looked up again after an hour", async () => {
  const { policyOf } = policies();
  dns.zone = {};
  expect(await policyOf("example.test")).toBeNull();
  dns.zone = {
    "_mta-sts.example.test": { TXT: ["v=STSv1; id=1"] },
    "mta-sts.example.test": { A: ["127.0.0.1"] },
  };
  expect([await policyOf("example.test"), asked]).toEqual([null, 0]);
  at(3_600_001);
  expect(await policyOf("example.test")).toEqual(policy);
});

describe("a policy that was fetched", () => {
  test("is fetched again when its id changes, and only then", async () => {
    const { policyOf } = policies();
    await policyOf("example.test");
    at(3_600_001);
    await policyOf("example.test");
    expect(asked).toBe(1);
    dns.zone["_mta-sts.example.test"] = { TXT: ["v=STSv1; id=2"] };
    answer = (_request, response) =>
      response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced.replace("enforce", "testing"));
    at(7_200_002);
    expect(await policyOf("example.test")).toMatchObject({ mode: "testing" });
  });

  test("stays valid while its record is missing or its host is unreachable, until its max_age", async () => {
    const { policyOf } = policies();
    await policyOf("example.test");
    dns.zone = { "_mta-sts.example.test": "servfail" };
    at(3_600_001);
    expect(await policyOf("example.test")).toEqual(policy);
    dns.zone = { "_mta-sts.example.test": { TXT: ["v=STSv1; id=2"] } };
    at(7_200_002);
    expect(await policyOf("example.test")).toEqual(policy);
    dns.zone = {};
    at(86_400_001);
    expect(await policyOf("example.test")).toBeNull();
  });

  test("is withdrawn by mode none", async () => {
    const { policyOf } = policies();
    answer = (_request, response) =>
      response
        .writeHead(200, { "Content-Type": "text/plain" })
        .end("version: STSv1\nmode: none\nmax_age: 86400\n");
    expect(await policyOf("example.test")).toBeNull();
  });
});

describe("a policy that was fetched before a restart", () => {
  /** Another process, which knows only what is stored. */
  const restarted = () => policies().policyOf("example.test");
  beforeEach(async () => {
    await policies().policyOf("example.test");
    answer = (_request, response) => response.destroy();
    asked = 0;
  });

  test("is enforced without contacting its host", async () => {
    expect(await restarted()).toEqual(policy);
    expect(asked).toBe(0);
  });

  test.each<[string, () => void]>([
    ["its host is down, and it is due for a refresh", () => at(50_000_000)],
    [
      "its host is down and its id has changed",
      () => (dns.zone["_mta-sts.example.test"] = { TXT: ["v=STSv1; id=2"] }),
    ],
    ["its record is suppressed", () => (dns.zone = {})],
    ["its zone does not answer", () => (dns.zone = { "_mta-sts.example.test": "servfail" })],
  ])("is enforced although %s", async (_what, change) => {
    change();
    expect(await restarted()).toEqual(policy);
  });

  test("ends with its max_age, to the second, whenever it was used last", async () => {
    dns.zone = {};
    at(86_399_000);
    const { policyOf } = policies();
    expect(await policyOf("example.test")).toEqual(policy);
    at(86_400_000);
    expect(await policyOf("example.test")).toBeNull();
    expect(await restarted()).toBeNull();
  });

  test("is fetched again at half of its max_age although its id is the same, and stays valid", async () => {
    answer = (_request, response) => response.writeHead(200, { "Content-Type": "text/plain" }).end(enforced);
    at(43_200_001);
    await restarted();
    expect(asked).toBe(1);
    dns.zone = {};
    at(86_400_001);
    expect(await restarted()).toEqual(policy);
  });

  test("is withdrawn for all machines when one of them learns of it", async () => {
    answer = (_request, response) =>
      response
        .writeHead(200, { "Content-Type": "text/plain" })
        .end("version: STSv1\nmode: none\nmax_age: 86400\n");
    dns.zone["_mta-sts.example.test"] = { TXT: ["v=STSv1; id=2"] };
    expect(await restarted()).toBeNull();
    dns.zone = {};
    expect(await restarted()).toBeNull();
  });
});

test("mail is requeued while the database, and so the policy, is unavailable", async () => {
  const away = { ...db, row: () => Promise.reject(new Error("connection refused")) };
  const { policyOf } = policies({ db: away });
  await expect(policyOf("example.test")).rejects.toThrow("connection refused");
  expect(asked).toBe(0);
});

describe("stored policies", () => {
  const fetched = (domain: string, ms: number, maxAgeSeconds = 86_400) => ({
    domain,
    id: "1",
    policy: { mode: "enforce" as const, mx: [`mx.${domain}`], maxAgeSeconds },
    fetchedAt: new Date(start + ms),
  });
  const kept = async () =>
    (await db.rows<{ domain: string }>(sql`select domain from sts_policies order by domain`)).map(
      ({ domain }) => domain,
    );

  test("the oldest one is deleted beyond the maximum", async () => {
    for (const [index, name] of ["c.test", "a.test", "b.test"].entries()) {
      await keepStsPolicy(db, fetched(name, index * 1_000), 2);
    }
    expect(await kept()).toEqual(["a.test", "b.test"]);
  });

  test("expired ones are deleted when another one is stored", async () => {
    await keepStsPolicy(db, fetched("a.test", 0, 60));
    await keepStsPolicy(db, fetched("b.test", 60_000));
    expect(await kept()).toEqual(["b.test"]);
  });

  test("a later one is not replaced by an earlier one of another machine", async () => {
    await keepStsPolicy(db, fetched("a.test", 1_000, 120));
    await keepStsPolicy(db, fetched("a.test", 0, 60));
    expect(await findStsPolicy(db, "a.test", clock.now())).toEqual(fetched("a.test", 1_000, 120));
  });
});

describe("no policy applies with", () => {
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
      "a change of protocols",
      (_request, response) => {
        response.socket?.end("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
      },
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

  test("a host whose certificate is not trusted", async () => {
    expect(
      await new StsPolicies({ db, clock, resolver: dns.resolver, allowPrivate: true, port }).policyOf(
        "example.test",
      ),
    ).toBeNull();
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

  test("a host whose name is not valid in a URL", async () => {
    dns.zone = {
      "_mta-sts.xn--a.test": { TXT: ["v=STSv1; id=1"] },
      "mta-sts.xn--a.test": { A: ["127.0.0.1"] },
    };
    expect(await policies().policyOf("xn--a.test")).toBeNull();
    expect(asked).toBe(0);
  });

  test("a host on a private address, which is not contacted", async () => {
    expect(await policies({ allowPrivate: false }).policyOf("example.test")).toBeNull();
    expect(asked).toBe(0);
  });
});
