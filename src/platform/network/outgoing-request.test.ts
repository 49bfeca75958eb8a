import { expect, test } from "vitest";
import { pinnedLookup } from "./outgoing-request.ts";

const lookUp = (all: boolean) =>
  new Promise((resolve) =>
    pinnedLookup(["192.0.2.1", "2001:db8::1"])("example.test", { all }, (_fault, ...answer) =>
      resolve(answer),
    ),
  );

test("a pinned lookup gives all checked addresses, IPv4 and IPv6", async () => {
  expect(await lookUp(true)).toEqual([
    [
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ],
  ]);
});

test("a pinned lookup for one address gives the first", async () => {
  expect(await lookUp(false)).toEqual(["192.0.2.1", 4]);
});
