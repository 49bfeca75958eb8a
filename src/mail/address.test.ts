import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  domainInALabels,
  headerTextFault,
  mailboxOf,
  needsSmtpUtf8,
  normalizeAddress,
  parseAddress,
  parseDomain,
} from "./address.ts";

const message = (parsed: { readonly ok: boolean; readonly message?: string }) => parsed.message ?? "accepted";

describe("an address", () => {
  test.each([
    ["name@example.com", "name", "example.com"],
    ["Jane.Doe+tag@Example.COM", "Jane.Doe+tag", "example.com"],
    ["#$&'*+-/=?^_`{|}~@example.com", "#$&'*+-/=?^_`{|}~", "example.com"],
    ['"two words"@example.com', '"two words"', "example.com"],
    ['"a\\"b\\\\c"@example.com', '"a\\"b\\\\c"', "example.com"],
    ["jörg@müller.de", "jörg", "xn--mller-kva.de"],
    ["用户@例子.广告", "用户", "xn--fsqu00a.xn--4rr70v"],
    ["a@faß.example", "a", "xn--fa-hia.example"],
    ["a@r3---sn-apo3qvuoxuxbt.example", "a", "r3---sn-apo3qvuoxuxbt.example"],
    [`${"a".repeat(64)}@example.com`, "a".repeat(64), "example.com"],
  ])("%s is one mailbox", (text, local, domain) => {
    expect(parseAddress(text)).toEqual({ ok: true, local, domain, address: `${local}@${domain}` });
  });

  test("loses surrounding blanks of any script", () => {
    expect(parseAddress("\u00a0\u3000name@example.com \ufeff")).toMatchObject({
      address: "name@example.com",
    });
  });

  test("has one spelling, so that needless quotes do not bypass a suppression", () => {
    expect(parseAddress('"bob"@example.com')).toMatchObject({ address: "bob@example.com" });
    expect(parseAddress('"b\\ob.x"@example.com')).toMatchObject({ address: "bob.x@example.com" });
  });

  test.each([
    ["", /Enter an address with an @/],
    ["name", /Enter an address with an @/],
    ["@example.com", /Enter a name before the @/],
    ["name@", /Enter a domain/],
    ["name@example", /complete domain/],
    ["a@b@example.com", /Remove "@" from the domain/],
    ["a..b@example.com", /dot/],
    [".a@example.com", /dot/],
    ["a.@example.com", /dot/],
    ["a b@example.com", /Remove the blank before the @/],
    ["a\u200bb@example.com", /invisible character U\+200B/],
    ["a\u202eb@example.com", /invisible character U\+202E/],
    ["a@example.com, b@example.com", /Remove "," from the domain/],
    ["a@example.com;b@example.com", /Remove ";" from the domain/],
    ["a(comment)@example.com", /Remove "\(" before the @/],
    ["a@good.example(x)evil.example", /Remove "\(" from the domain/],
    ["Group: a@example.com;", /Remove ":" before the @/],
    ["<a@example.com>", /Remove "<" before the @/],
    ["@relay.example:a@example.com", /Enter a name before the @/],
    ["a%evil.example@good.example", /Remove "%" before the @/],
    ["evil.example!a@good.example", /Remove "!" before the @/],
    ['"a@evil.example x"@good.example', /Remove "@" from the quoted part/],
    ['"a> SIZE=1"@good.example', /Remove ">" from the quoted part/],
    ['"a%b"@good.example', /Remove "%" from the quoted part/],
    ['""@example.com', /between the quotes/],
    ['"a"b@example.com', /Remove """ before the @/],
    ['"a@example.com', /Remove """ before the @/],
    ["a@[127.0.0.1]", /instead of an IP address in brackets/],
    ["a@[IPv6:::1]", /instead of an IP address in brackets/],
    ["a@127.0.0.1", /instead of an IP address/],
    ["a@１２７.0.0.1", /instead of an IP address/],
    ["a@-x.com", /Correct "-x"/],
    ["a@x-.com", /Correct "x-"/],
    ["a@a..com", /dot/],
    ["a@example.com.", /dot/],
    ["a@ex_ample.com", /Remove "_" from the domain/],
    ["a@ex%61mple.com", /Remove "%" from the domain/],
    ["a@ex／ample.com", /Check the spelling/],
    [`a@${"x".repeat(64)}.com`, /Correct/],
    [`${"a".repeat(65)}@example.com`, /Shorten the part before the @/],
    [`${"ü".repeat(33)}@example.com`, /Shorten the part before the @/],
    [`a@${"x.".repeat(125)}com`, /Shorten the address/],
    [`a@${"x.".repeat(130)}com`, /Shorten the domain/],
    ["a@example.com\r\nDATA", /line break U\+000D/],
    ['"\n"@iana.org', /line break U\+000A/],
    ['"\rtest"@iana.org', /line break U\+000D/],
    ["a\0@example.com", /control character U\+0000/],
    ["a@example.com\t", /control character U\+0009/],
    ["a\ud800@example.com", /broken character/],
    ["a".repeat(2000), /at most 1000 characters/],
  ])("%j is refused with a sentence that says what to do", (text, expected) => {
    expect(message(parseAddress(text))).toMatch(expected);
  });

  test("that is accepted names one mailbox in every part of the system", () => {
    const piece = fc.constantFrom(
      "a",
      "B",
      ".",
      "@",
      '"',
      "\\",
      " ",
      "%",
      "ü",
      "例",
      "\r",
      "\n",
      "\0",
      "<",
      ">",
      "x.org",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const parsed = parseAddress(pieces.join(""));
        if (!parsed.ok) return;
        expect(parsed.address).toBe(`${parsed.local}@${parsed.domain}`);
        expect(parsed.address.split("@")).toHaveLength(2);
        expect(parsed.address).not.toMatch(/[\p{Cc}<>,;:()[\]%!]/u);
        expect(parsed.domain).toMatch(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/);
        expect(parseAddress(parsed.address)).toEqual(parsed);
      }),
      { numRuns: 3000 },
    );
  });

  test("is compared without case, surrounding blanks, or the script of its domain", () => {
    expect(normalizeAddress(" Jane@MÜLLER.de\n")).toBe("jane@xn--mller-kva.de");
    expect(normalizeAddress("\u0085\u2003JO\u0308RG@Example.com")).toBe("jörg@example.com");
    expect(normalizeAddress("No Address ")).toBe("no address");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(normalizeAddress(normalizeAddress(text))).toBe(normalizeAddress(text));
      }),
    );
  });

  test("needs SMTPUTF8 only for its local part", () => {
    expect(["jörg@müller.de", "jorg@müller.de"].map((text) => needsSmtpUtf8(normalizeAddress(text)))).toEqual(
      [true, false],
    );
  });
});

describe("a part of an address", () => {
  test.each([
    ["jörg@müller.de", "jörg@xn--mller-kva.de"],
    ["müller.de", "xn--mller-kva.de"],
    ["@MÜLLER.de", "@xn--mller-kva.de"],
    [".例子.", ".xn--fsqu00a."],
    ["a@例子。广告", "a@xn--fsqu00a.xn--4rr70v"],
    ["a@xn--mller-kva.mu\u0308ller", "a@xn--mller-kva.xn--mller-kva"],
    ["a@126.１２７", "a@126.127"],
    ["", ""],
    ["jörg@", "jörg@"],
    ["Example.COM", "Example.COM"],
    ["127.1", "127.1"],
    ["a b.ü?x.ü/y.%fc.ü:80", "a b.ü?x.ü/y.%fc.ü:80"],
    ["xn--ü.\ud800.\u00ad.ü\u00a0", "xn--ü.\ud800.\u00ad.ü\u00a0"],
  ])("%j is converted to A-labels: %j", (text, expected) => {
    expect(domainInALabels(text)).toBe(expected);
  });

  test("is converted label by label to the spelling for comparing", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (label) => {
        const address = `ö@${label.toLowerCase()}.example`;
        fc.pre(parseAddress(address).ok);
        expect(domainInALabels(address)).toBe(normalizeAddress(address));
      }),
    );
  });
});

describe("a domain", () => {
  test.each([
    ["Example.COM", "example.com"],
    [" example.com. ", "example.com"],
    ["mail.MÜLLER.de", "mail.xn--mller-kva.de"],
    ["例子。广告", "xn--fsqu00a.xn--4rr70v"],
    ["xn--mller-kva.de", "xn--mller-kva.de"],
    ["4chan.org", "4chan.org"],
  ])("%j becomes %s", (text, domain) => {
    expect(parseDomain(text)).toEqual({ ok: true, domain });
  });

  test.each([
    ["https://example.com", /only the domain/],
    ["example.com/path", /only the domain/],
    ["example.com:25", /only the domain/],
    ["name@example.com", /only the domain/],
    ["::1", /only the domain/],
    ["localhost", /complete domain/],
    ["", /Enter a domain/],
    [".", /Enter a domain/],
    ["example.com..", /dot/],
    ["10.0.0.1", /IP address/],
    ["127.1", /IP address/],
    ["example.0x7f", /IP address/],
    ["[10.0.0.1]", /IP address/],
    ["*.example.com", /Remove "\*"/],
    ["_dmarc.example.com", /Remove "_"/],
    ["exa mple.com", /Remove the blank/],
    ["example.com\n", /line break/],
  ])("%j is refused", (text, expected) => {
    expect(message(parseDomain(text))).toMatch(expected);
  });
});

describe("the content of a header line", () => {
  test.each(["", "Hello", "Größe 例 😀 \u202e RTL", "tab-free", "=?utf-8?q?=0D=0A?=", "%0d%0aBcc: x"])(
    "may be %j",
    (text) => {
      expect(headerTextFault(text)).toBeNull();
    },
  );

  test.each([
    ["a\rb", "Remove the line break U+000D at position 2."],
    ["a\nBcc: b", "Remove the line break U+000A at position 2."],
    ["\u000b", "Remove the line break U+000B at position 1."],
    ["\u0085", "Remove the line break U+0085 at position 1."],
    ["ab\u2028", "Remove the line break U+2028 at position 3."],
    ["\u2029", "Remove the line break U+2029 at position 1."],
    ["\0", "Remove the control character U+0000 at position 1."],
    ["\t", "Remove the control character U+0009 at position 1."],
    ["\u001b[31m", "Remove the control character U+001B at position 1."],
    ["\u007f", "Remove the control character U+007F at position 1."],
    ["x\ud83d", "Remove the broken character (half of a surrogate pair) U+D83D at position 2."],
  ])("must not be %j", (text, fault) => {
    expect(headerTextFault(text)).toBe(fault);
  });
});

test("all spellings of an address count as one mailbox", () => {
  for (const spelling of ["a.d.a+x@gmail.com", "ada@googlemail.com", "ada@gmail.com"]) {
    expect(mailboxOf(spelling)).toBe("ada@gmail.com");
  }
  expect(mailboxOf("a.d.a+x+y@example.com")).toBe("a.d.a@example.com");
});
