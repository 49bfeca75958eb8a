import { execFileSync } from "node:child_process";
import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { SmtpReply } from "#inbound/listener/smtp-reply.ts";
import { type HeaderSection, readHeaderSection } from "#mail/message/header-section.ts";
import { newId } from "#platform/ids.ts";
import { expectLinearCost } from "#test/support/cost.ts";
import { readSubmission } from "./read-submission.ts";
import { repairMessage } from "./repair-message.ts";

const context = {
  id: newId(),
  hostname: "mail.posthaste.test",
  now: new Date("2026-11-21T12:00:00Z"),
  isSmtpUtf8: false,
};
const repair = (message: string | Buffer, isSmtpUtf8 = false) =>
  readSubmission(Buffer.from(message), { ...context, isSmtpUtf8 }).raw;
const crlf = (...lines: string[]) => `${lines.join("\r\n")}\r\n`;
const LONG = 998;

/** Checks a repaired message: ASCII header, CRLF line ends, no line too long. */
function expectSendable(raw: Buffer): void {
  const text = raw.toString("latin1");
  expect(text).not.toMatch(/\r(?!\n)|(?<!\r)\n|\0/);
  expect(text.slice(0, text.indexOf("\r\n\r\n"))).toMatch(/^\p{ASCII}*$/u);
  expect(Math.max(...text.split("\r\n").map((line) => line.length))).toBeLessThanOrEqual(LONG);
}

async function reread(message: string | Buffer) {
  const raw = repair(message);
  expectSendable(raw);
  return { raw: raw.toString(), mail: await PostalMime.parse(raw) };
}

/** What Python's email package reads, where Python is installed: an independent check. */
const python = (() => {
  try {
    execFileSync("python3", ["-c", "import email"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
})();
function readInPython(raw: Buffer, expression: string): unknown {
  const program = `import sys, json, email, email.policy
m = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
print(json.dumps(${expression}))`;
  return JSON.parse(execFileSync("python3", ["-c", program], { input: raw, encoding: "utf8" }));
}

describe("line ends", () => {
  const lines = ["From: a@shop.test", "Subject: Hello", "", "one", "", ".", ".two", "three"];
  test.each([
    ["LF", "\n"],
    ["CR", "\r"],
    ["CR CR LF", "\r\r\n"],
    ["CRLF", "\r\n"],
  ])("written as %s become CRLF", async (_, end) => {
    const { raw, mail } = await reread(`${lines.join(end)}${end}`);
    expect(raw.slice(raw.indexOf("\r\n\r\n") + 4)).toBe(crlf(...lines.slice(3)));
    expect(mail).toMatchObject({ subject: "Hello", from: { address: "a@shop.test" } });
  });

  test("may be mixed, and the last may be missing", async () => {
    const { raw } = await reread("From: a@shop.test\nSubject: x\r\n\ra\rb\nc\r\nd");
    expect(raw.slice(raw.indexOf("\r\n\r\n") + 4)).toBe("a\r\nb\r\nc\r\nd\r\n");
  });

  test("of thirty megabytes are repaired in linear time", () => {
    const fields = "From: a@shop.test\nContent-Type: application/pdf\n";
    expectLinearCost(
      3 * 1024 * 1024,
      (size) => Buffer.from(`${fields}\n${"\n".repeat(size)}`),
      (message) => expect(repair(message).length).toBeGreaterThan(2 * (message.length - 100)),
    );
    const larger = Buffer.from(`From: a@shop.test\n\n${"\n".repeat(16 * 1024 * 1024)}`);
    expect(() => repair(larger)).toThrow("larger than 31457280 octets");
  });
});

describe("raw UTF-8 in a header", () => {
  test.each([
    ["Subject: Grüße aus Köln", { subject: "Grüße aus Köln" }],
    [`Subject: ${"größer ".repeat(60).trim()}`, { subject: "größer ".repeat(60).trim() }],
    ["Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?= aus Köln", { subject: "Grüße aus Köln" }],
    ["Subject: 例\r\n 😀", { subject: "例 😀" }],
    ["To: Jörg Müller <j@x.test>", { to: [{ name: "Jörg Müller", address: "j@x.test" }] }],
    ['To: "Müller, Jörg" <j@x.test>', { to: [{ name: "Müller, Jörg", address: "j@x.test" }] }],
    [
      'To: Jörg "The Größte" Müller <j@x.test>',
      { to: [{ name: "Jörg The Größte Müller", address: "j@x.test" }] },
    ],
    [
      "To: Zoë <z@x.test>, a@x.test,Ann <b@x.test>, =?utf-8?Q?J=C3=B6rg?= Ü <j@x.test>",
      {
        to: [
          { name: "Zoë", address: "z@x.test" },
          { name: "", address: "a@x.test" },
          { name: "Ann", address: "b@x.test" },
          { name: "Jörg Ü", address: "j@x.test" },
        ],
      },
    ],
    [
      "To: a@müller.test, Ö <b@müller.test>",
      { to: [{ address: "a@xn--mller-kva.test" }, { name: "Ö", address: "b@xn--mller-kva.test" }] },
    ],
    ["Reply-To: Köln <k@x.test>", { replyTo: [{ name: "Köln", address: "k@x.test" }] }],
  ])("%s is encoded", async (field, expected) => {
    const { mail, raw } = await reread(crlf("From: a@shop.test", field, "", "Hello"));
    expect(mail).toMatchObject(expected);
    if (python && "to" in expected) {
      const names = readInPython(
        Buffer.from(raw),
        "[[a.display_name, a.addr_spec] for a in m['to'].addresses]",
      );
      expect(names).toEqual(expected.to.map((one) => ["name" in one ? one.name : "", one.address]));
    }
  });

  test("in From is encoded, and the sender address is unchanged", async () => {
    const { mail } = await reread(crlf('From: Jörg "J" Müller <a@shop.test>', "", "Hello"));
    expect(mail.from).toMatchObject({ name: "Jörg J Müller", address: "a@shop.test" });
  });

  test("in parameters takes the form of RFC 2231", async () => {
    const type = 'Content-Type: application/pdf; name="Größe 1.pdf"';
    const disposition = "Content-Disposition: attachment; filename=Übersicht.pdf; size=3";
    const { mail, raw } = await reread(
      crlf("From: a@shop.test", type, disposition, "Content-Transfer-Encoding: base64", "", "AAAA"),
    );
    expect(mail.attachments).toMatchObject([{ filename: "Übersicht.pdf", mimeType: "application/pdf" }]);
    expect(raw).toContain("size=3");
    if (python)
      expect(readInPython(Buffer.from(raw), "[m.get_filename(), m['content-type'].params['name']]")).toEqual([
        "Übersicht.pdf",
        "Größe 1.pdf",
      ]);
  });

  test("of parts is encoded, too", async () => {
    const { mail } = await reread(
      crlf(
        "From: a@shop.test",
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain; charset=utf-8",
        "",
        "Grüße",
        "--b",
        'Content-Disposition: attachment; filename="Größe.txt"',
        "",
        "x",
        "--b--",
      ),
    );
    expect(mail.attachments).toMatchObject([{ filename: "Größe.txt" }]);
    expect(mail.text).toBe("Grüße\n");
  });

  test("is kept if MAIL had SMTPUTF8", () => {
    const message = crlf("From: a@shop.test", "Subject: Grüße", "", "Hello");
    expect(repair(message, true).toString()).toContain("\r\nSubject: Grüße\r\n");
    const parts = crlf("--b", "Content-Disposition: attachment; filename=ü", "", "x", "--b--");
    const multipart = `${crlf("From: a@shop.test", "Content-Type: multipart/mixed; boundary=b", "")}${parts}`;
    expect(repair(multipart, true).toString()).toContain(parts);
    expect(repair(multipart).toString()).toContain("filename*=UTF-8''%C3%BC");
  });

  test.each([
    ["To: jörg@x.test", "To cannot be encoded"],
    ["To: J <jörg@x.test>", "To cannot be encoded"],
    ["Message-ID: <ü@x.test>", "Message-ID cannot be encoded"],
    ["Content-Type: text/plün", "Content-Type cannot be encoded"],
  ])("%s is refused, because it has no ASCII form", (field, reason) => {
    expect(() => repair(crlf("From: a@shop.test", field, "", "Hello"))).toThrow(reason);
  });
});

describe("a missing field", () => {
  test("is added: Date, Message-ID and MIME-Version", async () => {
    const { raw } = await reread("From: a@shop.test\n\nHello\n");
    expect(raw).toMatch(
      /^Received: .*\r\n .*\r\nDate: .*\r\nMessage-ID: <.*@shop\.test>\r\nMIME-Version: 1\.0\r\n/,
    );
    const given = crlf("Date: x", "Message-ID: <y@z>", "mime-version: 1.0", "From: a@shop.test", "", "Hello");
    expect((await reread(given)).raw).not.toMatch(/^(?:Date: S|MIME-Version:)/m);
  });

  test("is added for 8-bit text: its charset and encoding", async () => {
    const { mail, raw } = await reread("From: a@shop.test\n\nGrüße\n");
    expect(raw).toContain(
      "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n",
    );
    expect(mail.text).toBe("Grüße\n");
  });
});

describe("a line beyond 998 octets", () => {
  const long = `${"Grüße ".repeat(400)}= \u{1f600}`;
  const text = "Content-Type: text/plain; charset=utf-8";
  test.each<[string, string[], string]>([
    ["of text", [text, "Content-Transfer-Encoding: 8bit"], long],
    ["of text without a declared encoding", [text], long],
    ["of plain ASCII", [], "x".repeat(5_000)],
    ["of HTML", ["Content-Type: text/html; charset=utf-8"], `<p>${long}</p>`],
  ])("%s is encoded as quoted-printable", async (_, fields, line) => {
    const { mail, raw } = await reread(crlf("From: a@shop.test", ...fields, "", "first", line, "last"));
    expect(raw).toContain("\r\nContent-Transfer-Encoding: quoted-printable\r\n");
    expect(raw.match(/content-transfer-encoding/gi)).toHaveLength(1);
    expect(mail.html?.trimEnd() ?? mail.text?.trimEnd()).toBe(`first\n${line}\nlast`);
    if (python)
      expect(readInPython(Buffer.from(raw), "m.get_content().replace(chr(13), '')")).toBe(
        `first\n${line}\nlast\n`,
      );
  });

  test("of exactly 998 stays as it is", async () => {
    const { raw } = await reread(crlf("From: a@shop.test", "", "x".repeat(998)));
    expect(raw).toContain(`\r\n\r\n${"x".repeat(998)}\r\n`);
  });

  test("of Base64 and of quoted-printable is folded, with the same meaning", async () => {
    const content = Buffer.from(long.repeat(3));
    const inBase64 = await reread(
      crlf("From: a@shop.test", text, "Content-Transfer-Encoding: base64", "", content.toString("base64")),
    );
    expect(inBase64.mail.text?.trimEnd()).toBe(content.toString());
    const quoted = `a=20${"=C3=BC".repeat(500)}${"x".repeat(500)}`;
    const inQuoted = await reread(
      crlf("From: a@shop.test", text, "Content-Transfer-Encoding: quoted-printable", "", quoted, "end=", "s"),
    );
    expect(inQuoted.mail.text?.trimEnd()).toBe(`a ${"ü".repeat(500)}${"x".repeat(500)}\nends`);
  });

  test("in a part is encoded there, and the other parts stay octet by octet", async () => {
    const other = ["--b", "Content-Type: text/plain", "X-Odd :  kept", "", "  other \t"];
    const message = crlf(
      "From: a@shop.test",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      "preamble",
      "--b",
      'Content-Type: multipart/alternative; boundary="b2"',
      "",
      "--b2",
      text,
      "",
      long,
      "--b2",
      "Content-Type: text/html",
      "",
      "<p>short</p>",
      "--b2--",
      "--b",
      "Content-Type: application/octet-stream",
      "Content-Disposition: attachment; filename=x",
      "",
      "y".repeat(2_000),
      ...other,
      "--b--",
      "epilogue",
    );
    const { mail, raw } = await reread(message);
    expect(mail.text).toContain(long);
    expect(mail.html).toContain("<p>short</p>");
    expect(raw).toContain(other.join("\r\n"));
    expect(raw).toMatch(/preamble[\s\S]*--b--\r\nepilogue\r\n$/);
    const [attachment] = mail.attachments;
    expect(Buffer.from(attachment?.content as ArrayBuffer).toString()).toBe("y".repeat(2_000));
  });

  test.each([
    [`To: ${Array.from({ length: 200 }, (_, at) => `a${at}@x.test`).join(",")}`],
    [`References: ${Array.from({ length: 200 }, (_, at) => `<a${at}@x.test>`).join(" ")}`],
    [`X-Words: ${"word ".repeat(400)}`],
  ])("of a header is folded: %.30s", async (field) => {
    const { raw } = await reread(crlf("From: a@shop.test", field, "", "Hello"));
    const header = raw.slice(0, raw.indexOf("\r\n\r\n")).replaceAll("\r\n ", " ");
    expect(header.replace(/[ ,]+/g, " ")).toContain(field.trim().replace(/[ ,]+/g, " "));
  });

  test("of a subject of one word is encoded", async () => {
    const { mail } = await reread(crlf("From: a@shop.test", `Subject: ${"x".repeat(1_200)}`, "", "Hello"));
    expect(mail.subject).toBe("x".repeat(1_200));
  });

  const signed = [
    "DKIM-Signature: v=1; a=rsa-sha256; d=shop.test; s=x; h=from; bh=; b=",
    'Content-Type: multipart/signed; boundary=b; protocol="application/pgp-signature"',
    "Content-Type: application/pkcs7-mime; smime-type=signed-data",
    'Content-Type: multipart/mixed; boundary="none of them"',
    "Content-Type: message/rfc822",
  ];
  test.each(signed)("that is signed or cannot be parsed is refused: %.40s", (field) => {
    const message = crlf("From: a@shop.test", field, "", "--b", "", "x".repeat(999), "--b--");
    expect(() => repair(message)).toThrow("Line 6 is longer than 998 octets");
  });

  test("in a clear-signed text is refused", () => {
    const message = crlf("From: a@shop.test", "", "-----BEGIN PGP SIGNED MESSAGE-----", "x".repeat(999));
    expect(() => repair(message)).toThrow("Line 4 is longer than 998 octets");
  });

  test("of a signed part is refused, and a signed part is not changed otherwise", async () => {
    const message = (line: string) =>
      crlf(
        "From: a@shop.test",
        "Content-Type: multipart/mixed; boundary=a",
        "",
        "--a",
        "Content-Type: multipart/signed; boundary=b",
        "",
        "--b",
        "Content-Disposition: inline; filename=ü",
        "",
        line,
        "--b--",
        "--a--",
      );
    expect(() => repair(message("x".repeat(999)))).toThrow("longer than 998");
    expect(repair(message("Hello")).toString()).toContain("filename=ü\r\n");
  });
});

test("a message with a DKIM signature keeps every octet except line ends", () => {
  const fields = ["DKIM-Signature: v=1; d=shop.test; b=", "From: a@shop.test", "Subject:  two  blanks"];
  const raw = repair(`${[...fields, "", "Gr\u00fc\u00dfe"].join("\n")}\n`).toString();
  expect(raw).toMatch(/MIME-Version: 1\.0\r\nDKIM-Signature: /);
  expect(raw.endsWith(crlf(...fields, "", "Gr\u00fc\u00dfe"))).toBe(true);
  expect(() => repair(crlf(fields[0] ?? "", "From: a@shop.test", "Subject: \u00fc", "", "x"))).toThrow(
    "5.6.7",
  );
});

test("a header of quotes that never close is read in linear time", () => {
  for (const name of ["To", "Content-Type", "Subject"]) {
    const messageOf = (size: number) =>
      crlf("From: a@shop.test", `${name}: ü ${'\\"'.repeat(size)}`, "", "Hello");
    expectLinearCost(11_000, messageOf, repairOrRefuse);
  }
});

/** A refusal costs CPU time, too. */
function repairOrRefuse(message: Buffer | string): void {
  try {
    repair(message);
  } catch (refusal) {
    if (!(refusal instanceof SmtpReply)) throw refusal;
  }
}

test.each([
  ["parts", "--b\r\n", "Content-Type: multipart/mixed; boundary=b"],
  ["marks of parts", "\r\n--", "Content-Type: multipart/mixed; boundary=b"],
  ["fields of a part", "a:\r\n", "Content-Type: multipart/mixed; boundary=b"],
  ["lines of Base64", "a\r\n", "Content-Transfer-Encoding: base64"],
  ["lines in quoted-printable", "=\r\n", "Content-Transfer-Encoding: quoted-printable"],
])("the cost of millions of %s grows with their number, not with its square", (_, piece, field) => {
  const messageOf = (size: number) => {
    const filling = piece.repeat(size / piece.length);
    return Buffer.from(`From: a@shop.test\r\n${field}\r\n\r\n--b\r\n${filling}ü${"x".repeat(999)}\r\n`);
  };
  expectLinearCost(6 * 1024 * 1024, messageOf, repairOrRefuse);
});

describe("repairs of more than 1 MiB are refused with advice", () => {
  const size = 25 * 1024 * 1024;
  test.each([
    ["Base64 in one line", "Content-Transfer-Encoding: base64", "QUJD".repeat(size / 4)],
    ["quoted-printable in one line", "Content-Transfer-Encoding: quoted-printable", "=C3=".repeat(size / 4)],
    ["8-bit text in one line", "Content-Type: text/plain; charset=utf-8", "üxy".repeat(size / 4)],
    ["a file in one line", "Content-Type: image/png", "üxy".repeat(size / 4)],
    ["a text with one long line", "Subject: x", `${"Hello\r\n".repeat(200_000)}${"x".repeat(999)}`],
  ])("%s", (_, field, body) => {
    const message = crlf("From: a@shop.test", field, "", body);
    expect(() => repair(message)).toThrow(
      /^5\.6\.0 Line \d+ is longer than 998 octets, .* 1048576 octets.*: send .* in lines of at most 76 characters$/,
    );
  });

  test("a single long line among many short ones of Base64 is folded", () => {
    const body = `${"QUJD".repeat(19)}\r\n`.repeat(100_000);
    const message = crlf(
      "From: a@shop.test",
      "Content-Type: application/pdf",
      "Content-Transfer-Encoding: base64",
      "",
      body + "QUJD".repeat(500),
    );
    expectSendable(repair(message));
  });
});

test("a long line after millions of lines is refused in linear time", () => {
  const fields = ["DKIM-Signature: v=1; d=shop.test; b=", "From: a@shop.test"];
  const messageOf = (lines: number) => {
    const message = Buffer.from(crlf(...fields, "", "Hello, Ada\r\n".repeat(lines) + "x".repeat(999)));
    const { fields: given, bodyStart } = readHeaderSection(message) as Extract<HeaderSection, { ok: true }>;
    return { lines, read: { message, fields: given, bodyStart } };
  };
  expectLinearCost(600_000, messageOf, ({ lines, read }) =>
    expect(() => repairMessage(read, context)).toThrow(`Line ${lines + 4} is longer than 998 octets: `),
  );
});
