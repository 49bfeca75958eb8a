import fc from "fast-check";
import { expect, test } from "vitest";
import { asWorkspaceId } from "#platform/ids.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { readSenderLink, senderLinkKeys, signSenderLink } from "./confirmation-token.ts";

const key = senderLinkKeys(createSecrets("a secret key that only tests use, ever")).signing;
const otherKey = senderLinkKeys(createSecrets("another secret key that only tests use")).signing;
const expiresAt = new Date("2026-03-03T00:00:00Z");
const before = new Date("2026-03-02T23:59:59.999Z");
const link = {
  workspaceId: asWorkspaceId("0195d2a4-0000-7000-8000-000000000001"),
  senderId: "0195d2a4-0000-7000-8000-000000000002",
  number: 1,
  expiresAt,
};

test("a token stands for the link it was made from", () => {
  fc.assert(
    fc.property(
      fc.uuid(),
      fc.uuid(),
      fc.integer({ min: 1, max: 0xffffffff }),
      (workspace, senderId, number) => {
        const made = { workspaceId: asWorkspaceId(workspace), senderId, number, expiresAt };
        expect(readSenderLink(signSenderLink(made, key), key, before)).toEqual(made);
      },
    ),
  );
});

test("a token fits a path and the links of one sender differ", () => {
  expect(signSenderLink(link, key)).toMatch(/^[\w-]{96}$/);
  expect(signSenderLink({ ...link, number: 2 }, key)).not.toBe(signSenderLink(link, key));
});

test("a token ends with its second of expiry", () => {
  const token = signSenderLink(link, key);
  expect(readSenderLink(token, key, before)).not.toBeNull();
  expect(readSenderLink(token, key, expiresAt)).toBeNull();
});

test("no altered, cut, lengthened or foreign token is read", () => {
  const token = signSenderLink(link, key);
  fc.assert(
    fc.property(fc.nat(95), fc.constantFrom("A", "B", "x", "y", "0", "9", "-", "_"), (place, character) => {
      const altered = token.slice(0, place) + character + token.slice(place + 1);
      fc.pre(altered !== token);
      expect(readSenderLink(altered, key, before)).toBeNull();
    }),
  );
  const foreign = [
    token.slice(1),
    token.slice(0, -1),
    `${token}A`,
    `${token}\n`,
    "",
    "../..",
    "a".repeat(96),
  ];
  for (const text of foreign) expect(readSenderLink(text, key, before)).toBeNull();
  expect(readSenderLink(token, otherKey, before)).toBeNull();
});
