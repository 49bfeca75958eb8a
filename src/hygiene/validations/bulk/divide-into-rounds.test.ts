import { expect, test } from "vitest";
import { readSyntax } from "#mail/address-syntax.ts";
import { batchesOf } from "./divide-into-rounds.ts";

const fileOf = (texts: readonly string[]) =>
  texts.map((text, at) => ({ line: at + 1, text, syntax: readSyntax(text) }));

test("every place is in exactly one batch, with at most 20 of a domain in each", () => {
  const addresses = fileOf([
    ...Array.from({ length: 300 }, (_, at) => `u${at}@large.test`),
    ...Array.from({ length: 400 }, (_, at) => `u@d${at}.test`),
    ...Array.from({ length: 30 }, (_, at) => `u${at}@middle.test`),
  ]);
  for (const places of [[...addresses.keys()], [...addresses.keys()].filter((at) => at % 3 > 0)]) {
    const batches = batchesOf(addresses, places);
    expect(batches.flat().toSorted((a, b) => a - b)).toEqual(places);
    for (const batch of batches) {
      expect(batch.length).toBeLessThanOrEqual(250);
      const domains = Map.groupBy(batch, (place) => addresses[place]?.text.split("@")[1]);
      for (const [, ofDomain] of domains) expect(ofDomain.length).toBeLessThanOrEqual(20);
    }
    expect(batchesOf(addresses, places)).toEqual(batches);
  }
});
