import { expect, test } from "vitest";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { createZoneResolver } from "./zone-resolver.ts";

test("a record that has just been published is seen, although its absence was seen a moment ago", async () => {
  await using dns = await startFakeDns({ "example.test": {} });
  dns.ttlSeconds = 3_600;
  const resolverFor = createZoneResolver([dns.address]);
  expect(await resolverFor("example.test").txt("example.test")).toMatchObject({ outcome: "absent" });
  dns.zone = { "example.test": { TXT: ["v=spf1 -all"] } };
  expect(await resolverFor("example.test").txt("example.test")).toMatchObject({ records: ["v=spf1 -all"] });
});
