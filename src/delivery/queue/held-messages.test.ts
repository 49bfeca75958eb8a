import { expect, test } from "vitest";
import { leased } from "#test/support/transport-recorder.ts";
import { HeldMessages } from "./held-messages.ts";
import { leaseKey } from "./queue-result-store.ts";

test("of what is in doubt nothing may be started but what a later heartbeat finds to be held", () => {
  const [lost, kept] = [leased("ann"), leased("bob")];
  const held = new HeldMessages();
  const until = performance.now() + 60_000;
  for (const message of [lost, kept]) held.add(message, until);
  const extend = (end: number) => held.extend(held.leases, new Set(held.leases.slice(1).map(leaseKey)), end);
  const free = () => [lost, kept].filter((message) => held.timeLeft(message) > 0);
  expect(free()).toEqual([lost, kept]);
  held.doubt(until + 1);
  expect(free()).toEqual([]);
  // What was asked before tells nothing, although its answer comes only now.
  extend(until);
  expect(free()).toEqual([]);
  extend(until + 1);
  expect(free()).toEqual([kept]);
  expect(held.size).toBe(2);
});
