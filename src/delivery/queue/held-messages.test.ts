import { expect, test } from "vitest";
import { leased } from "#test/support/transport-recorder.ts";
import { HeldMessages } from "./held-messages.ts";
import { leaseKey } from "./settle-leases-store.ts";

test("a doubted message may not be started until a later heartbeat has extended its lease", () => {
  const [lost, kept] = [leased("ann"), leased("bob")];
  const held = new HeldMessages();
  const until = performance.now() + 60_000;
  for (const message of [lost, kept]) held.add(message, until);
  const extend = (end: number) => held.extend(held.leases, new Set(held.leases.slice(1).map(leaseKey)), end);
  const free = () => [lost, kept].filter((message) => held.timeLeft(message) > 0);
  expect(free()).toEqual([lost, kept]);
  held.doubt(until + 1);
  expect(free()).toEqual([]);
  // A heartbeat sent before the doubt proves nothing, although its answer arrives now.
  extend(until);
  expect(free()).toEqual([]);
  extend(until + 1);
  expect(free()).toEqual([kept]);
  expect(held.size).toBe(2);
});
