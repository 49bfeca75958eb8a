import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerOf, quoteReply, ReplyReader } from "./reply-reader.ts";

const read = (...chunks: string[]) => {
  const reader = new ReplyReader();
  return chunks.map((chunk) => reader.read(Buffer.from(chunk, "latin1")));
};
const answers = (...chunks: string[]) => read(...chunks).flatMap(({ replies }) => replies.map(answerOf));
const violation = (...chunks: string[]) => read(...chunks).at(-1)?.violation ?? null;

describe("reading replies", () => {
  test("several replies in one chunk come out in order", () => {
    expect(answers("250 2.1.0 Ok\r\n250-2.1.5 a\r\n250 2.1.5 b\r\n354 go\r\n")).toEqual([
      { code: 250, enhanced: "2.1.0", text: "Ok" },
      { code: 250, enhanced: "2.1.5", text: "a b" },
      { code: 354, enhanced: null, text: "go" },
    ]);
  });

  test("chunk boundaries make no difference", () => {
    const stream = "220 hi there\r\n250-one\r\n250-\r\n250 SIZE 10\r\n550 5.1.1 no\r\n250\r\n";
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length)), (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        const pieces = edges.slice(1).map((edge, at) => stream.slice(edges[at], edge));
        expect(answers(...pieces)).toEqual(answers(stream));
      }),
    );
  });

  test("a bare LF ends a line too", () => {
    expect(answers("250 fine\n")).toEqual([{ code: 250, enhanced: null, text: "fine" }]);
  });

  test.each([
    "999 hi\r\n",
    "25\r\n",
    "099 x\r\n",
    "150 x\r\n",
    "hello\r\n",
    "250x\r\n",
    "\r\n",
    "2 50 x\r\n",
  ])("%j is a violation", (line) => {
    expect(violation(line)).toMatch(/^not an SMTP reply/);
  });

  test("replies before a violation are still read", () => {
    const [first] = read("250 fine\r\nnonsense\r\n");
    expect(first?.replies).toHaveLength(1);
    expect(first?.violation).toBe('not an SMTP reply: "nonsense"');
  });

  test("a reply whose lines change the class of their code is a violation that shows the words", () => {
    expect(violation("250-a\r\n550 b\r\n")).toBe('a reply with two codes: 250 and 550: "a b"');
    expect(violation("550-5.1.1 a\r\n450 4.2.0 b\r\n")).toMatch(/550 and 450: "5\.1\.1 a 4\.2\.0 b"$/);
  });

  test("a reply with several codes of one class has the code of its last line", () => {
    expect(
      answers(
        "550-5.1.1 <joe@example.com>\r\n554 5.1.1 User unknown\r\n",
        "550-5.7.1 Refused:\r\n550 5.1.1 User unknown\r\n",
        "450-Busy\r\n421 4.3.2 Closing\r\n",
        "250-hi\r\n251 there\r\n550-5.1.1 a\r\n550-4.7.1 b\r\n550 c\r\n",
      ),
    ).toEqual([
      { code: 554, enhanced: "5.1.1", text: "<joe@example.com> User unknown" },
      { code: 550, enhanced: "5.1.1", text: "5.7.1 Refused: User unknown" },
      { code: 421, enhanced: "4.3.2", text: "Busy Closing" },
      { code: 251, enhanced: null, text: "hi there" },
      { code: 550, enhanced: "5.1.1", text: "a 4.7.1 b c" },
    ]);
  });

  test("a line without end is a violation at 2 KB and quoted in short", () => {
    const found = violation("550 ", "x".repeat(1_000), "x".repeat(1_100));
    expect(found).toMatch(/^a reply line of more than 2048 octets/);
    expect(found?.length).toBeLessThan(200);
  });

  test("a reply without end is a violation at 100 lines", () => {
    expect(violation("250-more\r\n".repeat(100))).toBeNull();
    expect(violation("250-more\r\n".repeat(101))).toBe("a reply without end: 250");
  });

  test("a reply without end is a violation at 64 KB", () => {
    const line = `250-${"x".repeat(2_000)}\r\n`;
    expect(violation(line.repeat(32))).toBeNull();
    expect(violation(line.repeat(33))).toBe("a reply without end: 250");
  });
});

describe("the text of a reply", () => {
  test("NUL, escape characters and octets that are not UTF-8 are escaped before they are stored", () => {
    expect(answers("550 5.1.1 a\x00b \xff \x1b[31mred\r\n")[0]?.text).toBe("a\\x00b \\xff \\x1b[31mred");
  });

  test("valid UTF-8 stays readable, except for bidirectional control characters", () => {
    const utf8 = Buffer.from("550 Empfänger unbekannt \u202eabc\u2028\r\n").toString("latin1");
    expect(answers(utf8)[0]?.text).toBe("Empfänger unbekannt \\u{202e}abc\\u{2028}");
  });

  test("an enhanced code is told from a number that only looks like one", () => {
    expect(answers("550 5.1.10 null MX\r\n")[0]).toMatchObject({ enhanced: "5.1.10", text: "null MX" });
    expect(answers("550 5.1.1234 x\r\n")[0]).toMatchObject({ enhanced: null, text: "5.1.1234 x" });
    expect(answers("550 192.0.2.1 is listed\r\n")[0]).toMatchObject({ enhanced: null });
  });

  test("a quoted reply is short", () => {
    const [result] = read(`250 ${"x".repeat(1_000)}\r\n`);
    expect(quoteReply(result?.replies[0] ?? { code: 0, lines: [] }).length).toBeLessThan(90);
  });
});
