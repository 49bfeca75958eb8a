import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import { expect, test } from "vitest";
import { readAttachment, readReceivedMail } from "./read-received-mail.ts";

const text = fc
  .string({ unit: "grapheme", maxLength: 60 })
  .filter((value) => !/[\p{C}\u2028\u2029]/u.test(value));
const word = text.map((value) => value.replace(/\s+/g, " ").trim()).filter((value) => value !== "");

test("what another program composes is read as it was meant: names, subject, texts, files", async () => {
  const mail = fc.record({
    name: word,
    subject: word,
    text: word,
    html: fc.option(word, { nil: undefined }),
    file: fc.uint8Array({ maxLength: 300 }),
    filename: fc.string({
      unit: fc.constantFrom("a", "é", "ß", "日", "-", "_", "."),
      minLength: 1,
      maxLength: 60,
    }),
  });
  await fc.assert(
    fc.asyncProperty(mail, async ({ name, subject, text: body, html, file, filename }) => {
      const raw = await new MailComposer({
        from: { name, address: "ada@example.net" },
        to: "support@shop.test",
        subject,
        text: body,
        ...(html !== undefined && {
          html: `<p>${html.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</p>`,
        }),
        attachments: [{ filename: `x${filename}.bin`, content: Buffer.from(file) }],
      })
        .compile()
        .build();
      const read = await readReceivedMail(raw, "ada@example.net");
      expect(read.from).toEqual({ email: "ada@example.net", name });
      expect(read.subject).toBe(subject);
      expect(read.text?.trimEnd()).toBe(body.trimEnd());
      expect(read.html === null).toBe(html === undefined);
      expect(read.attachments).toMatchObject([{ filename: `x${filename}.bin`, size: file.length }]);
      expect(Buffer.from((await readAttachment(raw, 0)) ?? [])).toEqual(Buffer.from(file));
    }),
    { numRuns: 60 },
  );
});

/** What the database takes: no NUL, no half of a surrogate pair. */
function expectStorable(value: unknown): void {
  const json = JSON.stringify(value);
  expect(json).not.toMatch(/\\u0000|\\ud[89a-f]/i);
  expect(json.isWellFormed()).toBe(true);
}

test("no input throws: random octets, and a mail that is cut and changed anywhere", async () => {
  const whole = Buffer.from(
    'From: =?utf-8?q?=F0=9F=98=80?= <a@b.test>\r\nTo: g: x@y.test;\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-16\r\n\r\n<p>\ud83d\ude00</p>\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ny\r\n--b--\r\n',
  );
  const changed = fc
    .tuple(fc.nat(whole.length - 1), fc.uint8Array({ maxLength: 20 }), fc.nat(30))
    .map(([at, octets, left]) => Buffer.concat([whole.subarray(0, at), octets, whole.subarray(at + left)]));
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.uint8Array({ maxLength: 2_000 })), async (raw) => {
      expectStorable(await readReceivedMail(raw, ""));
    }),
    { numRuns: 300 },
  );
});

const corpora = process.env.POSTHASTE_CORPORA ?? resolve(import.meta.dirname, "../../../../shared/corpora");
test.skipIf(!existsSync(corpora))(
  "every bounce of the corpora is read, and marked as mail of a program",
  async () => {
    const folder = join(corpora, "bounces/files");
    for (const name of readdirSync(folder)) {
      const read = await readReceivedMail(readFileSync(join(folder, name)), "");
      expectStorable(read);
      expect(read.automatic, name).not.toBeNull();
    }
  },
);
