import { expect, test } from "vitest";
import { mergeLanes } from "#delivery/lanes/lanes-by-mx-host.ts";
import { createResolver } from "#dns/network-resolver.ts";
import { type BusyDns, startBusyDns } from "#test/support/busy-dns.ts";
import { routeByMx } from "./find-destination.ts";

const MINUTES = 60_000;
/** With the settings of a delivery process. */
const DNS = { timeoutMs: 15_000, tries: 5 };

/** Looks up the routes of new domains at the same time, each for two messages, and counts the deferred ones by reason. */
async function deferredOf(servers: readonly BusyDns[], domains: number): Promise<Record<string, number>> {
  const findRoute = routeByMx({
    resolver: createResolver({ servers: servers.map(({ address }) => address), ...DNS }),
    allowPrivate: true,
    lanes: mergeLanes(null),
  });
  const names = Array.from({ length: domains }, (_, at) => `d${at}.burst.test`);
  // The event loop composes meanwhile: it is blocked for a quarter of the time.
  const composing = setInterval(() => {
    for (const until = performance.now() + 50; performance.now() < until; );
  }, 200);
  try {
    const routes = await Promise.all([...names, ...names].map((name) => findRoute(name)));
    const reasons = routes.flatMap((route) =>
      "outcome" in route ? [route.reason.replace(/d\d+/, "dN")] : [],
    );
    return Object.fromEntries(
      Map.groupBy(reasons, (reason) => reason)
        .entries()
        .map(([reason, { length }]) => [reason, length]),
    );
  } finally {
    clearInterval(composing);
  }
}

test("20,000 messages to 10,000 new domains are not deferred by their own look-ups", {
  timeout: 3 * MINUTES,
}, async () => {
  await using dns = await startBusyDns();
  expect(await deferredOf([dns], 10_000)).toEqual({});
  const { questions, mostAtOnce } = await dns.counts();
  expect(mostAtOnce).toBeLessThanOrEqual(250);
  // Concurrent calls share one look-up: an MX and two address look-ups per domain. A machine under load repeats some.
  expect(questions).toBeLessThan(45_000);
});

test.each([
  ["whose DNS server takes 400 ms for each answer", [{ delayMs: 400 }]],
  ["where the first of three servers is silent", [{ isSilent: true }, {}, {}]],
  ["where one packet in twenty is lost", [{ lossPercent: 5 }]],
  ["whose DNS server refuses more than a hundred questions at once", [{ delayMs: 100, mostAtOnce: 100 }]],
])("messages to 1,000 new domains are not deferred %s", { timeout: 2 * MINUTES }, async (_, options) => {
  await using stack = new AsyncDisposableStack();
  const servers = await Promise.all(options.map((one) => startBusyDns(one)));
  for (const server of servers) stack.use(server);
  expect(await deferredOf(servers, 1_000)).toEqual({});
});
