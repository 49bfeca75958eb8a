import { describe, expect, test } from "vitest";
import { headerText, headerValue, ownParts, partOctets, partText, readMime } from "./lenient-mime.ts";

function read(mail: string) {
  return readMime(Buffer.from(mail, "latin1"));
}

describe("header fields", () => {
  test("are unfolded and found in any case", () => {
    const mail = read("Subject: one\r\n two\r\nX-A : b\r\n\r\nbody");
    expect(headerValue(mail, "SUBJECT")).toBe("one two");
    expect(headerValue(mail, "x-a")).toBe("b");
    expect(headerValue(mail, "X-B")).toBeNull();
    expect(mail.body).toBe("body");
  });

  test("encoded-words are decoded by headerText", () => {
    expect(headerText(read("Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\n\n"), "Subject")).toBe("Grüße");
  });

  test("lines that are not fields are skipped, and a text without fields is a body", () => {
    expect(headerValue(read("Subject: a\nno field here\nX-B: c\n\nbody"), "X-B")).toBe("c");
    expect(read("no field here\nX-B: c\n").body).toBe("no field here\nX-B: c\n");
  });
});

describe("parts", () => {
  const nested = `Content-Type: multipart/mixed; boundary="a b"

preamble
--a b
Content-Type: multipart/alternative; boundary=x

--x

plain
--x
Content-Type: text/html

<p>html</p>
--x--
--a b
Content-Type: message/rfc822

Subject: carried

--a b--
epilogue`;

  test("are listed in order, without those of an attached mail", () => {
    const types = [...ownParts(read(nested))].map(({ type }) => type);
    expect(types).toEqual([
      "multipart/mixed",
      "multipart/alternative",
      "text/plain",
      "text/html",
      "message/rfc822",
    ]);
  });

  test("an attached mail is read, also in base64", () => {
    const carried = Buffer.from("Subject: inside\n\nx").toString("base64");
    const [inside] = read(
      `Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n${carried}`,
    ).parts;
    expect(inside && headerValue(inside, "Subject")).toBe("inside");
  });

  test("a multipart without delimiters is text", () => {
    expect(read("Content-Type: multipart/mixed; boundary=b\n\njust words")).toMatchObject({
      type: "text/plain",
    });
  });

  test.each(["text", "text/plain/x", "", "; boundary=x", "text/p\x01lain"])(
    "the content type %j is text/plain",
    (type) => {
      expect(read(`Content-Type: ${type}\n\nx`).type).toBe("text/plain");
    },
  );

  test("nesting beyond ten and more than two hundred parts are not read", () => {
    const wrapped = `${"Content-Type: message/rfc822\n\n".repeat(50)}x`;
    let depth = 0;
    for (let [part] = read(wrapped).parts; part !== undefined; [part] = part.parts) depth++;
    expect(depth).toBe(10);
    const many = `Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nx\n".repeat(5_000)}`;
    expect([...ownParts(read(many))].length).toBeLessThanOrEqual(201);
  });

  test("octets beyond the limit are not read", () => {
    expect(readMime(Buffer.from("Subject: a\n\n12345678"), 15).body).toBe("123");
  });
});

describe("content", () => {
  test.each([
    ["quoted-printable", "text/plain; charset=utf-8", "Gr=C3=BC=\n=C3=9Fe  \nx", "Grüße\nx"],
    ["base64", "text/plain; charset=utf-8", "R3LDvMOfZQ==", "Grüße"],
    ["8bit", "text/plain; charset=iso-8859-1", "Gr\xfc\xdfe", "Grüße"],
    ["8bit", "text/plain", "Gr\xc3\xbc\xc3\x9fe", "Grüße"],
    ["8bit", "text/plain; charset=klingon", "Gr\xfc\xdfe", "Grüße"],
    ["7bit", "text/plain; charset=us-ascii", "Gr\xfc\xdfe", "Grüße"],
    ["8bit", "text/plain; charset=gb2312", "\xc4\xe3\xba\xc3", "你好"],
    ["8bit", "text/plain; charset=koi8-r", "\xd0\xd2\xc9", "при"],
    ["base64", "text/html", Buffer.from("<p>a&amp;b<br>c</p>").toString("base64"), "a&b\nc"],
  ])("in %s as %s", (encoding, type, body, text) => {
    expect(
      partText(read(`Content-Type: ${type}\nContent-Transfer-Encoding: ${encoding}\n\n${body}`)).trim(),
    ).toBe(text);
  });

  test("octets survive base64", () => {
    const octets = Buffer.from([0, 1, 0x1f, 0x8b, 0xff]);
    const mail = `Content-Transfer-Encoding: base64\n\n${octets.toString("base64")}\n`;
    expect(partOctets(read(mail))).toEqual(octets);
  });
});
