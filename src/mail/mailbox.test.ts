import { isAscii } from "node:buffer";
import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { parseMailbox, parseOnlyAddress } from "./mailbox.ts";
import { encodeMailbox } from "./message/encode-header.ts";

const message = (parsed: { readonly ok: boolean; readonly message?: string }) => parsed.message ?? "accepted";

describe("a mailbox", () => {
  test.each([
    ["a@example.com", null],
    ["<a@example.com>", null],
    [" Jane Doe <a@example.com> ", "Jane Doe"],
    ["Dr. J. Müller-Lüdenscheidt <a@example.com>", "Dr. J. Müller-Lüdenscheidt"],
    ['"Doe, Jane" <a@example.com>', "Doe, Jane"],
    ['"The \\"Boss\\" \\\\" <a@example.com>', 'The "Boss" \\'],
    ['"ceo@bank.example"<a@example.com>', "ceo@bank.example"],
    ['"" <a@example.com>', null],
    ["=?utf-8?q?x?= <a@example.com>", "=?utf-8?q?x?="],
    ["=?utf-8?q?x?= =?utf-8?q?y?= Doe <a@example.com>", "=?utf-8?q?x?= =?utf-8?q?y?= Doe"],
    ['Bob "The Builder" Smith <a@example.com>', "Bob The Builder Smith"],
    ['"Dr. Jane" Doe <a@example.com>', "Dr. Jane Doe"],
    ['Jane "Doe, MD"<a@example.com>', "Jane Doe, MD"],
    [`J. R. "Bob" O'Neil-Smith <a@example.com>`, "J. R. Bob O'Neil-Smith"],
    ['"A" "B" <a@example.com>', "A B"],
    [
      "Zo\u00eb \u201cThe Z\u201d \u4f8b \u{1f600} <a@example.com>",
      "Zo\u00eb \u201cThe Z\u201d \u4f8b \u{1f600}",
    ],
    ["'Jane' <a@example.com>", "'Jane'"],
    ["Jane (work) <a@example.com>", "Jane (work)"],
    ["Jane <a@example.com> (work)", "Jane"],
    ["<a@example.com> (Jane)", "Jane"],
    ["a@example.com (Jane Doe)", "Jane Doe"],
    ["a@example.com (Jane (the second) Doe)", "Jane (the second) Doe"],
    ["(Jane \\) Doe) a@example.com", "Jane ) Doe"],
    ["a@example.com(Jane)", "Jane"],
    ["a@example.com ()", null],
  ])("%j has the name %j", (text, name) => {
    expect(parseMailbox(text)).toEqual({
      ok: true,
      name,
      local: "a",
      domain: "example.com",
      address: "a@example.com",
    });
  });

  test("may have a quoted local part, which is not taken for a name", () => {
    expect(parseMailbox('"two words"@example.com')).toMatchObject({ name: null, local: '"two words"' });
    expect(parseMailbox('Jane <"two words"@example.com>')).toMatchObject({
      name: "Jane",
      local: '"two words"',
    });
  });

  test.each([
    "a@example.com, b@example.com",
    "Jane <a@example.com>, b@example.com",
    "b@example.com, Jane <a@example.com>",
    "Jane <a@example.com>, Joe <b@example.com>",
    "Doe, Jane <a@example.com>",
    "Friends: <a@example.com>;",
    "undisclosed-recipients:;",
    "Jane <<a@example.com>>",
    "Jane <@relay.example:a@example.com>",
    "evil@example.net <a@example.com>",
    '"Jane <a@example.com>',
    "Jane\r\nBcc: b@example.com <a@example.com>",
    "Jane <>",
    "Jane",
    "",
  ])("%j is refused", (text) => {
    expect(message(parseMailbox(text))).toMatch(/^[A-Z].*\.$/);
  });

  test.each([
    ["Doe, Jane <a@example.com>", /double quotes, because it holds a comma/],
    ["evil@example.net <a@example.com>", /double quotes, because it holds "@"/],
    ["Team: Sales <a@example.com>", /double quotes, because it holds ":"/],
    ["[Shop] Team <a@example.com>", /double quotes, because it holds "\["/],
    ['Jane \\"x\\" <a@example.com>', /double quotes, because it holds "\\"|Close the double quote/],
    ['Jane "x <a@example.com>', /Close the double quote/],
    ["Jane (x <a@example.com>", /Close the parenthesis/],
    ["Jane x) <a@example.com>", /Remove the "\)"/],
    ["Jane <a@example.com", /Close the angle bracket/],
    ["Jane a@example.com>", /Remove the ">"/],
    ["Jane Doe a@example.com", /Put the address in angle brackets/],
    ["a@example.com, b@example.com", /not several/],
    ["Jane <a@example.com>, b@example.com", /not several/],
    ["b@example.com, Jane <a@example.com>", /not several/],
    ["<a@example.com> <b@example.com>", /not several/],
    ["Jane <a@example.com> Doe", /Remove the text after the address/],
    ["Friends: a@example.com;", /this is a group/],
    ["a(x)@example.com", /Remove the parentheses/],
    ["Jane <a b@example.com>", /Remove the blank before the @/],
    ["Jane <>", /Enter an address with an @/],
  ])("%j is refused with its fault", (text, expected) => {
    expect(message(parseMailbox(text))).toMatch(expected);
  });

  test("with any quotes and nesting is parsed in linear time", () => {
    for (const piece of ['"', "(", "<", "\\", '"\\', "(a", "a <", ") "]) {
      expectLinearCost(1_000, (size) => piece.repeat(size / piece.length), parseMailbox);
    }
  });

  test("gives an address that parses alone, and a name that is sent as it is shown", async () => {
    const names = [
      'Bob "The Builder" Smith',
      "Jane (work)",
      "Zo\u00eb, Z.",
      "=?utf-8?q?x?=",
      "a@b.test",
      "[x] ;",
    ];
    for (const name of names) {
      const value = encodeMailbox({ name, address: "a@example.com" }, 6);
      const { from } = await PostalMime.parse(`From: ${value}\r\n\r\n`);
      expect(from).toMatchObject({ name, address: "a@example.com" });
      if (isAscii(Buffer.from(name)) && !name.includes("=?")) {
        expect(parseMailbox(value.replaceAll("\r\n", ""))).toMatchObject({ name, address: "a@example.com" });
      }
    }
  });
});

describe("an address without a name", () => {
  test.each([
    ["Jane Doe <a@example.com>", "Enter only the address, a@example.com, without a name or brackets."],
    ["<a@example.com>", "Enter only the address, a@example.com, without a name or brackets."],
    ["a@example.com (Jane)", "Enter only the address, a@example.com, without a name or brackets."],
    ["a..b@example.com", "Remove the dot at an end, or one of two dots in a row, before the @."],
  ])("%j is refused with %j", (text, expected) => {
    expect(message(parseOnlyAddress(text))).toBe(expected);
  });
});
