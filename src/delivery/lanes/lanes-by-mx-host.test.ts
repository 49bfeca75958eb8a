import { describe, expect, test } from "vitest";
import { laneFor, laneKey, mergeLanes } from "./lanes-by-mx-host.ts";

const lanes = mergeLanes(null);
const change = (...list: unknown[]) => mergeLanes({ lanes: list });
const named = (name: string, table = lanes) => table.find((lane) => lane.name === name);

describe("finding the lane", () => {
  test.each([
    ["aspmx.l.google.com", "google"],
    ["gmail-smtp-in.l.google.com", "google"],
    ["mta5.am0.yahoodns.net", "yahoo"],
    ["outlook-com.olc.protection.outlook.com", "outlook"],
    ["example-com.mail.protection.outlook.com", "office365"],
    ["example-com.b-v1.mx.microsoft", "office365-dane"],
    ["mx01.mail.icloud.com", "apple"],
    ["mx1.comcast.net", "comcast"],
    ["eu-smtp-inbound-1.mimecast.com", "mimecast"],
    ["smtp-in.orange.fr", "orange"],
    ["mx00.mail.com", "mail.com"],
    ["mx.example.test", "default"],
    ["notgoogle.com", "default"],
    ["google.com.evil.test", "default"],
    ["hotmail.com", "default"],
  ])("%s is in %s", (host, name) => {
    expect(laneFor([host], lanes).name).toBe(name);
  });

  test("a destination belongs to a lane only if all its hosts do; otherwise it is in the default lane", () => {
    const google = "aspmx.l.google.com";
    expect(laneFor([google, "aspmx2.googlemail.com"], lanes).name).toBe("google");
    for (const other of ["tarpit.evil.test", "mta5.am0.yahoodns.net"]) {
      expect(laneFor([other, google], lanes).name).toBe("default");
      expect(laneFor([google, other], lanes).name).toBe("default");
    }
  });

  test("without hosts there is still a lane", () => {
    expect(laneFor([], lanes).name).toBe("default");
  });

  test("the longest suffix wins", () => {
    const table = change(
      { name: "wide", mx_suffixes: [".test"] },
      { name: "narrow", mx_suffixes: [".a.test"] },
    );
    expect(laneFor(["mx.a.test"], table).name).toBe("narrow");
    expect(laneFor(["mx.b.test"], table).name).toBe("wide");
  });

  test("a provider's limits apply to all its customers together, the default limits to each site", () => {
    const google = laneFor(["aspmx.l.google.com"], lanes);
    expect(laneKey(google, "site-a")).toBe(laneKey(google, "site-b"));
    const other = laneFor(["mx.example.test"], lanes);
    expect(laneKey(other, "site-a")).not.toBe(laneKey(other, "site-b"));
  });
});

describe("LANES_FILE", () => {
  test("fields of a known lane are replaced one by one, and null lifts a limit", () => {
    const table = change({ name: "google", connections: 20, messages_per_second: null });
    expect(named("google", table)).toEqual({
      ...named("google"),
      connections: 20,
      messages_per_second: null,
    });
    expect(named("yahoo", table)).toEqual(named("yahoo"));
  });

  test("the example of the documentation is accepted", () => {
    const table = change({
      name: "default",
      mx_suffixes: [],
      connections: 50,
      messages_per_connection: 1000,
      messages_per_second: null,
    });
    expect(laneFor(["mx.example.test"], table)).toMatchObject({ connections: 50, per_site: true });
  });

  test("a new lane takes its other fields from the operator's default lane", () => {
    const table = change(
      { name: "partner", mx_suffixes: ["partner.test"], messages_per_second: 0.5 },
      { name: "default", connections: 7 },
    );
    expect(laneFor(["mx.partner.test"], table)).toMatchObject({
      name: "partner",
      connections: 7,
      messages_per_second: 0.5,
      per_site: false,
    });
    expect(laneFor(["partner.test"], table).name).toBe("partner");
    expect(laneFor(["notpartner.test"], table).name).toBe("default");
  });

  test.each([
    ["a list", [], /must be \{ "lanes"/],
    ["a text", "lanes", /must be \{ "lanes"/],
    ["no list", { lanes: 5 }, /must be \{ "lanes"/],
    ["an extra field", { lanes: [], lane: [] }, /must be \{ "lanes"/],
    ["an invalid lane", { lanes: [5] }, /lanes\[0\]\.name must be a name/],
    ["a lane without a name", { lanes: [{ connections: 5 }] }, /lanes\[0\]\.name must be a name/],
    ["a bad name", { lanes: [{ name: "My Lane" }] }, /lanes\[0\]\.name must be a name/],
    [
      "zero",
      { lanes: [{ name: "google" }, { name: "yahoo", connections: 0 }] },
      /lanes\[1\]\.connections must be a whole number above 0, or null/,
    ],
    ["a text for a number", { lanes: [{ name: "google", connections: "5" }] }, /connections must be a whole/],
    [
      "a fraction of a connection",
      { lanes: [{ name: "google", connections: 1.5 }] },
      /connections must be a whole/,
    ],
    [
      "a negative rate",
      { lanes: [{ name: "google", messages_per_second: -1 }] },
      /messages_per_second must be a number above 0/,
    ],
    [
      "a text for a flag",
      { lanes: [{ name: "google", tls_required: "no" }] },
      /tls_required must be true or false/,
    ],
    [
      "an unknown field",
      { lanes: [{ name: "google", conections: 5 }] },
      /lanes\[0\] has an unknown field "conections"/,
    ],
    [
      "a suffix with a star",
      { lanes: [{ name: "x", mx_suffixes: ["*.test"] }] },
      /mx_suffixes must be a list of/,
    ],
    [
      "a suspension without an end",
      { lanes: [{ name: "google", suspensions: [{ words: "x" }] }] },
      /suspensions must/,
    ],
    ["a lane twice", { lanes: [{ name: "google" }, { name: "google" }] }, /"google" is defined twice/],
    [
      "a new lane without hosts",
      { lanes: [{ name: "mine" }] },
      /every other lane must have some \(see "mine"\)/,
    ],
    [
      "hosts for the default",
      { lanes: [{ name: "default", mx_suffixes: [".x.test"] }] },
      /"default" must not have/,
    ],
    [
      "hosts of another lane",
      { lanes: [{ name: "mine", mx_suffixes: ["google.com"] }] },
      /"google" and "mine" both claim \.google\.com/,
    ],
  ])("%s is refused with an error that names it", (_case, overrides, message) => {
    expect(() => mergeLanes(overrides)).toThrow(message);
    expect(() => mergeLanes(overrides)).toThrow(/^LANES_FILE: /);
  });
});
