import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue, eventTypes } from "./event-catalogue.ts";

test("docs/webhooks.md names every event with its fields", () => {
  const text = readFileSync(join(import.meta.dirname, "../../docs/webhooks.md"), "utf8");
  const described = [...text.matchAll(/^\| `([a-z]+\.[a-z]+)` \| (.+) \|$/gm)].map(
    ([, type, fields = ""]) => [type, [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field)],
  );
  expect(described).toEqual(eventTypes.map((type) => [type, Object.keys(catalogue[type].properties)]));
});
