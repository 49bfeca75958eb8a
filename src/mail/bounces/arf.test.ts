import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readComplaint } from "./arf.ts";

const RETURNED = `Return-Path: <b.token@bounce.sender.example>
X-Posthaste-Message: b.token
Feedback-ID: a:b:c:d
CFBL-Feedback-ID: 111:222
Message-ID: <4711@sender.example>
To: anna@example.com

Hello`;

function arf(fields: string, returned = RETURNED): string {
  return `From: <feedback@provider.example>
Subject: FW: Hello
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: text/plain

This is an email abuse report.
--b
Content-Type: message/feedback-report

${fields}
--b
Content-Type: message/rfc822

${returned}
--b--
`;
}

function read(mail: string) {
  return readComplaint(Buffer.from(mail));
}

test.each([
  "abuse (spam)",
  "(reported by a person) abuse",
  "abuse (a (nested) comment)",
  "abuse(spam)",
  "Abuse\t(with a \\) in it)",
  "abuse\n (folded)",
])("a comment in Feedback-Type does not change it: %j", (type) => {
  expect(read(arf(`Feedback-Type: ${type}\nVersion: 1`))).toMatchObject({
    feedbackType: "abuse",
    counts: true,
  });
});

test("a comment that never closes is part of the value", () => {
  expect(read(arf("Feedback-Type: abuse (spam\nVersion: 1"))).toMatchObject({ counts: false });
});

test("comments in fields and media types are ignored", () => {
  const fields = `Feedback-Type: fraud (phishing)
Version: (first) 1 (one)
Original-Envelope-Id: env-1 (ours)
Original-Mail-From: <b.token@bounce.sender.example> (VERP)
Original-Rcpt-To: (Anna) anna@example.com (a, b), berta@example.com(Berta)
Reporting-MTA: dns (DNS name) ; mx.provider.example (192.0.2.7)
Source-IP: 192.0.2.1 (mail.sender.example)
Incidents: (about) 3
Reported-Domain: sender.example (ours)
CFBL-Feedback-ID: 111:222 (signed)`;
  const mail = arf(fields).replace(
    "message/feedback-report",
    "message/feedback-report (RFC 5965)\nContent-Transfer-Encoding: 7bit (as it is)",
  );
  expect(read(mail)).toMatchObject({
    feedbackType: "fraud",
    version: "1",
    originalEnvelopeId: "env-1",
    originalMailFrom: "b.token@bounce.sender.example",
    originalRcptTo: ["anna@example.com", "berta@example.com"],
    reportingMta: "mx.provider.example",
    sourceIp: "192.0.2.1",
    incidents: 3,
    reportedDomains: ["sender.example"],
    cfblFeedbackId: "111:222",
  });
});

test("every field of RFC 5965 is read, and the fields that identify our message", () => {
  const fields = `Feedback-Type: abuse
User-Agent: SomeGenerator/1.0
Version: 1
Original-Envelope-Id: env-1
Original-Mail-From: <b.token@bounce.sender.example>
Original-Rcpt-To: <anna@example.com>
Original-Rcpt-To: berta@example.com, anna@example.com
Arrival-Date: Thu, 8 Mar 2005 14:00:00 EDT
Reporting-MTA: dns; mx.provider.example
Source-IP: 192.0.2.1
Incidents: 3
Authentication-Results: mx.provider.example;
 spf=pass smtp.mail=b.token@bounce.sender.example
Reported-Domain: sender.example
Reported-URI: http://sender.example/a
Reported-URI: mailto:a@sender.example
X-Other: kept`;
  expect(read(arf(fields))).toMatchObject({
    from: expect.stringContaining("@"),
    feedbackType: "abuse",
    counts: true,
    userAgent: "SomeGenerator/1.0",
    version: "1",
    originalEnvelopeId: "env-1",
    originalMailFrom: "b.token@bounce.sender.example",
    originalRcptTo: ["anna@example.com", "berta@example.com"],
    arrivalDate: "Thu, 8 Mar 2005 14:00:00 EDT",
    reportingMta: "mx.provider.example",
    sourceIp: "192.0.2.1",
    incidents: 3,
    authenticationResults: ["mx.provider.example; spf=pass smtp.mail=b.token@bounce.sender.example"],
    reportedDomains: ["sender.example"],
    reportedUris: ["http://sender.example/a", "mailto:a@sender.example"],
    cfblFeedbackId: "111:222",
    returned: {
      messageId: "4711@sender.example",
      token: "b.token",
      returnPath: "b.token@bounce.sender.example",
      feedbackId: "a:b:c:d",
      to: "anna@example.com",
    },
    fields: expect.arrayContaining([["X-Other", "kept"]]),
  });
});

test.each([
  ["abuse", true],
  ["Fraud", true],
  ["virus", true],
  ["other", true],
  ["not-spam", false],
  ["auth-failure", false],
  ["dmarc", false],
])("feedback of type %s counts: %s", (type, counts) => {
  expect(read(arf(`Feedback-Type: ${type}\nVersion: 1`))).toMatchObject({
    feedbackType: type.toLowerCase(),
    counts,
  });
});

test.each([
  "redacted@example.com",
  "<redacted>",
  "xxxxx@example.com",
  "undisclosed-recipients",
  "[redacted]",
])(
  "the hidden recipient %s is not an address, and the returned header still names the message",
  (recipient) => {
    expect(read(arf(`Feedback-Type: abuse\nOriginal-Rcpt-To: ${recipient}`))).toMatchObject({
      originalRcptTo: [],
      returned: { token: "b.token" },
    });
  },
);

test("the null sender is distinguished from a missing sender", () => {
  expect(read(arf("Feedback-Type: abuse\nOriginal-Mail-From: <>"))?.originalMailFrom).toBe("");
  expect(read(arf("Feedback-Type: abuse"))?.originalMailFrom).toBeNull();
});

test("a returned header without its message is enough", () => {
  const mail = arf("Feedback-Type: abuse").replace("message/rfc822", "text/rfc822-headers");
  expect(read(mail)?.returned?.token).toBe("b.token");
});

test.each([
  [
    "JMRP: the mail forwarded",
    `Content-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: anna@example.com\n${RETURNED}`,
  ],
  [
    "JMRP: the mail attached",
    `Subject: complaint about message from 192.0.2.1\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: anna@example.com\n${RETURNED}\n--b--`,
  ],
])("%s is a complaint", (_, mail) => {
  expect(read(mail)).toMatchObject({
    feedbackType: "abuse",
    counts: true,
    originalRcptTo: ["anna@example.com"],
    returned: { token: "b.token" },
  });
});

test.each([
  "",
  "Subject: I complain\n\nabout you",
  "Content-Type: multipart/report; report-type=feedback-report\n\nx",
])("a mail that is not a report is no complaint: %j", (mail) => {
  expect(read(mail)).toBeNull();
});

test.each(["text/plain; charset=utf-8", "application/octet-stream; name=report.txt", "text/rfc822-headers"])(
  "a report that is sent as %s is recognized by its fields",
  (type) => {
    const fields = "\ufeffUser-Agent: Provider/1.0\n\nFeedback-Type: Fraud\nVersion: 1";
    const mail = arf(fields).replace("Content-Type: message/feedback-report", `Content-Type: ${type}`);
    expect(mail).toContain(`Content-Type: ${type}`);
    expect(readComplaint(Buffer.from(mail))).toMatchObject({
      feedbackType: "fraud",
      counts: true,
      version: "1",
    });
  },
);

test("a mail about feedback is not a report", () => {
  const mail = "Subject: Hello\n\nDear friends,\nwhat is a Feedback-Type: abuse?\n";
  expect(readComplaint(Buffer.from(mail))).toBeNull();
});

test("no input throws: a valid report cut and changed anywhere, and random octets", () => {
  const good = arf("Feedback-Type: abuse\nIncidents: 3\nSource-IP: 192.0.2.1");
  fc.assert(
    fc.property(fc.nat(good.length), fc.string({ maxLength: 5 }), fc.nat(good.length), (at, junk, cut) => {
      expect(() => read((good.slice(0, at) + junk + good.slice(at + 1)).slice(0, cut))).not.toThrow();
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array(), (octets) => {
      expect(() => readComplaint(octets)).not.toThrow();
    }),
  );
});

const folder = resolve(
  process.env.POSTHASTE_CORPORA ?? resolve(import.meta.dirname, "../../../../shared/corpora"),
  "dsn-arf",
);

describe.skipIf(!existsSync(folder))("the corpus of complaints", () => {
  interface Labelled {
    readonly file: string;
    readonly feedback_type?: string;
    readonly rcpt?: string | null;
    readonly source_ip?: string;
  }
  const list = resolve(folder, "expected.json");
  const labelled: readonly Labelled[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];

  test.each(labelled.filter(({ feedback_type }) => feedback_type !== undefined))("$file", (expected) => {
    const complaint = readComplaint(readFileSync(resolve(folder, expected.file)));
    expect(complaint?.feedbackType).toBe(expected.feedback_type);
    expect(complaint?.originalRcptTo[0] ?? null).toBe(expected.rcpt);
    expect(complaint?.sourceIp ?? undefined).toBe(expected.source_ip);
  });
});
