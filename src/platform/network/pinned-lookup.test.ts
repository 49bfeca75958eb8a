import { expect, test } from "vitest";
import { pinnedLookup } from "./pinned-lookup.ts";

const lookUp = (all: boolean) =>
  new Promise((resolve) =>
    pinnedLookup(["192.0.2.1", "2001:db8::1"])("example.test", { all }, (_fault, ...answer) =>
      resolve(answer),
    ),
  );

test("every address that was checked is there to connect to, of both families", async () => {
  expect(await lookUp(true)).toEqual([
    [
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::1", family: 6 },
    ],
  ]);
});

test("who asks for one gets the first", async () => {
  expect(await lookUp(false)).toEqual(["192.0.2.1", 4]);
});
