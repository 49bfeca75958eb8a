import { expect, test } from "vitest";
import { isAsked, readZones } from "./zones.ts";

const names = (file: unknown) => readZones(file).map(({ name }) => name);
const mine = { name: "bl.mine.example", types: ["ip4"] };

test("every zone of the catalogue has a description and a place to ask for removal", () => {
  const zones = readZones(null);
  expect(zones.length).toBeGreaterThan(15);
  expect(
    zones.filter(({ description, delisting }) => !description || !delisting?.startsWith("https://")),
  ).toEqual([]);
  for (const kind of ["ip4", "ip6", "domain"] as const) {
    expect(zones.some((zone) => isAsked(zone, kind))).toBe(true);
  }
});

test("an operator's file adds zones, changes fields, or replaces the catalogue", () => {
  expect(names({ zones: [mine] })).toEqual([...names(null), mine.name].sort());
  const change = { name: "zen.spamhaus.org", dns_name: "key.zen.dq.spamhaus.net" };
  expect(readZones({ zones: [change] }).find(({ name }) => name === change.name)).toMatchObject({
    ...change,
    types: ["ip4", "ip6"],
  });
  const off = { name: "multi.uribl.com", enabled: false };
  const uribl = readZones({ zones: [off] }).find(({ name }) => name === off.name);
  expect(uribl && isAsked(uribl, "domain")).toBe(false);
  expect(names({ replace: true, zones: [mine] })).toEqual([mine.name]);
});

test.each([
  [[], "/"],
  [{ zones: [{ types: ["ip4"] }] }, "zones/0"],
  [{ zones: [{ name: "bl.mine.example" }] }, "types"],
  [{ zones: [{ ...mine, types: ["ipv4"] }] }, "types"],
  [{ zones: [{ ...mine, name: "Not A Name" }] }, "name"],
  [{ zones: [{ ...mine, colour: "black" }] }, "zones/0"],
  [{ zones: [{ ...mine, codes: { listed: "yes" } }] }, "codes"],
])("%j is refused with the wrong field", (file, place) => {
  expect(() => readZones(file)).toThrow("BLACKLIST_ZONES_FILE");
  expect(() => readZones(file)).toThrow(place);
});
