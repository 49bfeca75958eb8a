import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeMessage } from "./compose-message.ts";
import { relaxedBody } from "./dkim-canonicalization.ts";
import { joinOctets, lengthOf } from "./octet-pieces.ts";
import { TemplatePieces, TemplateText } from "./shared-text-pieces.ts";
import { encodeTextContent } from "./transfer-encoding.ts";

const words = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "  ",
    "\t",
    " \t ",
    "\n",
    "\r\n",
    "\r",
    " \n",
    "\n ",
    "\v",
    "\f",
    " \v",
    " \f\n",
    "a",
    "a b",
    "é",
    "\0",
    ".",
  ),
  fc.constantFrom("x".repeat(500), "https://t.test/c/token/1", '<a href="'),
  fc.string({ maxLength: 6 }),
);
const piece = fc.array(words, { maxLength: 5 }).map((some) => some.join(""));
const template = fc
  .array(fc.record({ value: piece, behind: piece }), { maxLength: 6 })
  .chain((rest) => fc.record({ first: piece, rest: fc.constant(rest) }))
  .map(({ first, rest }) => {
    const form = new TemplatePieces([first, ...rest.map(({ behind }) => behind)]);
    return { form, values: rest.map(({ value }) => value) };
  });

const someMail = {
  messageId: "1@example.com",
  date: new Date(0),
  from: { name: null, address: "news@example.com" },
  to: { name: null, address: "ada@example.com" },
  subject: "News",
  attachments: [],
  headers: [],
};

describe("a text made of shared pieces and values", () => {
  test("is sent and hashed like the same text in one piece, or left to the encoder", () => {
    fc.assert(
      fc.property(template, ({ form, values }) => {
        const text = new TemplateText(form, values);
        const made = text.sevenBit();
        if (made === null) return;
        const { encoding, content } = encodeTextContent(text.toString());
        expect(encoding).toBe("7bit");
        expect(joinOctets(made.wire).toString("latin1")).toBe(content);
        const followed = relaxedBody(joinOctets([...made.wire, "\r\n--"])).toString("latin1");
        expect(joinOctets([...made.relaxed, "\r\n--\r\n"]).toString("latin1")).toBe(followed);
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ["plain words", ["Hello ", ", welcome.\n"], ["Ada"]],
    ["a value of several lines", ["<p>", "</p>"], ["one\n two \n\nthree"]],
    ["two hundred thousand lines", ["Hello ", "\n".repeat(200_000)], ["Ada"]],
    ["no value at all", ["Hello", "  \n you"], [""]],
  ])("needs no encoder with %s", (_, pieces, values) => {
    expect(new TemplateText(new TemplatePieces(pieces), values).sevenBit()).not.toBeNull();
  });

  test.each([
    ["a non-ASCII letter in a value", ["Hello ", ""], ["Zoë"]],
    ["a non-ASCII letter in a piece", ["Grüße, ", ""], ["Ada"]],
    [
      "a line that pieces and values together make too long",
      ["x".repeat(500), "y".repeat(300)],
      ["z".repeat(199)],
    ],
    ["a line break that a value may cut in two", ["Hello\r", "\nyou"], [""]],
    ["NUL", ["Hello ", ""], ["\0"]],
  ])("needs the encoder with %s", (_, pieces, values) => {
    expect(new TemplateText(new TemplatePieces(pieces), values).sevenBit()).toBeNull();
  });

  test("makes the same message, with its relaxed form, as the text in one piece", () => {
    const html = new TemplateText(new TemplatePieces(["<p>  Hello\t", " \n</p>  ", "\n\n"]), [
      "Ada",
      "<br> ",
    ]);
    const text = new TemplateText(new TemplatePieces(["Hello ", "\n"]), ["Ada"]);
    const made = composeMessage({ ...someMail, html, text }, () => "same");
    const whole = composeMessage({ ...someMail, html: String(html), text: String(text) }, () => "same");
    const body = joinOctets(whole.body);
    const relaxed = relaxedBody(body);
    for (const one of [made, whole]) {
      expect(joinOctets(one.relaxedBody ?? [])).toEqual(relaxed);
      expect({ ...one, body: joinOctets(one.body), relaxedBody: null }).toEqual({
        ...whole,
        body,
        relaxedBody: null,
      });
    }
  });

  test("may have hundreds of thousands of values", () => {
    const html = new TemplateText(new TemplatePieces(Array(300_001).fill("\n")), Array(300_000).fill("Ada"));
    const { body } = composeMessage({ ...someMail, html, text: "Hello" });
    expect(lengthOf(body)).toBeGreaterThan(1_500_000);
  });
});
