import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asWorkspaceId, newId } from "#platform/ids.ts";
import {
  fitsView,
  type LinkPurpose,
  mailLinks,
  paths,
  readCarried,
  readToken,
  readView,
} from "./link-tokens.ts";

const key = createSecretKey(randomBytes(32));
const mail = { workspaceId: asWorkspaceId(newId()), messageId: newId() };
const base = "https://links.example.com";
const links = mailLinks(mail, base, key);
const purposes = Object.keys(paths) as LinkPurpose[];

const tokens: Readonly<Record<LinkPurpose, string>> = {
  open: links.pixel.slice(`${base}/o/`.length, -".gif".length),
  click: links.tracked(0).split("/").at(-2) ?? "",
  unsubscribe: links.unsubscribe.slice(`${base}/u/`.length),
  view: links.view.slice(`${base}/v/`.length),
};

test("a token names its mail, and is valid for one purpose only", () => {
  for (const made of purposes) {
    for (const asked of purposes) {
      expect(readToken(tokens[made], asked, key)).toEqual(made === asked ? mail : null);
    }
  }
});

test("the links of a mail differ only in their index", () => {
  expect(links.tracked(7)).toBe(`${base}/c/${tokens.click}/7`);
});

const target = "https://shop.example/ü?a=1&b=%20#top";
const carriedIn = (address: string) => address.split("/").at(-1) ?? "";
const carried = carriedIn(links.tracked(7, target, true));

test("a link with merge tags carries its target, valid for its mail and index only", () => {
  expect(links.tracked(7, target, true)).toBe(`${links.tracked(7)}/${carried}`);
  expect(readCarried(mail, 7, carried, key)).toBe(target);
  expect(readCarried(mail, 8, carried, key)).toBeNull();
  expect(readCarried({ ...mail, messageId: newId() }, 7, carried, key)).toBeNull();
  expect(readCarried(mail, 7, carried, createSecretKey(randomBytes(32)))).toBeNull();
});

test("a carried target cannot be forged or altered", () => {
  const accepted: string[] = [];
  fc.assert(
    fc.property(fc.nat({ max: carried.length }), fc.stringMatching(/^[\w-]?$/), (at, letter) => {
      const altered = carried.slice(0, at) + letter + carried.slice(at + 1);
      if (altered !== carried && readCarried(mail, 7, altered, key) !== null) accepted.push(altered);
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toEqual([]);
  for (const none of ["", "A", carried.slice(0, 20), `${carried}=`, tokens.click, "A".repeat(9_000), "%00"]) {
    expect(readCarried(mail, 7, none, key)).toBeNull();
  }
});

test("a link whose tracked address would be too long is not tracked", () => {
  const long = `https://shop.example/${"a".repeat(4_000)}`;
  expect(links.tracked(7, long, true)).toBe(long);
});

const values = JSON.stringify({ first_name: "Ann ü", custom_fields: { tier: "secret" } });
const viewIn = (address: string) => address.slice(`${base}/v/`.length);

test("the address of a web view carries encrypted values, valid for its mail only", () => {
  const address = viewIn(links.viewWith(values));
  expect(readView(address, key)).toEqual({ mail, values });
  expect(readView(viewIn(links.view), key)).toEqual({ mail, values: null });
  expect(Buffer.from(address.split(".")[1] ?? "", "base64url").includes("secret")).toBe(false);
  const other = mailLinks({ ...mail, messageId: newId() }, base, key);
  expect(readView(`${viewIn(other.view)}.${address.split(".")[1]}`, key)).toBeNull();
  expect(readView(address, createSecretKey(randomBytes(32)))).toBeNull();
  for (const none of [
    `${address}A`,
    `${address}.`,
    address.slice(0, -1),
    `${viewIn(links.view)}.`,
    "",
    ".",
  ]) {
    expect([none, readView(none, key)]).toEqual([none, null]);
  }
});

test("the longest address of a web view is short enough for mail programs", () => {
  const most = "x".repeat(1_200);
  expect([fitsView(most), fitsView(`${most}x`), fitsView("ü".repeat(601))]).toEqual([true, false, false]);
  expect(links.viewWith(most).length).toBeLessThan(2_083);
});

test("a token made with another key is invalid", () => {
  const other = createSecretKey(randomBytes(32));
  for (const purpose of purposes) expect(readToken(tokens[purpose], purpose, other)).toBeNull();
});

test("an altered token is invalid, whatever was altered", () => {
  const accepted: string[] = [];
  fc.assert(
    fc.property(
      fc.constantFrom(...purposes),
      fc.nat({ max: 55 }),
      fc.stringMatching(/^[\w-]$/),
      (purpose, at, letter) => {
        const token = tokens[purpose];
        const altered = token.slice(0, at) + letter + token.slice(at + 1);
        if (altered !== token && readToken(altered, purpose, key) !== null) accepted.push(altered);
      },
    ),
    { numRuns: 10_000 },
  );
  expect(accepted).toEqual([]);
});

test("a text that is no token is invalid", () => {
  const token = tokens.open;
  const swapped = mailLinks({ ...mail, messageId: newId() }, base, key).pixel.slice(-60, -4);
  const garbage = [
    "",
    token.slice(0, 42),
    token.slice(0, -1),
    `${token}A`,
    `${token}=`,
    ` ${token}`,
    `${token}\n`,
    token.replaceAll("-", "+").replaceAll("_", "/").padEnd(56, "!"),
    token.slice(0, 43) + swapped.slice(43),
    "A".repeat(56),
    "A".repeat(100_000),
    "%00".repeat(20),
    "ü".repeat(56),
  ];
  expect(garbage.filter((text) => text !== token && readToken(text, "open", key) !== null)).toEqual([]);
});

test("an invalid id throws", () => {
  expect(() => mailLinks({ ...mail, messageId: "nonsense" }, base, key)).toThrow(TypeError);
});
