import { describe, expect, test } from "vitest";
import type { GivenField } from "./header-section.ts";
import { joinOctets } from "./octet-pieces.ts";
import { RepairAllowance, repairBody } from "./repair-body.ts";

const field = (name: string, value: string): GivenField => ({ name, value, start: 0, end: 0 });
const crlf = (...lines: string[]) => `${lines.join("\r\n")}\r\n`;
const LONG = 998;

function repair(fields: readonly GivenField[], body: string, most = 1024 * 1024) {
  const allowance = new RepairAllowance(most);
  const repaired = repairBody(fields, Buffer.from(body), allowance);
  const text = repaired === null ? null : joinOctets(repaired.octets).toString();
  return { text, isExceeded: allowance.isExceeded };
}

describe("a multipart with one repaired part keeps every other octet", () => {
  const multipart = [field("Content-Type", "multipart/mixed; boundary=b")];
  const given = ["Content-Disposition: inline; filename=ü", "", "x"];
  const written = ["Content-Disposition: inline;\r\n filename*=UTF-8''%C3%BC", "", "x"];
  test.each<[string, string[], string[]]>([
    ["an empty part before it", ["--b", "--b"], ["--b--"]],
    ["an empty part after it", ["--b"], ["--b", "--b--"]],
    ["empty parts before and after it", ["--b", "--b", "--b"], ["--b", "--b", "--b--"]],
    ["an empty part after a preamble", ["preamble", "--b", "--b"], ["--b", "--b--", "epilogue"]],
    ["a part of one empty line", ["--b", "", "--b"], ["--b", "", "--b--"]],
    ["an empty part at the end of a multipart that is never closed", ["--b"], ["--b", "--b"]],
  ])("with %s", (_, before, after) => {
    const { text } = repair(multipart, crlf(...before, ...given, ...after));
    expect(text).toBe(crlf(...before, ...written, ...after));
  });

  test("if the only delimiter is the closing one", () => {
    const body = crlf("--b--", "Grüße");
    expect(repair(multipart, body).text).toBe(body);
  });

  test("and is refused if a delimiter line itself is too long", () => {
    const body = crlf("--b", "", "one", `--b${" ".repeat(LONG)}`, ...given, "--b--");
    expect(repair(multipart, body).text).toBeNull();
  });
});

describe("long lines are folded in place", () => {
  test("in base64, and other lines keep their octets", () => {
    const long = Buffer.alloc(3_000, "Grüße").toString("base64");
    const body = crlf("AAAA", long, "BBBBBBBB", long, "CCCC");
    const { text } = repair([field("Content-Transfer-Encoding", "base64")], body);
    const folded = long.match(/.{1,76}/g) ?? [];
    expect(text).toBe(crlf("AAAA", ...folded, "BBBBBBBB", ...folded, "CCCC"));
  });

  test.each([
    ["escapes", "=C3=BC".repeat(400)],
    ["escapes one octet later", `x${"=C3=BC".repeat(400)}`],
    ["escapes two octets later", `xx${"=C3=BC".repeat(400)}`],
    ["text", "x y".repeat(400)],
    ["only equals signs", "=".repeat(1_200)],
    ["a soft line break at its end", `${"x".repeat(1_200)}=`],
    ["75 octets in the last line", "x".repeat(75 * 20)],
    ["76 octets in the last line", "x".repeat(75 * 20 + 1)],
  ])("in quoted-printable without splitting an escape: %s", (_, long) => {
    const body = crlf("short =20", long, "end");
    const { text } = repair([field("Content-Transfer-Encoding", "quoted-printable")], body);
    const lines = (text ?? "").split("\r\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(76);
    expect(text?.replaceAll("=\r\n", "")).toBe(body.replaceAll("=\r\n", ""));
    if (!long.startsWith("==")) expect(text).not.toMatch(/=[\dA-F]?=\r\n/);
  });

  test("at the end of a body without a last line break", () => {
    const quoted = repair([field("Content-Transfer-Encoding", "quoted-printable")], "x".repeat(1_000));
    expect(quoted.text?.replaceAll("=\r\n", "")).toBe("x".repeat(1_000));
    const base64 = repair([field("Content-Transfer-Encoding", "base64")], "x".repeat(1_000));
    expect(base64.text?.replaceAll("\r\n", "")).toBe("x".repeat(1_000));
  });
});

describe("the allowance", () => {
  const line = "x".repeat(2_000);
  test.each<[string, GivenField[], string, number]>([
    ["long lines of Base64 alone", [field("Content-Transfer-Encoding", "base64")], crlf("A", line), 2_000],
    [
      "long lines of quoted-printable alone",
      [field("Content-Transfer-Encoding", "quoted-printable")],
      crlf("A", line, "A", line),
      4_000,
    ],
    ["the whole of a text that is encoded", [], crlf("A", line), 2_005],
    ["the whole of a file that is encoded", [field("Content-Type", "image/png")], crlf("A", line), 2_005],
    [
      "all parts of a multipart",
      [field("Content-Type", "multipart/mixed; boundary=b")],
      crlf("--b", "", line, "--b", "", line, "--b--"),
      4_000,
    ],
  ])("counts %s", (_, fields, body, octets) => {
    const enough = repair(fields, body, octets);
    expect(enough).toMatchObject({ text: expect.any(String), isExceeded: false });
    expect(repair(fields, body, octets - 1)).toEqual({ text: null, isExceeded: true });
  });

  test("beyond it part headers in UTF-8 are unchanged", () => {
    const multipart = [field("Content-Type", "multipart/mixed; boundary=b")];
    const header = "Content-Disposition: inline; filename=ü";
    const body = crlf("--b", header, "", "x", "--b--");
    expect(repair(multipart, body, 10).text).toBe(body);
    expect(repair(multipart, body, 100).text).toContain("UTF-8''%C3%BC");
  });
});
