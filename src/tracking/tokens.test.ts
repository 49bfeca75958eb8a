import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asWorkspaceId, newId } from "../platform/ids.ts";
import { type LinkPurpose, mailLinks, paths, readToken } from "./tokens.ts";

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

test("a token says whose mail it is of, for its own purpose and no other", () => {
  for (const made of purposes) {
    for (const asked of purposes) {
      expect(readToken(tokens[made], asked, key)).toEqual(made === asked ? mail : null);
    }
  }
});

test("the links of a mail differ in their index alone", () => {
  expect(links.tracked(7)).toBe(`${base}/c/${tokens.click}/7`);
});

test("nobody without the key makes a token", () => {
  const other = createSecretKey(randomBytes(32));
  for (const purpose of purposes) expect(readToken(tokens[purpose], purpose, other)).toBeNull();
});

test("no alteration of a token is one, whatever is altered", () => {
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

test("what is no token at all is none", () => {
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

test("an id that is none is a programmer's fault", () => {
  expect(() => mailLinks({ ...mail, messageId: "nonsense" }, base, key)).toThrow(TypeError);
});
