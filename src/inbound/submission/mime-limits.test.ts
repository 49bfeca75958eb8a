import { describe, expect, test } from "vitest";
import { readHeaderSection } from "#mail/message/header-section.ts";
import { expectLinearCost } from "#test/support/cost.ts";
import { requireMimeLimits } from "./mime-limits.ts";

const MOST = 2_000_000;

function answerTo(message: Buffer | string): string {
  const octets = Buffer.from(message);
  const section = readHeaderSection(octets);
  if (!section.ok) throw new Error(section.fault);
  try {
    requireMimeLimits(section.fields, octets.subarray(section.bodyStart));
    return "taken";
  } catch (reply) {
    return String(reply instanceof Error ? reply.message : reply);
  }
}
const lines = (...all: string[]) => all.join("\r\n");
const mixed = (...parts: string[]) =>
  lines(
    "Content-Type: multipart/mixed; boundary=b",
    "",
    ...parts.flatMap((part) => ["--b", part]),
    "--b--",
    "",
  );

describe("a text of a message has at most two million characters", () => {
  const text = (fields: string[], content: Buffer | string) =>
    Buffer.concat([Buffer.from(lines(...fields, "", "")), Buffer.from(content)]);
  const line = `${"x".repeat(76)}\r\n`;
  const base64 = (content: Buffer) =>
    content.toString("base64").replace(/.{76}/g, (encoded) => `${encoded}\r\n`);
  const utf8 = "Content-Type: text/plain; charset=utf-8";
  test.each([
    ["in ASCII", text([], "x".repeat(MOST)), true],
    ["in ASCII and one more", text([], "x".repeat(MOST + 1)), false],
    ["whose line ends count once", text([], "x\r\n".repeat(MOST / 2)), true],
    ["in octets beyond ASCII", text([utf8], "é".repeat(MOST)), true],
    ["in pairs of surrogates", text([utf8], "🙂".repeat(MOST)), true],
    ["in pairs of surrogates and one more", text([utf8], "🙂".repeat(MOST + 1)), false],
    ["in Base64", text(["Content-Transfer-Encoding: BASE64"], base64(Buffer.alloc(MOST, "x"))), true],
    [
      "in Base64 and one more",
      text(["Content-Transfer-Encoding: base64"], base64(Buffer.alloc(MOST + 1, "x"))),
      false,
    ],
    [
      "in quoted-printable",
      text(
        [utf8, "Content-Transfer-Encoding: quoted-printable"],
        `${"=C3=A9".repeat(12)}=\r\n`.repeat(MOST / 12),
      ),
      true,
    ],
    [
      "in quoted-printable and more",
      text([utf8, "Content-Transfer-Encoding: quoted-printable"], "=C3=A9".repeat(MOST + 1)),
      false,
    ],
    [
      "in UTF-16",
      text(["Content-Type: text/html; charset=UTF-16LE"], Buffer.from("x".repeat(MOST), "utf16le")),
      true,
    ],
    [
      "in Shift_JIS",
      text(
        ["Content-Type: text/plain; charset=Shift_JIS"],
        Buffer.alloc(2 * MOST, Buffer.from([0x82, 0xa0])),
      ),
      true,
    ],
    ["of twenty megabytes", text([], line.repeat(250_000)), false],
    ["of HTML", text(["Content-Type: Text/HTML"], line.repeat(30_000)), false],
  ])("%s", (_what, message, isTaken) => {
    expect(answerTo(message)).toMatch(
      isTaken ? /^taken$/ : /^5\.3\.4 A text .* more than 2000000 characters/,
    );
  });

  test.each([
    ["in a part", mixed(lines("Content-Type: text/html", "", line.repeat(30_000)), "\r\nshort"), false],
    ["in a part without fields", mixed(`\r\n${line.repeat(30_000)}`), false],
    [
      "in the last part, which no delimiter ends",
      mixed(`\r\n${line.repeat(30_000)}`).replace("--b--", ""),
      false,
    ],
    [
      "in a part of a part",
      mixed(
        lines(
          'Content-Type: multipart/alternative; boundary="c d"',
          "",
          "--c d",
          "",
          "short",
          "--c d",
          "Content-Type: text/html",
          "",
          line.repeat(30_000),
          "--c d--",
        ),
      ),
      false,
    ],
    ["in a file", mixed(lines("Content-Type: text/csv; name=big.csv", "", line.repeat(30_000))), true],
    [
      "in a file with a name of RFC 2231",
      mixed(
        lines(
          "Content-Type: text/plain",
          "Content-Disposition: inline; filename*0*=utf-8''a",
          "",
          line.repeat(30_000),
        ),
      ),
      true,
    ],
    [
      "in an attachment without a name",
      mixed(lines("Content-Disposition: ATTACHMENT", "", line.repeat(30_000))),
      true,
    ],
    [
      "in content that is no text",
      mixed(lines("Content-Type: application/pdf", "", line.repeat(30_000))),
      true,
    ],
    [
      "in a forwarded message",
      mixed(lines("Content-Type: message/rfc822", "", "Subject: a", "", line.repeat(30_000))),
      true,
    ],
  ])("%s", (_what, message, isTaken) => {
    expect(answerTo(message)).toMatch(isTaken ? /^taken$/ : /^5\.3\.4 /);
  });
});

describe("a message has at most", () => {
  const nested = (levels: number) =>
    Array.from({ length: levels }, (_, level) =>
      lines(`Content-Type: multipart/mixed; boundary=b${level}`, "", `--b${level}`, ""),
    ).join("");
  test.each([
    ["1,000 parts", mixed(...Array(1_000).fill("\r\nx")), "taken"],
    [
      "no more parts",
      mixed(...Array(1_001).fill("\r\nx")),
      "5.6.0 The message has more than 1000 MIME parts",
    ],
    [
      "no more parts without content",
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n".repeat(300_000)}`,
      "5.6.0 The message has more than 1000 MIME",
    ],
    ["20 levels", nested(20), "taken"],
    ["no more levels", nested(21), "5.6.0 The message has multiparts in more than 20 levels"],
    ["no more levels by far", nested(100_000), "5.6.0 The message has multiparts in more than 20 levels"],
  ])("%s", (_what, message, answer) => {
    expect(answerTo(message).startsWith(answer)).toBe(true);
  });

  test("hyphens at the beginning of a line are a delimiter only with the boundary of an open multipart", () => {
    const dashes = lines(
      ...Array(5_000).fill("-- "),
      ...Array(5_000).fill("--b2"),
      ...Array(5_000).fill("--b-"),
    );
    expect(answerTo(mixed(`\r\n${dashes}`))).toBe("taken");
    expect(answerTo(`${mixed("\r\nx")}${lines(...Array(2_000).fill("--b"))}`)).toBe("taken");
    expect(answerTo(`Subject: x\r\n\r\n${lines(...Array(2_000).fill("--b"))}`)).toBe("taken");
  });
});

test.each([
  ["lines that may be delimiters", "", "--x\r\n"],
  ["empty lines", "--b\r\n", "\r\n"],
  ["one line", "--", "-"],
])("twenty-five megabytes of %s are read in linear time", (_what, beginning, piece) => {
  const messageOf = (size: number) =>
    Buffer.from(
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${beginning}${piece.repeat(size / piece.length)}\r\n`,
    );
  expectLinearCost(6_250_000, messageOf, answerTo);
});
