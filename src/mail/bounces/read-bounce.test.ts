import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { readBounce } from "./read-bounce.ts";

interface Blocks {
  readonly message?: string;
  readonly recipients: readonly string[];
  readonly text?: string;
  readonly returned?: string;
  readonly headers?: string;
}

/** A report as in RFC 3464, with the given fields. */
function dsn({ message = "", recipients, text = "", returned = "", headers = "" }: Blocks): string {
  return `From: MAILER-DAEMON@mx.example.net
To: b.token@bounce.sender.example
Subject: Undelivered Mail Returned to Sender
${headers}MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="=_b/1"

--=_b/1
Content-Type: text/plain

${text}

--=_b/1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net
${message}
${recipients.join("\n\n")}

--=_b/1
Content-Type: message/rfc822

${returned}
--=_b/1--
`;
}

function block(address: string, action: string, status: string, diagnostic = ""): string {
  const code = diagnostic === "" ? "" : `\nDiagnostic-Code: smtp; ${diagnostic}`;
  return `Final-Recipient: rfc822; ${address}\nAction: ${action}\nStatus: ${status}${code}`;
}

function read(mail: string) {
  return readBounce(Buffer.from(mail));
}

function only(mail: string) {
  const { recipients = [] } = read(mail) ?? {};
  expect(recipients).toHaveLength(1);
  return recipients[0];
}

describe("delivery status notifications", () => {
  test("comments in their fields are ignored", () => {
    const recipient = `Original-Recipient: rfc822 (RFC 5322) ; (Ann) ann@example.com (Ann (at work))
Final-Recipient: RFC822; <ann@inner.example>(inner)
Action: (at last) failed (no retry)
Status: (not 4.2.2) 5.1.1 (Bad destination mailbox address)
Remote-MTA: dns; mx.example.com (192.0.2.1)
Diagnostic-Code: smtp (quoted) ; 550 No such user (#5.1.1)`;
    const message = "Original-Envelope-Id: env-1 (ours)\n";
    const mail = dsn({ message, recipients: [recipient] }).replace(
      "message/delivery-status",
      "message/delivery-status (RFC 3464)",
    );
    expect(read(mail)).toMatchObject({
      originalEnvelopeId: "env-1",
      recipients: [
        {
          address: "ann@example.com",
          finalRecipient: "ann@inner.example",
          action: "failed",
          status: "5.1.1",
          remoteMta: "mx.example.com",
          verdict: { category: "NoEmail" },
        },
      ],
    });
    expect(only(mail)?.diagnostic).toMatch(/^550 No such user \(#5\.1\.1\)/);
  });

  test.each([
    ['"ann(x)"@example.com', '"ann(x)"@example.com'],
    ["ann@example.com (Ann", "ann@example.com (Ann"],
  ])("parentheses that are no comment are kept: %s", (written, address) => {
    expect(only(dsn({ recipients: [block(written, "failed", "5.1.1")] }))?.address).toBe(address);
  });

  test("every recipient has its address, action, status, text, server and verdict", () => {
    const report = dsn({
      message: "Original-Envelope-Id: env-4711\n",
      recipients: [
        `Original-Recipient: rfc822;Anna@example.com
Final-Recipient: rfc822;anna.inner@store.example.com
Action: failed
Status: 5.1.1 (bad destination)
Remote-MTA: dns; mx.example.com
Diagnostic-Code: smtp; 550 5.1.1 <anna.inner@store.example.com>:
 User unknown`,
        block("berta@example.com", "failed", "5.2.2", "552 5.2.2 mailbox full"),
        block("carla@example.com", "delayed", "4.4.1"),
        block("doris@example.com", "delivered", "2.0.0"),
        block("erika@example.com", "relayed", "2.0.0"),
        block("frida@example.com", "expanded", "2.0.0"),
      ],
    });
    const bounce = read(report);
    expect(bounce).toMatchObject({
      kind: "bounce",
      originalEnvelopeId: "env-4711",
      reportingMta: "mx.example.net",
    });
    expect(bounce?.recipients).toMatchObject([
      {
        address: "Anna@example.com",
        finalRecipient: "anna.inner@store.example.com",
        action: "failed",
        status: "5.1.1",
        code: 550,
        diagnostic: expect.stringContaining("User unknown"),
        remoteMta: "mx.example.com",
        verdict: { bounceClass: "hard", category: "NoEmail", suppress: true },
      },
      {
        address: "berta@example.com",
        verdict: { bounceClass: "soft", category: "MailboxFull", suppress: false },
      },
      { address: "carla@example.com", action: "delayed", verdict: null },
      { address: "doris@example.com", action: "delivered", verdict: null },
      { address: "erika@example.com", action: "relayed", verdict: null },
      { address: "frida@example.com", action: "expanded", verdict: null },
    ]);
  });

  test("the code is taken from a reply, not from any number", () => {
    const said = "connect to mx.example.com[192.0.2.1]:550: refused";
    const report = dsn({ recipients: [block("anna@example.com", "failed", "5.4.4", said)] });
    expect(read(report)?.recipients).toMatchObject([{ code: null, diagnostic: said }]);
  });

  test("a report without any failure is no bounce", () => {
    expect(
      read(dsn({ recipients: [block("anna@example.com", "delayed", "4.2.2", "450 User unknown")] }))?.kind,
    ).toBe("notice");
  });

  test.each([
    ["a temporary status with a permanent reply", "4.4.7", "550 5.1.1 User unknown"],
    ["a temporary reply with a permanent status", "5.1.1", "450 4.1.1 User unknown"],
    ["an expired mail", "4.4.7", ""],
    ["an expired mail whose server was busy", "5.4.7", "421 4.3.2 No such user, try again"],
    ["a full mailbox with an address code", "5.1.1", "552 5.2.2 mailbox full"],
    ["a block with an address code", "5.1.1", "550 5.7.1 blocked using zen.spamhaus.org"],
  ])("%s is not hard", (_, status, diagnostic) => {
    const recipient = only(dsn({ recipients: [block("anna@example.com", "failed", status, diagnostic)] }));
    expect(recipient?.verdict?.bounceClass).not.toBe("hard");
    expect(recipient?.verdict?.suppress).toBe(false);
  });

  test("values missing in the delivery-status part are taken from the text", () => {
    const text = "<anna@example.com>: 550 No such user here";
    expect(
      only(dsn({ text, recipients: [block("anna@example.com", "failed", "5.0.0")] }))?.verdict,
    ).toMatchObject({
      category: "NoEmail",
    });
  });

  test("general explanations in a bounce do not decide about the recipient", () => {
    const text = "Common errors: unknown user, the address does not exist.\n\n<anna@example.com>: failed";
    const recipients = [block("anna@example.com", "failed", "5.0.0", "554 transaction failed")];
    expect(only(dsn({ text, recipients }))?.verdict?.suppress).toBe(false);
  });

  test("text about one recipient is not used for another", () => {
    const text = "<anna@example.com>: 550 No such user here\n\n<berta@example.com>: 554 transaction failed";
    const report = dsn({
      text,
      recipients: [
        block("anna@example.com", "failed", "5.0.0"),
        block("berta@example.com", "failed", "5.0.0"),
      ],
    });
    expect(read(report)?.recipients.map(({ verdict }) => verdict?.suppress)).toEqual([true, false]);
  });

  test.each([
    ["no action and a temporary status", "Final-Recipient: rfc822; a@example.com\nStatus: 4.4.1", "delayed"],
    ["no action and a permanent status", "Final-Recipient: rfc822; a@example.com\nStatus: 5.1.1", "failed"],
    ["another word for it", "Final-Recipient: rfc822; a@example.com\nAction: failure", "failed"],
    ["a comment after it", "Final-Recipient: <a@example.com>\nAction: Delayed (still trying)", "delayed"],
  ])("%s", (_, fields, action) => {
    expect(only(dsn({ recipients: [fields] }))).toMatchObject({ address: "a@example.com", action });
  });

  test("internationalized addresses are read (RFC 6533)", () => {
    const utf8 = dsn({ recipients: ["Final-Recipient: utf-8; \\x{4F8B}@example.com\nAction: failed"] });
    const plain = dsn({ recipients: ["Final-Recipient: utf-8; 例@example.com\nAction: failed"] });
    expect(only(utf8)?.address).toBe("例@example.com");
    expect(only(plain.replaceAll("message/delivery-status", "message/global-delivery-status"))?.address).toBe(
      "例@example.com",
    );
  });

  test("recipients without an empty line between them are separated", () => {
    const fields = `${block("anna@example.com", "failed", "5.1.1")}\n${block("berta@example.com", "delayed", "4.4.1")}`;
    expect(read(dsn({ recipients: [fields] }))?.recipients).toMatchObject([
      { address: "anna@example.com", action: "failed" },
      { address: "berta@example.com", action: "delayed" },
    ]);
  });

  test("of more than a thousand recipients, a thousand are read", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => block(`r${at}@example.com`, "failed", "5.1.1"));
    expect(read(dsn({ recipients: many }))?.recipients).toHaveLength(1_000);
  });

  test("a report inside a mail that a gateway forwards is found", () => {
    const inner = dsn({ recipients: [block("anna@example.com", "failed", "5.1.1")] });
    const outer = `From: gateway@example.net\nSubject: Fwd\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: message/rfc822\n\n${inner}\n--o--\n`;
    expect(only(outer)?.address).toBe("anna@example.com");
  });
});

describe("how our message is recognized", () => {
  const header = `Return-Path: <b.token@bounce.sender.example>
X-Posthaste-Message: b.token
Feedback-ID: a:b:c:d
Message-ID: <4711@sender.example>
To: Anna <anna@example.com>
Subject: Hello`;
  const expected = {
    messageId: "4711@sender.example",
    token: "b.token",
    returnPath: "b.token@bounce.sender.example",
    feedbackId: "a:b:c:d",
    subject: "Hello",
  };
  const recipients = [block("anna@example.com", "failed", "5.1.1")];

  test.each([
    ["the whole mail", dsn({ recipients, returned: `${header}\n\nHello\n` })],
    [
      "its header",
      dsn({ recipients, returned: `${header}\n` }).replace("message/rfc822", "text/rfc822-headers"),
    ],
    [
      "its header (RFC 6533)",
      dsn({ recipients, returned: header }).replace("message/rfc822", "message/global-headers"),
    ],
    [
      "its text",
      `From: MAILER-DAEMON@example.net\nSubject: failure notice\n\n<anna@example.com>:\nno such user\n\n--- Below this line is a copy of the message.\n\n${header}\n\nHello\n`,
    ],
  ])("by %s", (_, mail) => {
    expect(read(mail)?.returned).toMatchObject(expected);
  });
});

describe("a delay is reported as a delay", () => {
  test.each([
    [
      "Exim",
      "Warning: message 14jRTi-0007jE-00 delayed 24 hours",
      "A message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue on mx.example.net.\n\nThe address to which the message has not yet been delivered is:\n\n  anna@example.com\n\nNo action is required on your part. Delivery attempts will continue for\nsome time. Eventually the mail delivery software will give up.\n",
    ],
    [
      "Sendmail",
      "Warning: could not send message for past 4 hours",
      "    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\n   ----- The following addresses had transient non-fatal errors -----\n<anna@example.com>\n\n   ----- Transcript of session follows -----\n550 5.1.1 <anna@example.com>... User unknown\nWarning: message still undelivered after 4 hours\nWill keep trying until message is 5 days old\n",
    ],
    [
      "Gmail",
      "Delivery Status Notification (Delay)",
      "Delivery to the following recipient has been delayed:\n\n     anna@example.com\n\nMessage will be retried for 2 more day(s)\n",
    ],
    [
      "a full mailbox",
      "Mail Delivery Warning",
      'Delivery of email to this address\n\n"anna@example.com"\n\nhas been postponed due to a full mailbox.\n',
    ],
  ])("%s", (_, subject, body) => {
    const mail = `From: Mail Delivery System <MAILER-DAEMON@example.net>\nSubject: ${subject}\n\n${body}`;
    expect(read(mail)).toMatchObject({
      kind: "notice",
      recipients: [{ address: "anna@example.com", action: "delayed", verdict: null }],
    });
  });

  test("but not if the system has given up", () => {
    const body =
      "<anna@example.com>:\nConnection timed out. The message was delayed for 5 days.\nI'm not going to try again; this message has been in the queue too long.\n";
    const mail = `From: MAILER-DAEMON@example.net\nSubject: failure notice\n\n${body}`;
    expect(only(mail)).toMatchObject({ action: "failed", verdict: { bounceClass: "soft", suppress: false } });
  });
});

describe("what is not a bounce", () => {
  const absence =
    "I am out of the office and cannot be reached. Your message was not delivered to anna@example.com.\n";

  test.each([
    ["an out-of-office reply", "Auto-Submitted: auto-replied\nSubject: Re: Hello"],
    ["one recognized only by its subject", "Subject: Automatic reply: Delivery failed?"],
    ["one in German", "Subject: =?utf-8?Q?Abwesenheitsnotiz=3A_Gr=C3=BC=C3=9Fe?="],
    ["one of an old system", "X-Autoreply: yes\nSubject: Undeliverable: I am away"],
    ["a challenge", "Subject: Please confirm that you sent this message"],
    [
      "a mailing list's reply",
      "Precedence: bulk\nList-Id: <l.example.com>\nSubject: Your message to l awaits moderator approval",
    ],
  ])("%s is an automatic reply", (_, headers) => {
    expect(read(`From: Anna <anna@example.com>\n${headers}\n\n${absence}`)).toMatchObject({
      kind: "auto_reply",
      recipients: [],
    });
  });

  test.each([
    [
      "a person's reply",
      "From: Anna <anna@example.com>\nSubject: Re: Hello\n\nThanks, the delivery was not possible.\n",
    ],
    [
      "a postmaster's personal mail",
      "From: postmaster@example.com\nSubject: Meeting\n\nLet us meet, bob@example.com too.\n",
    ],
    ["nothing", ""],
    ["a header alone", "Subject: Hello"],
  ])("%s is ignored", (_, mail) => {
    expect(read(mail)).toBeNull();
  });
});

describe("a report with more parts than the limit", () => {
  const text = "Content-Type: text/plain\n\nAn attachment was removed.";
  const status =
    "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; ann@example.com\nAction: failed\nStatus: 5.1.1";
  const ours = "Content-Type: message/rfc822\n\nX-Posthaste-Message: b.token\nSubject: Hello\n\nHello";
  const divided = (boundary: string, parts: readonly string[]) =>
    `${parts.map((part) => `--${boundary}\n${part}\n`).join("")}--${boundary}--\n`;
  const head =
    "From: MAILER-DAEMON@mx.example.net\nSubject: Undelivered\nContent-Type: multipart/report; boundary=b\n\n";

  test.each([
    ["after five hundred texts", [...Array<string>(500).fill(text), status, ours]],
    [
      "after a multipart of five hundred texts",
      [
        `Content-Type: multipart/mixed; boundary=c\n\n${divided("c", Array<string>(500).fill(text))}`,
        status,
        ours,
      ],
    ],
    ["before five hundred texts", [status, ours, ...Array<string>(500).fill(text)]],
  ])("is read by its status part and our message %s", (_, parts) => {
    expect(read(head + divided("b", parts))).toMatchObject({
      kind: "bounce",
      recipients: [{ address: "ann@example.com", status: "5.1.1" }],
      returned: { token: "b.token" },
    });
  });

  test("is read by the text of its first part", () => {
    const words = "Content-Type: text/plain\n\nCould not be delivered:\n\nann@example.com\n550 User unknown";
    expect(only(head + divided("b", [words, ...Array<string>(500).fill(ours)]))).toMatchObject({
      address: "ann@example.com",
      verdict: { category: "NoEmail" },
    });
  });
});

describe("malformed and hostile mails", () => {
  const good = dsn({
    recipients: [block("anna@example.com", "failed", "5.1.1", "550 5.1.1 User unknown")],
    returned: "Message-ID: <1@sender.example>\n\nHello\n",
  });

  test.each([
    ["CRLF", good.replace(/\n/g, "\r\n")],
    ["CR only", good.replace(/\n/g, "\r")],
    ["no boundary declared", good.replace(/;\n\tboundary="[^"]*"/, "")],
    ["another boundary declared", good.replace('boundary="=_b/1"', 'boundary="other"')],
    ["not closed", good.replace("--=_b/1--", "")],
    ["an unknown charset", good.replace("text/plain", "text/plain; charset=klingon-8")],
    ["an mbox line before it", `From MAILER-DAEMON Mon Jan  1 00:00:00 2024\n${good}`],
    ["2 MB behind it", `${good}${"x".repeat(2 * 1024 * 1024)}`],
  ])("are still read: %s", (_, mail) => {
    expect(only(mail)).toMatchObject({ address: "anna@example.com", verdict: { bounceClass: "hard" } });
  });

  test("no mail throws or takes a second: random octets", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4_000 }), (octets) => {
        expect(() => readBounce(octets)).not.toThrow();
      }),
    );
  });

  test("no mail throws: a valid one cut and changed anywhere", () => {
    fc.assert(
      fc.property(fc.nat(good.length), fc.nat(good.length), fc.string({ maxLength: 5 }), (cut, at, junk) => {
        const broken = `${good.slice(0, at)}${junk}${good.slice(at + 1)}`.slice(0, cut);
        expect(() => read(broken)).not.toThrow();
      }),
    );
  });

  const nested = (depth: number) =>
    Array.from(
      { length: depth },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
    ).join("");
  test.each([
    ["nested multiparts", nested(10_000)],
    ["nested mails", "Content-Type: message/rfc822\n\n".repeat(30_000)],
    [
      "a hundred thousand parts",
      `Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nx\n".repeat(130_000)}`,
    ],
    ["a hundred thousand fields", "X-A: b\n".repeat(140_000)],
    ["one endless field", `Subject: ${"a ".repeat(500_000)}`],
    ["one endless folded field", `Subject: a${"\n a".repeat(300_000)}`],
    ["endless encoded words", `From: MAILER-DAEMON@a.b\nSubject: ${"=?utf-8?Q?=41?= ".repeat(60_000)}\n\nx`],
    [
      "endless blanks",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\nnot delivered ${" ".repeat(1_000_000)}x`,
    ],
    [
      "blanks in lines",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${`${" ".repeat(900)}\n`.repeat(1_100)}`,
    ],
    ["many at signs", `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${"a@".repeat(500_000)}`],
    [
      "many addresses",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${"<a@example.com>, ".repeat(60_000)}`,
    ],
    [
      "many addresses in lines",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${Array.from({ length: 40_000 }, (_, at) => `<r${at}@example.com>: no\n`).join("")}`,
    ],
    [
      "endless words",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${"will not be delivered to ".repeat(40_000)}`,
    ],
    [
      "dashes in lines",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${`${"-".repeat(990)}\n`.repeat(1_000)}`,
    ],
    [
      "phrases in lines",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\n\n${`${"user address is not ".repeat(48)}a@b.cc\n`.repeat(1_000)}`,
    ],
    [
      "endless HTML",
      `From: MAILER-DAEMON@a.b\nSubject: failure notice\nContent-Type: text/html\n\n${"<div><a href=x".repeat(70_000)}`,
    ],
    ["endless parameters", `Content-Type: text/plain${';a="'.repeat(250_000)}\n\nx`],
    [
      "endless quoted-printable",
      `From: MAILER-DAEMON@a.b\nContent-Transfer-Encoding: quoted-printable\n\n${" ".repeat(500_000)}=\n${"=4".repeat(200_000)}`,
    ],
    ["endless empty lines in a report", dsn({ recipients: [`${"\n \n".repeat(200_000)}`] })],
  ])("%s do not take quadratic time, which would be minutes", (_, mail) => {
    const start = process.threadCpuUsage();
    expect(() => read(mail)).not.toThrow();
    expect(process.threadCpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });

  test.each(["a", "-", ">", "a@", "<"])(
    "senders that are long words of %j are read in linear time",
    (piece) => {
      const names = ["From", "To", "Reply-To", "Sender", "Errors-To", "X-Failed-Recipients"];
      const mailOf = (size: number) => {
        const word = piece.repeat(size / piece.length);
        return `${names.map((name) => `${name}: ${word}\n`).join("")}Subject: failure notice\n\nnot delivered`;
      };
      expectLinearCost(10_000, mailOf, (mail) => expect(() => read(mail)).not.toThrow());
    },
  );
});

const corpora = process.env.POSTHASTE_CORPORA ?? resolve(import.meta.dirname, "../../../../shared/corpora");

describe.skipIf(!existsSync(resolve(corpora, "bounces")))("the corpus of bounces", () => {
  const folder = resolve(corpora, "bounces");
  const rows = existsSync(folder)
    ? readFileSync(resolve(folder, "expected.tsv"), "utf8").trim().split("\n").slice(1)
    : [];
  const results = rows.map((row) => {
    const [file = "", status = "", expected = ""] = row.split("\t");
    const { recipients = [] } = readBounce(readFileSync(resolve(folder, file))) ?? {};
    const found = new Set(recipients.map(({ address }) => address?.toLowerCase()));
    return { file, status, recipients, found, expected: new Set(expected.toLowerCase().split(",")) };
  });

  test("the recipients are exact in at least 98 %", () => {
    const labelled = results.filter(({ status }) => status !== "unlabelled");
    const missed = labelled.filter(({ found, expected }) => found.symmetricDifference(expected).size > 0);
    expect(1 - missed.length / labelled.length, missed.map(({ file }) => file).join()).toBeGreaterThanOrEqual(
      0.98,
    );
  });

  test("every permanent failure is a bounce", () => {
    const permanent = results.filter(({ status }) => status === "permanent");
    const missed = permanent.filter(
      ({ recipients }) => !recipients.some(({ action }) => action === "failed"),
    );
    expect(missed.map(({ file }) => file)).toEqual([]);
  });

  test("no block and no fault of ours suppresses an address", () => {
    const verdicts = results.flatMap(({ recipients }) => recipients.map(({ verdict }) => verdict));
    expect(
      verdicts.filter((verdict) => verdict?.suppress === true && verdict.bounceClass !== "hard"),
    ).toEqual([]);
  });

  test("no automatic reply of the corpus is a bounce, unless it quotes a refusal", () => {
    const answered = rows.flatMap((row) => {
      const [file = ""] = row.split("\t");
      const mail = readFileSync(resolve(folder, file), "latin1").replace(/^From [^\n]*\n/, "");
      const header =
        "From: Anna <anna@mail-delivery.example>\nSubject: Automatic reply\nAuto-Submitted: auto-replied\n";
      const others = /^(?:From|Subject|X-Failed-Recipients):.*\n(?:[ \t].*\n)*/gim;
      const end = mail.search(/\r?\n\r?\n/);
      const marked = `${header}${mail.slice(0, end + 1).replace(others, "")}${mail.slice(end + 1)}`;
      const bounce = readBounce(Buffer.from(marked, "latin1"));
      const quotesRefusal = bounce?.recipients.some(({ status, code }) => status !== null || code !== null);
      const isReport = /report-type=["']?delivery-status/i.test(mail);
      return bounce?.kind === "bounce" && !isReport && quotesRefusal !== true ? [file] : [];
    });
    expect(answered).toEqual([]);
  });

  test("no temporary failure is called hard or final", () => {
    const temporary = results
      .filter(({ status }) => status === "temporary")
      .flatMap(({ recipients }) => recipients);
    expect(temporary.length).toBeGreaterThan(0);
    expect(temporary.filter(({ action, verdict }) => action === "failed" || verdict !== null)).toEqual([]);
  });
});

describe.skipIf(!existsSync(resolve(corpora, "dsn-arf")))("the corpus of status notifications", () => {
  interface Labelled {
    readonly file: string;
    readonly recipients?: readonly (readonly [
      address: string,
      action: string,
      status: string,
      label: string,
    ])[];
  }
  const list = resolve(corpora, "dsn-arf/expected.json");
  const labelled: readonly Labelled[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];

  test.each(labelled.filter(({ recipients }) => recipients !== undefined))(
    "$file",
    ({ file, recipients = [] }) => {
      const bounce = readBounce(readFileSync(resolve(corpora, "dsn-arf", file)));
      expect(bounce?.recipients.map(({ address, action, status }) => [address, action, status])).toEqual(
        recipients.map(([address, action, status]) => [address, action, status]),
      );
      bounce?.recipients.forEach(({ verdict }, at) => {
        const label = recipients[at]?.[3];
        if (label === "hard" || label === "soft") expect(verdict?.bounceClass).toBe(label);
        if (label === "delay_notice") expect(verdict).toBeNull();
      });
    },
  );
});
