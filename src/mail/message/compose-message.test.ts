import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import PostalMime from "postal-mime";
import { describe, expect, test } from "vitest";
import { headerTextFault } from "#mail/address.ts";
import { type Attachment, attachmentFault, composeMessage, type MessageContent } from "./compose-message.ts";
import { relaxedBody } from "./dkim-canonicalization.ts";
import { type HeaderField, renderMessage } from "./encode-header.ts";
import { joinOctets } from "./octet-pieces.ts";
import { encodeBase64 } from "./transfer-encoding.ts";

const plain: MessageContent = {
  messageId: "1@example.com",
  date: new Date("2026-11-21T08:00:00Z"),
  from: { name: "Jane Doe", address: "jane@example.com" },
  to: { address: "joe@example.org" },
  subject: "Hello",
  html: "<p>Hello</p>",
  text: "Hello",
  attachments: [],
  headers: [],
};
const fields = ["from", "to", "subject", "date", "message-id", "mime-version", "content-type"];

function raw(content: Partial<MessageContent>): Buffer {
  const { headers, body } = composeMessage({ ...plain, ...content });
  return renderMessage(headers, body);
}

const file = (given: Partial<Attachment>): Attachment => ({
  filename: "file.bin",
  encoded: encodeBase64(Buffer.from("content")),
  contentType: "application/octet-stream",
  disposition: "attachment",
  ...given,
});

/** The tree of media types, read from the raw text. */
const structure = (message: Buffer) =>
  [...message.toString().matchAll(/^Content-Type: ([\w/-]+)/gm)].map(([, type]) => type);

/** A name without blanks at its ends: parsers trim it, and Python 3.11 shows the blanks that separate encoded-words. */
const blankless = (name: string | null | undefined) => (name ?? "").replaceAll(/\s+/g, "");

interface Judged {
  readonly names: string[];
  readonly from: (string | undefined)[][];
  readonly to: (string | undefined)[][];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly files: { name: string; type: string; content: string }[];
}

async function judgedByPostalMime(message: Buffer): Promise<Judged> {
  const email = await PostalMime.parse(message, { attachmentEncoding: "base64" });
  const mailboxes = (header: string) => {
    const all = header === "from" ? [email.from] : (email.to ?? []);
    return all.map((mailbox) => [blankless(mailbox?.name), mailbox?.address]);
  };
  return {
    names: email.headers.map(({ key }) => key),
    from: mailboxes("from"),
    to: mailboxes("to"),
    subject: email.subject ?? "",
    text: email.text ?? "",
    html: email.html ?? "",
    files: email.attachments.map(({ filename, mimeType, content }) => ({
      name: filename ?? "",
      type: mimeType,
      content: typeof content === "string" ? content : "",
    })),
  };
}

const python = `
import base64, email, email.policy, json, sys
def judge(raw):
    message = email.message_from_string(base64.b64decode(raw).decode(), policy=email.policy.SMTPUTF8)
    defects = [repr(d) for part in message.walk() for d in part.defects]
    defects += [repr(d) for value in message.values() for d in value.defects if "NonASCIILocal" not in repr(d)]
    body = lambda kind: message.get_body((kind,)).get_content().replace("\\r\\n", "\\n")
    mailboxes = lambda name: [["".join(a.display_name.split()), a.addr_spec] for a in message[name].addresses]
    return dict(names=[name.lower() for name in message.keys()], defects=defects,
        subject=str(message["Subject"]), to=mailboxes("To"), text=body("plain"), html=body("html"),
        files=[dict(name=p.get_filename(), type=p.get_content_type(),
            content=base64.b64encode(p.get_payload(decode=True)).decode())
            for p in message.walk() if p.get_content_disposition()],
        **{"from": mailboxes("From")})
json.dump([judge(raw) for raw in json.load(sys.stdin)], sys.stdout)
`;

/** One process for all messages. A defect is something that the parser had to repair. */
function judgedByPython(messages: readonly Buffer[]): (Judged & { readonly defects: string[] })[] {
  const input = JSON.stringify(messages.map((message) => message.toString("base64")));
  const { stdout, stderr } = spawnSync("python3", ["-c", python], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout).map((judged: Judged) => ({ ...judged, files: sorted(judged.files) }));
}

/** Inline parts come before attachments in a message, whatever their order was. */
const sorted = (files: Judged["files"]) =>
  files.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("the structure", () => {
  const image = file({
    filename: "a.png",
    contentType: "image/png",
    disposition: "inline",
    contentId: "logo",
  });
  const both = ["multipart/alternative", "text/plain", "text/html"];
  test.each([
    ["one text", { html: null }, ["text/plain"]],
    ["one HTML", { text: null }, ["text/html"]],
    ["text and HTML", {}, both],
    ["an attachment", { attachments: [file({})] }, ["multipart/mixed", ...both, "application/octet-stream"]],
    [
      "an attached file without HTML",
      { html: null, attachments: [file({})] },
      ["multipart/mixed", "text/plain", "application/octet-stream"],
    ],
    [
      "an inline image and an attachment",
      { attachments: [file({}), image] },
      [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "application/octet-stream",
      ],
    ],
    [
      "an inline image without text",
      { text: null, attachments: [image] },
      ["multipart/related", "text/html", "image/png"],
    ],
    [
      "an inline image without HTML",
      { html: null, attachments: [image] },
      ["multipart/mixed", "text/plain", "image/png"],
    ],
    [
      "an inline image that nothing can refer to",
      { attachments: [{ ...image, contentId: null }] },
      ["multipart/mixed", ...both, "image/png"],
    ],
  ] as [string, Partial<MessageContent>, string[]][])("of a message with %s", (_, content, types) => {
    expect(structure(raw(content))).toEqual(types);
  });

  test("links an inline image to the HTML that shows it", async () => {
    const html = '<img src="cid:logo">';
    const email = await PostalMime.parse(raw({ html, attachments: [image] }));
    expect(email.attachments).toMatchObject([{ contentId: "<logo>", disposition: "inline", related: true }]);
    expect(email.html).toContain(html);
  });

  test("sends messages and multiparts as application/octet-stream, because base64 is forbidden for them", () => {
    const attachments = ["message/rfc822", "Multipart/mixed; boundary=x"].map((contentType) =>
      file({ contentType }),
    );
    expect(structure(raw({ attachments })).slice(-2)).toEqual([
      "application/octet-stream",
      "application/octet-stream",
    ]);
  });

  test("has a boundary that occurs in no body", () => {
    const ids = ["taken", "also-taken", "free"];
    const { body, headers } = composeMessage(
      { ...plain, text: "--=_ataken", html: "<p>=_malso-taken</p>" },
      () => ids.shift() ?? "",
    );
    expect(new Map(headers).get("Content-Type")).toContain('boundary="=_afree"');
    expect(
      joinOctets(body)
        .toString()
        .match(/^--=_afree(--)?$/gm),
    ).toHaveLength(3);
    expect(
      new Set(
        Array.from(
          { length: 100 },
          () =>
            raw({})
              .toString()
              .match(/boundary=(.*)/)?.[1],
        ),
      ).size,
    ).toBe(100);
  });
});

describe("the header", () => {
  test("has the fields in the order they are sent, further fields after Message-ID", () => {
    const { headers, needsSmtpUtf8 } = composeMessage({
      ...plain,
      html: null,
      headers: [["Feedback-ID", "a:b:c:d"]],
    });
    expect(headers).toEqual([
      ["From", "Jane Doe <jane@example.com>"],
      ["To", "joe@example.org"],
      ["Subject", "Hello"],
      ["Date", "Sat, 21 Nov 2026 08:00:00 +0000"],
      ["Message-ID", "<1@example.com>"],
      ["Feedback-ID", "a:b:c:d"],
      ["MIME-Version", "1.0"],
      ["Content-Type", "text/plain; charset=utf-8"],
      ["Content-Transfer-Encoding", "7bit"],
    ]);
    expect(needsSmtpUtf8).toBe(false);
  });

  test("is ASCII whatever is in it, except for an address that needs SMTPUTF8", () => {
    const words = { from: { name: "Jörg 😀", address: "j@example.com" }, subject: "Größe" };
    expect(composeMessage({ ...plain, ...words }).needsSmtpUtf8).toBe(false);
    expect(raw(words).toString("latin1")).toMatch(/^[\r\n -~]*$/);
    const composed = composeMessage({ ...plain, to: { name: "Jörg", address: "jörg@example.com" } });
    expect(composed.needsSmtpUtf8).toBe(true);
    expect(new Map(composed.headers).get("To")).toBe("=?UTF-8?B?SsO2cmc=?= <jörg@example.com>");
  });

  test.each([
    ["subject", { subject: "a\r\nBcc: b@example.com" }],
    ["sender's name", { from: { name: "a\nb", address: "a@example.com" } }],
    ["sender's address", { from: { address: "a@example.com\r\nBcc: b@example.com" } }],
    ["recipient's name", { to: { name: "a\u2028b", address: "a@example.com" } }],
    ["recipient's address", { to: { address: "a@example.com\0" } }],
    ["further field", { headers: [["X-A", "a\r\nBcc: b"]] }],
    ["Message-ID", { messageId: "1>\r\nBcc: b" }],
    ["filename", { attachments: [file({ filename: "a\r\nb" })] }],
    ["media type", { attachments: [file({ contentType: "text/plain\r\nX: y" })] }],
    ["Content-ID", { attachments: [file({ contentId: "a>\r\nX: y" })] }],
  ] as [string, Partial<MessageContent>][])("never contains a line break from the %s", (_, content) => {
    expect(() => raw(content)).toThrow();
  });

  test.each([
    "From",
    "TO",
    "Subject",
    "date",
    "Message-ID",
    "MIME-Version",
    "Content-Type",
    "content-language",
  ])("has %s from the composer only", (name) => {
    expect(() => raw({ headers: [[name, "x"]] })).toThrow(/composer writes the field/);
  });

  test("is refused for a message without any body", () => {
    expect(() => raw({ html: null, text: null })).toThrow(/text or an HTML body/);
  });
});

describe("an attachment", () => {
  test.each([
    [{ filename: " " }, /filename/],
    [{ filename: "a\u202e\u0085b" }, /Remove the line break U\+0085/],
    [{ contentType: "pdf" }, /media type/],
    [{ contentType: "text/plain; name=größe" }, /media type/],
    [{ contentType: 'text/plain; name="a\r\nb"' }, /media type/],
    [{ contentType: `text/${"x".repeat(300)}` }, /media type/],
    [{ contentId: "<logo>" }, /content_id/],
    [{ contentId: "a b" }, /content_id/],
    [{ contentId: "" }, /content_id/],
  ])("is refused for %j", (given, expected) => {
    expect(attachmentFault(file(given))).toMatch(expected);
  });

  test.each([
    [{}],
    [{ filename: "../../x" }],
    [{ contentType: 'text/plain; charset=utf-8; name="a b.txt"' }],
    [{ contentType: "application/vnd.ms-excel" }],
    [{ contentId: "logo@example.com" }],
  ])("may be %j", (given) => {
    expect(attachmentFault(file(given))).toBeNull();
  });
});

describe("a composed message", () => {
  const text = fc
    .oneof(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.constantFrom(
        "ceo@bank.example",
        "a, b",
        '"a" \\',
        "=?utf-8?q?=0D=0AX:_y?=",
        "\u202eevil",
        "%0d%0aBcc: x",
        "x".repeat(500),
        "Grüße ".repeat(300).trim(),
        "a".repeat(10_000),
      ),
    )
    .filter((value) => headerTextFault(value) === null);
  const body = fc
    .oneof(
      fc.string({ unit: "grapheme", maxLength: 400 }),
      fc.constantFrom("Привет ".repeat(100), "a\n.\n..\nFrom b\n\n--=_a\n", " x \n\t\n", "=".repeat(500)),
    )
    .map((value) => value.replaceAll("\r", "").replaceAll("\0", ""));
  const attachment = fc.record({
    filename: fc
      .oneof(text, fc.constantFrom("a.pdf.exe", "../../x", "überlänge".repeat(34), "\u202efdp.exe"))

      // postal-mime decodes encoded-words even in RFC 2231 values; Python trims them.
      .map((value) => value.replaceAll("=?", "").trim() || "x"),
    encoded: fc.uint8Array({ maxLength: 300 }).map((octets) => encodeBase64(Buffer.from(octets))),
    contentType: fc.constantFrom("application/pdf", "text/html", "image/png", 'text/plain; charset="utf-8"'),
    disposition: fc.constantFrom("attachment" as const, "inline" as const),
    contentId: fc.constantFrom(null, "logo", "b@c"),
  });
  const content = fc.record({
    subject: text,
    from: fc.record({
      name: text,
      address: fc.constantFrom("jane@example.com", `${"j".repeat(60)}@example.com`),
    }),
    to: fc.record({ name: text, address: fc.constantFrom("joe@example.org", "jörg@example.org") }),
    text: body,
    html: body.map((value) => `<p>${value}</p>`),
    attachments: fc.array(attachment, { maxLength: 3 }),
    headers: fc.constantFrom<HeaderField[]>(
      [],
      [["List-Unsubscribe", `<https://t.example.com/${"x".repeat(100)}>, <mailto:a@b.example>`]],
    ),
  });
  const samples = fc
    .sample(content, { numRuns: 200, seed: 20261121 })
    .map((sample) => ({ ...plain, ...sample }));
  const messages = samples.map(raw);

  test("has the relaxed form of its body if no text had to be encoded", () => {
    const pieces = fc.array(fc.constantFrom(" ", "  ", "\t", "\n", "\r\n", "\r", "a", ".", "\v", "é"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(pieces, pieces, (html, text) => {
        const given = { ...plain, html: html.join(""), text: text.join("") };
        const { body, relaxedBody: relaxed } = composeMessage(given);
        const isEncoded = [...html, ...text].includes("é");
        const expectedForm = isEncoded ? null : relaxedBody(joinOctets(body)).toString("latin1");
        expect(relaxed && joinOctets(relaxed).toString("latin1")).toBe(expectedForm);
      }),
      { numRuns: 2000 },
    );
  });

  test("has lines of at most 998 octets, and no field that begins in untrusted text", () => {
    for (const [index, message] of messages.entries()) {
      const lines = message.toString("latin1").split("\r\n");
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998);
      expect(lines.some((line) => /[\r\n\0]/.test(line))).toBe(false);
      const names = lines
        .slice(0, lines.indexOf(""))
        .flatMap((line) => line.match(/^[^ :][^:]*(?=:)/)?.[0].toLowerCase() ?? []);
      expect(names).toEqual(expected(samples[index] ?? plain).names);
    }
  });

  test("parses to the given content with postal-mime", async () => {
    for (const [index, message] of messages.entries()) {
      const sample = samples[index] ?? plain;
      const judged = await judgedByPostalMime(message);
      // This parser shows inline text attachments in the body, so only the beginnings of the bodies are compared.
      const { text: givenText, html: givenHtml, files, ...rest } = expected(sample);
      expect(judged).toMatchObject(rest);
      expect(judged.text.startsWith(givenText)).toBe(true);
      expect(judged.html.startsWith(givenHtml)).toBe(true);
      expect(files).toEqual(expect.arrayContaining(judged.files));
    }
  });

  test.skipIf(!hasPython)(
    "parses to the given content with Python's email package, without a defect",
    {
      timeout: 300_000,
    },
    () => {
      const judged = judgedByPython(messages);
      for (const [index, sample] of samples.entries()) {
        expect(judged[index]).toEqual({ ...expected(sample), defects: [] });
      }
    },
  );

  function expected({
    from,
    to,
    subject,
    text: plainText,
    html,
    attachments,
    headers,
  }: MessageContent): Judged {
    const [first, last] = [fields.slice(0, 5), fields.slice(5)];
    return {
      names: [...first, ...headers.map(([field]) => field.toLowerCase()), ...last],
      from: [[blankless(from.name), from.address]],
      to: [[blankless(to.name), to.address]],
      subject,
      text: String(plainText ?? ""),
      html: String(html ?? ""),
      files: sorted(
        attachments.map(({ filename, contentType, encoded }) => ({
          name: filename,
          type: contentType.replace(/;.*/, ""),
          content: encoded.toString("latin1").replaceAll("\r\n", ""),
        })),
      ),
    };
  }
});

test("the octets of a file are the same for every recipient and at any size", async () => {
  const content = randomBytes(300_000);
  const attachments = [
    file({ encoded: encodeBase64(content) }),
    file({ filename: "again", encoded: encodeBase64(content) }),
    file({ filename: "empty", encoded: Buffer.alloc(0) }),
  ];
  for (const to of ["a@example.com", "b@example.com"]) {
    const judged = await judgedByPostalMime(raw({ to: { address: to }, attachments }));
    expect(judged.files.map((judgedFile) => judgedFile.content)).toEqual([
      content.toString("base64"),
      content.toString("base64"),
      "",
    ]);
  }
});
