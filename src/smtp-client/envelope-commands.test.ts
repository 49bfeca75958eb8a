import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeEnvelope, type SmtpTransaction } from "./envelope-commands.ts";

const nothing = {
  pipelining: false,
  eightBitMime: false,
  smtpUtf8: false,
  startTls: false,
  size: null,
  auth: [],
};
const everything = {
  pipelining: true,
  eightBitMime: true,
  smtpUtf8: true,
  startTls: true,
  size: 100,
  auth: [],
};

const compose = (wish: Partial<SmtpTransaction>, offers: Parameters<typeof composeEnvelope>[1] = nothing) =>
  composeEnvelope(
    {
      mailFrom: "b@bounce.test",
      rcptTo: "ann@example.test",
      message: Buffer.from("hi\r\n"),
      smtpUtf8: false,
      ...wish,
    },
    offers,
  );

describe("the envelope commands", () => {
  test("a server without extensions gets only the addresses", () => {
    expect(compose({ message: Buffer.from("hällo\r\n") })).toEqual({
      mail: "MAIL FROM:<b@bounce.test>\r\n",
      rcpt: "RCPT TO:<ann@example.test>\r\n",
    });
  });

  test("SIZE, BODY=8BITMIME and SMTPUTF8 are declared if offered and applicable", () => {
    expect(compose({}, everything)).toMatchObject({ mail: "MAIL FROM:<b@bounce.test> SIZE=4\r\n" });
    const wish = { message: Buffer.from("hällo\r\n"), rcptTo: "änn@example.test", smtpUtf8: true };
    expect(compose(wish, everything)).toEqual({
      mail: "MAIL FROM:<b@bounce.test> SIZE=8 BODY=8BITMIME SMTPUTF8\r\n",
      rcpt: "RCPT TO:<änn@example.test>\r\n",
    });
  });

  test("the null sender is written as <>", () => {
    expect(compose({ mailFrom: "" })).toMatchObject({ mail: "MAIL FROM:<>\r\n" });
  });

  test("a message above the receiver's SIZE limit is refused with 5.3.4 before any command is sent", () => {
    const refusal = compose({ message: Buffer.alloc(101, "a") }, everything);
    expect(refusal).toMatchObject({ outcome: "refused", stage: "mail", code: 552, enhanced: "5.3.4" });
    expect(compose({ message: Buffer.alloc(100, "a") }, everything)).not.toHaveProperty("outcome");
    expect(compose({ message: Buffer.alloc(101, "a") }, { ...everything, size: 0 })).not.toHaveProperty(
      "outcome",
    );
  });

  test("a message that needs SMTPUTF8 is refused with 5.6.7 by a receiver without it", () => {
    const refusal = compose({ smtpUtf8: true }, { ...everything, smtpUtf8: false });
    expect(refusal).toMatchObject({ outcome: "refused", code: 553, enhanced: "5.6.7" });
  });

  test.each([
    "a@b.test>\r\nRSET",
    "a@b.test\nDATA",
    "a@b.test\r",
    "a\x00@b.test",
    "a@b.test> SIZE=1",
    "a@b.test BODY=8BITMIME",
    "a b@c.test",
    "<a@b.test>",
    '"a\r\nb"@c.test',
    '"a\\\r\n"@c.test',
    '"a"b"@c.test',
    "a\u2028@b.test",
    "a\u0085@b.test",
    "a@b@c.test",
    "no-domain",
    "",
  ])("the recipient %j throws", (rcptTo) => {
    expect(() => compose({ rcptTo, smtpUtf8: true }, everything)).toThrow(/not an address/);
  });

  test("a quoted local part may hold characters that only quotes make harmless", () => {
    expect(compose({ rcptTo: '"a> b\\" @c"@d.test' })).toMatchObject({
      rcpt: 'RCPT TO:<"a> b\\" @c"@d.test>\r\n',
    });
  });

  test("a non-ASCII address without SMTPUTF8 throws", () => {
    expect(() => compose({ rcptTo: "änn@example.test" }, everything)).toThrow(/not an ASCII address/);
  });

  test("no address can add a second command line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (local, domain) => {
        for (const address of [`${local}@${domain}`, `"${local}"@d.test`, `a@${local}`]) {
          try {
            const commands = compose({ mailFrom: address, rcptTo: address, smtpUtf8: true }, everything);
            expect(commands).toMatchObject({
              mail: expect.stringMatching(/^[^\r\n]*\r\n$/),
              rcpt: expect.stringMatching(/^[^\r\n]*\r\n$/),
            });
          } catch (error) {
            expect(String(error)).toMatch(/not an address/);
          }
        }
      }),
    );
  });
});
