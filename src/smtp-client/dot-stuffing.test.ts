import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dotStuff, endOfData } from "./dot-stuffing.ts";

/** The message that a receiver reads from the wire, line by line (RFC 5321 section 4.5.2). */
function unstuff(wire: string): { message: string; rest: string } {
  const lines = wire.split("\r\n");
  const end = lines.indexOf(".");
  const kept = lines.slice(0, end).map((line) => (line.startsWith(".") ? line.slice(1) : line));
  return { message: kept.map((line) => `${line}\r\n`).join(""), rest: lines.slice(end + 1).join("\r\n") };
}

const octets = (text: string) => Buffer.from(text, "latin1");

describe("dot-stuffing", () => {
  test("every message arrives unchanged, and nothing in it ends the data early", () => {
    const line = fc.oneof(
      fc.stringMatching(/^\.{0,3}[ -~]{0,5}$/),
      fc.uint8Array({ maxLength: 8 }).map((bytes) =>
        Buffer.from(bytes)
          .toString("latin1")
          .replace(/[\r\n]/g, ""),
      ),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const message = lines.map((text) => `${text}\r\n`).join("");
        const wire = dotStuff(octets(message)).toString("latin1") + endOfData;
        expect(unstuff(`${wire}RSET\r\n`)).toEqual({ message, rest: "RSET\r\n" });
      }),
      { numRuns: 2_000 },
    );
  });

  test("a message without leading dots is not copied", () => {
    const message = octets("Subject: a. b\r\n\r\nwww.example.com\r\n");
    expect(dotStuff(message)).toBe(message);
  });

  test.each([
    [".", "..\r\n"],
    ["", ""],
    [".\r\n.\r\n", "..\r\n..\r\n"],
    ["a", "a\r\n"],
    ["a\r\n.", "a\r\n..\r\n"],
    ["a\r", "a\r\r\n"],
    ["...", "....\r\n"],
  ])("%j goes out as %j", (message, stuffed) => {
    expect(dotStuff(octets(message)).toString("latin1")).toBe(stuffed);
  });

  test.each([
    ["LF.LF", "a\n.\nb\r\n"],
    ["LF.CRLF", "a\n.\r\nb\r\n"],
    ["CR.CR", "a\r.\rb\r\n"],
    ["CR.CRLF", "a\r.\r\nb\r\n"],
    ["LF. at the very start", "\n.\r\n"],
  ])("a message that smuggles an end of data as %s throws", (_form, message) => {
    expect(() => dotStuff(octets(message))).toThrow(/bare (CR|LF)/);
  });

  test.each([
    ["CRLF.LF", "a\r\n.\nb\r\n"],
    ["CRLF.CR", "a\r\n.\rb\r\n"],
  ])("%s is made harmless by stuffing", (_form, message) => {
    expect(dotStuff(octets(message)).toString("latin1")).toBe(message.replace(".", ".."));
  });
});
