import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createResolver } from "#dns/network-resolver.ts";
import { DAY_MS } from "#platform/time-units.ts";
import { stubClock } from "#test/support/clock.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { createDomainAges } from "./domain-age.ts";

const clock = stubClock();
const dns = await startFakeDns();
const resolver = createResolver({ servers: [dns.address], timeoutMs: 500, tries: 1 });
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  answer(request, response);
}).listen(0, "127.0.0.1");
await once(server, "listening");
afterAll(async () => {
  server.close();
  await dns.close();
});
beforeEach(() => {
  asked = [];
});

const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const ages = (options: { readonly allowPrivate?: boolean } = {}) =>
  createDomainAges({ base: new URL(`${origin}/rdap`), clock, resolver, ...options });
const registered = (daysAgo: number) => {
  const eventDate = new Date(clock.now().getTime() - daysAgo * DAY_MS).toISOString();
  answer = (_, response) =>
    response.end(
      JSON.stringify({
        objectClassName: "domain",
        events: [
          { eventAction: "last changed", eventDate: clock.now().toISOString() },
          { eventAction: "registration", eventDate },
        ],
      }),
    );
};

test("a domain is new for thirty days after its registration; subdomains count as it", async () => {
  registered(29);
  expect(await ages()("mail.young.example")).toBe(true);
  expect(asked).toEqual(["/rdap/domain/young.example"]);
  registered(31);
  expect(await ages()("old.co.uk")).toBe(false);
  expect(asked.at(-1)).toBe("/rdap/domain/old.co.uk");
});

test("an answer is cached for a day, and shared by concurrent calls", async () => {
  registered(1);
  const isNew = ages();
  const answers = await Promise.all(["a.one.example", "b.one.example", "one.example"].map(isNew));
  expect(answers).toEqual([true, true, true]);
  clock.advance(23 * 3_600_000);
  await isNew("one.example");
  expect(asked).toHaveLength(1);
  clock.advance(2 * 3_600_000);
  await isNew("one.example");
  expect(asked).toHaveLength(2);
});

test.each<[string, (request: IncomingMessage, response: ServerResponse) => void]>([
  ["knows no such domain", (_, response) => response.writeHead(404).end("{}")],
  ["has had enough of us", (_, response) => response.writeHead(429).end()],
  ["says nothing of a registration", (_, response) => response.end('{"events":[null,{"eventAction":"x"}]}')],
  [
    "gives no date",
    (_, response) => response.end('{"events":[{"eventAction":"registration","eventDate":"soon"}]}'),
  ],
  ["talks of something else", (_, response) => response.end("<html>")],
  ["talks too much", (_, response) => response.end(`"${"x".repeat(600_000)}"`)],
  ["hangs up", (request) => request.socket.destroy()],
  ["sends us round in circles", (_, response) => response.writeHead(302, { location: "/again" }).end()],
])("the age is unknown when the server %s", async (_, says) => {
  answer = says;
  expect(await ages({ allowPrivate: true })("some.example")).toBeNull();
  expect(asked.length).toBeLessThanOrEqual(4);
});

test("a redirect is followed, but not to a private address", async () => {
  const sendOn = (request: IncomingMessage, response: ServerResponse, then: () => void) => {
    if (!request.url?.startsWith("/rdap/")) return then();
    response.writeHead(302, { location: `${origin}/registry/domain/moved.example` }).end();
  };
  registered(2);
  const registry = answer;
  answer = (request, response) => sendOn(request, response, () => registry(request, response));
  expect(await ages({ allowPrivate: true })("moved.example")).toBe(true);
  expect(asked).toEqual(["/rdap/domain/moved.example", "/registry/domain/moved.example"]);
  asked = [];
  expect(await ages()("moved.example")).toBeNull();
  expect(asked).toEqual(["/rdap/domain/moved.example"]);
});
