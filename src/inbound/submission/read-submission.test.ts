import fc from "fast-check";
import { expect, test } from "vitest";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { readHeaderSection } from "#mail/message/header-section.ts";
import { newId } from "#platform/ids.ts";
import { expectLinearCost } from "#test/support/cost.ts";
import { readSubmission } from "./read-submission.ts";

const context = {
  id: newId(),
  hostname: "mail.posthaste.test",
  now: new Date("2026-11-21T12:00:00Z"),
  isSmtpUtf8: true,
};
const read = (...lines: string[]) => readSubmission(Buffer.from(`${lines.join("\r\n")}\r\n`), context);

test.each([
  ["plain", "Subject: Hello", "Hello"],
  ["folded", "Subject: Hello\r\n\tAda", "Hello Ada"],
  [
    "in encoded words",
    "Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?= =?ISO-8859-1?Q?_K=F6ln?=",
    "Gr\u00fc\u00dfe K\u00f6ln",
  ],
  ["that hides line breaks", "Subject: =?UTF-8?Q?a=0D=0Ab=00c?=", "a b c"],
  ["in no known charset", "Subject: =?no-such?Q?a?=", expect.any(String)],
  ["missing", "X: y", ""],
  ["endless", `Subject: ${"x\r\n ".repeat(2_000)}x`, expect.stringMatching(/^.{998}$/)],
])("a subject that is %s is one line in the log", (_what, field, subject) => {
  expect(read("From: a@shop.test", field, "", "").subject).toEqual(subject);
});

test.each([
  ["fields", "", "a:\r\n", "552"],
  ["empty lines", "", "\r\n", "552"],
  ["empty lines in a file", "Content-Type: application/pdf\r\n\r\n", "\r\n", "taken"],
])("a message of thirty megabytes of %s is read in linear time", (_what, fields, piece, answer) => {
  const messageOf = (size: number) =>
    Buffer.from(`From: a@shop.test\r\n${fields}${piece.repeat(Math.trunc(size / piece.length))}`);
  expectLinearCost(7_500_000, messageOf, (message) => {
    let said = "taken";
    try {
      readSubmission(message, context);
    } catch (reply) {
      said = reply instanceof SmtpReply ? String(reply.responseCode) : String(reply);
    }
    expect(said).toBe(answer);
  });
});

const headerOf = (message: string) => {
  const { raw } = readSubmission(Buffer.from(message), context);
  return raw.toString().replace(/^(?:Received|Date|Message-ID|MIME-Version):.*\r\n(?:[ \t].*\r\n)*/gm, "");
};

test.each([
  ["From root Wed Nov 25 10:00:00 2026\r\nFrom: a@shop.test\r\nSubject: x\r\n\r\nFrom y\r\n"],
  [">From a@shop.test Wed Nov 25 10:00:00 2026\nFrom: a@shop.test\nSubject: x\n\nFrom y\n"],
  ["From : a@shop.test\r\nSubject\t : x\r\n\r\nFrom y\r\n"],
])("obsolete forms of a header become usual ones: %j", (message) => {
  expect(headerOf(message)).toBe("From: a@shop.test\r\nSubject: x\r\n\r\nFrom y\r\n");
});

test("only the blanks before colons are removed from a header, and none from a signed one", () => {
  const rest = "X-A: b : c\r\n d : e\r\n\r\nTo : you\r\n";
  expect(headerOf(`From: a@shop.test\r\n${rest}`)).toBe(`From: a@shop.test\r\n${rest}`);
  expect(headerOf(`From: a@shop.test\r\nX : y\r\n${rest}`)).toBe(`From: a@shop.test\r\nX: y\r\n${rest}`);
  const signed = `DKIM-Signature: v=1\r\nFrom: a@shop.test\r\nX : y\r\n${rest}`;
  expect(() => headerOf(signed)).toThrow("Line 3 of the header is not a field.");
});

test("two From fields are refused, with and without a blank before the colon", () => {
  expect(() => headerOf("From: a@shop.test\r\nFrom : b@shop.test\r\n\r\nx\r\n")).toThrow("two From fields");
});

test("a NUL is refused, and a header that is neither ASCII nor UTF-8", () => {
  expect(() => read("From: a@shop.test", "", "a\0b")).toThrow("The message contains a NUL");
  const latin1 = Buffer.from("From: a@shop.test\r\nSubject: K\u00f6ln\r\n\r\nb\r\n", "latin1");
  expect(() => readSubmission(latin1, context)).toThrow("neither ASCII nor UTF-8");
});

/** Valid and invalid pieces of messages, in any order. */
const piece = fc.constantFrom(
  "From: a@shop.test\r\n",
  "From: Shop\r\n <b@shop.test>\r\n",
  "Sender: c@shop.test\r\n",
  "Bcc: eve@example.test\r\n",
  "X-Posthaste-Message: forged\r\n",
  "Subject: \u00fc\r\n",
  "X: y\r\n",
  "X-Empty:\r\n",
  "\r\n",
  " \r\n",
  " folded\r\n",
  ".\r\n",
  "From : z@shop.test\r\n",
  "nonsense",
  "\r",
  "\n",
  "\0",
  "\u00ff:",
);

test("an accepted message has one From, CRLF line ends, none of our fields and its body, and can be composed", () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const message = Buffer.from(`From: a@shop.test\r\n${pieces.join("")}\r\n`);
      let raw: Buffer;
      try {
        ({ raw } = readSubmission(message, context));
      } catch (refusal) {
        return refusal instanceof SmtpReply;
      }
      taken += 1;
      const section = readHeaderSection(raw);
      if (!section.ok) return false;
      const names = section.fields.map(({ name }) => name.toLowerCase());
      const given = message.toString().replace(/\r+\n|\r|\n/g, "\r\n");
      const bodyAt = given.indexOf("\r\n\r\n");
      return (
        names.filter((name) => name === "from").length === 1 &&
        names.every((name) => name !== "bcc" && !name.startsWith("x-posthaste")) &&
        !/\r(?!\n)|(?<!\r)\n|\0/.test(raw.toString()) &&
        raw.subarray(section.bodyStart).toString() === (bodyAt === -1 ? "" : given.slice(bodyAt + 4))
      );
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(100);
});
