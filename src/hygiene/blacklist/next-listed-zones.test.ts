import { expect, test } from "vitest";
import type { ZoneResult, ZoneStatus } from "./checker.ts";
import { listingMail } from "./listing-mail.ts";
import { hasChanged, nextListedZones } from "./next-listed-zones.ts";

const resultsOf = (statuses: Record<string, ZoneStatus>): ZoneResult[] =>
  Object.entries(statuses).map(([zone, status]) => ({
    zone,
    status,
    description: `<${zone}>`,
    delisting_info: status === "listed" ? `https://${zone}/remove` : null,
  }));
const next = (former: string[], statuses: Record<string, ZoneStatus>, asked = Object.keys(statuses)) =>
  nextListedZones(former, asked, resultsOf(statuses));

test("only an answer changes the state of a zone", () => {
  for (const status of ["timeout", "error", "skipped"] as const) {
    expect(next(["a"], { a: status, b: status })).toEqual({ before: ["a"], after: ["a"] });
  }
  expect(next(["a"], { a: "not_listed", b: "listed" })).toEqual({ before: ["a"], after: ["b"] });
});

test("a zone that was removed from the catalogue is no delisting", () => {
  expect(hasChanged(next(["a", "gone"], { a: "listed" }))).toBe(false);
  expect(hasChanged(next(["a", "off"], { a: "listed", off: "skipped" }, ["a"]))).toBe(false);
});

test("the notice has both lists, the descriptions of the zones and where to ask for removal", () => {
  const listing = { before: ["a", "b"], after: ["b", "c"] };
  const results = resultsOf({ a: "not_listed", b: "timeout", c: "listed" });
  const mail = listingMail("Acme & Sons", "8.4.2.1", listing, results);
  expect(mail.subject).toBe("8.4.2.1 is now listed in 2 blacklists");
  expect(mail.text).toContain("- b: no answer this time, listed before\n- c: <c>\n  https://c/remove");
  expect(mail.text).toContain("Listed before: a, b");
  expect(mail.text).toContain("No longer listed in: a");
  expect(mail.html).toContain("&lt;c&gt;");
  expect(mail.html).toContain("Acme &amp; Sons");
  const gone = listingMail("Acme", "8.4.2.1", { before: ["a"], after: [] }, []);
  expect(gone.subject).toBe("8.4.2.1 is no longer listed in any blacklist");
});
