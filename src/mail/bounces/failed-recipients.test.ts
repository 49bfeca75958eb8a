import { describe, expect, test } from "vitest";
import { readComplaint } from "./arf.ts";
import { readBounce } from "./read-bounce.ts";

const DAEMON =
  "From: Mailer-Daemon@mx.carrier.example\nTo: b.token@bounce.sender.example\nSubject: Mail delivery failed";

function read(body: string, header = "") {
  return readBounce(Buffer.from(`${DAEMON}\n${header}\n${body}`.replace(/\n/g, "\r\n")));
}

const failedIn = (body: string, header = "") => read(body, header)?.recipients.map(({ address }) => address);

describe("X-Failed-Recipients takes precedence over the text", () => {
  test.each([
    ["a bare name", "Your mail to the following recipients could not be delivered:\n\n\tann\n"],
    ["nobody", "Your message could not be delivered.\n"],
    ["the sender", "A message sent by <news@ours.example> could not be delivered.\n"],
    [
      "the sender at the beginning of a line",
      "news@ours.example sent a message that could not be delivered.\n",
    ],
    ["another address", "Could not be delivered:\n\nhelp@elsewhere.example\n\nuser unknown\n"],
  ])("if the text names %s", (_, body) => {
    expect(failedIn(body, "X-Failed-Recipients: ann@corp.example\n")).toEqual(["ann@corp.example"]);
  });

  test("the text about that address explains it", () => {
    const body =
      "The following addresses failed:\n\n  ann@corp.example\n    550 5.1.1 user unknown\n\n  deep@forward.example\n    (generated from bob@corp.example)\n    mailbox is full\n";
    expect(
      read(body, "X-Failed-Recipients: ann@corp.example, deep@forward.example\n")?.recipients,
    ).toMatchObject([
      { address: "ann@corp.example", verdict: { category: "NoEmail" } },
      {
        address: "bob@corp.example",
        finalRecipient: "deep@forward.example",
        verdict: { category: "MailboxFull" },
      },
    ]);
  });

  test("all X-Failed-Recipients fields count", () => {
    const header = "X-Failed-Recipients: ann@corp.example\nX-Failed-Recipients: bob@corp.example\n";
    expect(failedIn("Not delivered.\n", header)).toEqual(["ann@corp.example", "bob@corp.example"]);
  });

  test("unless the field contains no address", () => {
    expect(failedIn("Not delivered:\n\nann@corp.example\n", "X-Failed-Recipients: ann\n")).toEqual([
      "ann@corp.example",
    ]);
  });

  test("the field may be in raw UTF-8 (RFC 6532)", () => {
    expect(failedIn("Not delivered.\n", "X-Failed-Recipients: jürgen@corp.example\n")).toEqual([
      "jürgen@corp.example",
    ]);
  });
});

describe("the sender of the returned message is never the failed recipient", () => {
  const returned = (text: string, to = "ann@corp.example") =>
    failedIn(
      `--b\n\n${text}\n--b\nContent-Type: message/rfc822\n\nReturn-Path: <b.other@bounce.ours.example>\nFrom: News <news@ours.example>\nReply-To: <hello@ours.example>\nTo: ${to}\n\nHello\n--b--\n`,
      "Content-Type: multipart/mixed; boundary=b\n",
    );

  test.each([
    "A message sent by <news@ours.example> could not be delivered.",
    "news@ours.example\n\ncould not be delivered.",
    "Mail from News <news@ours.example> failed:\n\nhello@ours.example: could not be delivered",
    "Your message could not be delivered.\nSender:\nb.other@bounce.ours.example",
  ])("%s", (text) => {
    expect(returned(text)).toEqual(["ann@corp.example"]);
  });

  test("unless the message was sent to the sender", () => {
    expect(returned("Could not be delivered:\n\nnews@ours.example", "news@ours.example")).toEqual([
      "news@ours.example",
    ]);
  });

  test("a bare user name stands for the address that was written to", () => {
    expect(returned("Your mail to the following recipients could not be delivered:\n\n\tann\n")).toEqual([
      "ann@corp.example",
    ]);
  });
});

describe("a reason that names another address belongs to the only recipient, who forwards to it", () => {
  const sorry = "Sorry, unable to deliver your message to ann@corp.example for";
  test.each([
    [`${sorry}\nthe following reason:\n\n 552 Quota violation for dump@other.example\n`, "MailboxFull"],
    [`${sorry} the following reason:\n\n Quota violation for dump@other.example\n`, "MailboxFull"],
    [`${sorry}\nthe following reason:\n\n 550 User unknown: dump@other.example\n`, "NoEmail"],
    [`${sorry}\nthe following reason:\n\n dump@other.example: 552 Quota violation\n`, "MailboxFull"],
    [
      "Your message to ann@corp.example could not be delivered: 552 Quota violation for dump@other.example\n",
      "MailboxFull",
    ],
    [
      "Delivery to ann@corp.example failed.\n\nReason: 552 Mailbox of dump@other.example is full\n",
      "MailboxFull",
    ],
    [
      "Delivery to ann@corp.example failed.\n\nThe remote server said:\n550 5.1.1 <dump@other.example> User unknown\n",
      "NoEmail",
    ],
    [
      "Ihre Nachricht an ann@corp.example konnte nicht zugestellt werden. Grund:\n\n550 User unknown: dump@other.example\n",
      "NoEmail",
    ],
    [
      "Votre message à ann@corp.example n'a pas pu être remis pour la raison suivante :\n\n552 Quota violation for dump@other.example\n",
      "MailboxFull",
    ],
  ])("%j", (body, category) => {
    const [recipient, ...others] = read(body)?.recipients ?? [];
    expect(others).toEqual([]);
    expect(recipient).toMatchObject({
      address: "ann@corp.example",
      finalRecipient: "dump@other.example",
      verdict: { category },
    });
    expect(recipient?.diagnostic).toMatch(/quota|full|unknown/i);
  });

  test("but a reason announced before the recipients names the recipients", () => {
    const body =
      "Your message could not be delivered for the following reason:\n\nuser unknown: ann@one.example\nuser unknown: bob@two.example\n";
    expect(failedIn(body)).toEqual(["ann@one.example", "bob@two.example"]);
  });

  test("and with two recipients neither is a forward of the other", () => {
    const body =
      "Delivery to ann@one.example failed.\nDelivery to bob@two.example failed.\nReason: 552 Quota violation for bob@two.example\n";
    expect(failedIn(body)).toEqual(["ann@one.example", "bob@two.example"]);
  });
});

describe("every line that begins with a recipient counts", () => {
  test.each([
    ["wrapped after a comma", "Your message could not be delivered to ann@one.example,\nbob@two.example.\n"],
    [
      "wrapped after 'and'",
      "Your message could not be delivered to the recipients ann@one.example and\nbob@two.example because their mailboxes are full.\n",
    ],
    ["indented further", "The following addresses failed:\n  ann@one.example,\n      bob@two.example\n"],
    ["one in each line", "The following addresses failed:\n\nann@one.example\nbob@two.example\n"],
    ["in one line", "Your message could not be delivered to ann@one.example, bob@two.example.\n"],
    [
      "in one line with 'and'",
      "Your message could not be delivered to <ann@one.example> and <bob@two.example>.\n",
    ],
    [
      "in one line in German",
      "Ihre Nachricht an ann@one.example und bob@two.example konnte nicht zugestellt werden.\n",
    ],
    [
      "each with its reply",
      "<ann@one.example>: host mx.one.example said: 550 5.1.1 unknown\n<bob@two.example>: host mx.two.example said: 550 5.1.1 unknown\n",
    ],
  ])("%s", (_, body) => {
    expect(failedIn(body)).toEqual(["ann@one.example", "bob@two.example"]);
  });

  test.each([
    [
      "a server's reply that continues",
      "<ann@one.example>: host mx.one.example said: 550 5.1.1\n<inner@two.example>: Recipient address rejected\n",
    ],
    [
      "a server's reply that is indented",
      "<ann@one.example>: host mx.one.example said: 550\n    <inner@two.example>: Recipient address rejected\n",
    ],
    [
      "a contact address",
      "Not delivered: ann@one.example\n\nIf you have further questions about it, please contact our help desk at\nfriends@two.example or call us.\n",
    ],
  ])("but not %s", (_, body) => {
    expect(failedIn(body)).toEqual(["ann@one.example"]);
  });

  test.each([
    ["Japanese", "宛先：ann@one.exampleに配信できませんでした。\n"],
    ["Chinese", "邮件无法投递给收件人ann@one.example，请检查。\n"],
    ["Korean", "수신자 ann@one.example에게 전송하지 못했습니다.\n"],
  ])("words of other scripts are not part of the address: %s", (_, body) => {
    expect(failedIn(body, "Content-Type: text/plain; charset=utf-8\n")).toEqual(["ann@one.example"]);
  });
});

describe("a delivery-status part", () => {
  const dsn = (fields: string | Buffer, text = "", type = "message/delivery-status") =>
    readBounce(
      Buffer.concat([
        Buffer.from(
          `${DAEMON}\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\n${text}\n--b\nContent-Type: ${type}\n\nReporting-MTA: dns; dns; mx.example\n\n`,
        ),
        Buffer.from(fields),
        Buffer.from("\n\n--b--\n"),
      ]),
    );
  const statusOf = (recipient: string) => `Final-Recipient: ${recipient}\nAction: failed\nStatus: 5.1.1`;

  test.each([
    ["rfc822; rfc822; ann@corp.example", "ann@corp.example"],
    ["RFC822;rfc822;<ann@corp.example>", "ann@corp.example"],
    ["rfc822; smtp; ann@corp.example", "ann@corp.example"],
    ["rfc882; ann@corp.example", "ann@corp.example"],
    ["RFC 822; ann@corp.example", "ann@corp.example"],
    ["rfc-822;ann@corp.example", "ann@corp.example"],
    ["x-local-user; ann@corp.example", "ann@corp.example"],
    ["rfc822: ann@corp.example", "ann@corp.example"],
    ["rfc822 ann@corp.example", "ann@corp.example"],
    ["rfc822; ann@corp.example (Ann Person)", "ann@corp.example"],
    ["rfc822; ann@corp.example;", "ann@corp.example"],
    ["rfc822; Ann Person <ann@corp.example>", "ann@corp.example"],
    ['rfc822; "ann"@corp.example', '"ann"@corp.example'],
    ['rfc822; "ann b"@corp.example', '"ann b"@corp.example'],
    ["rfc822; 'ann@corp.example'", "ann@corp.example"],
    ["rfc822; ann@corp.example<mailto:ann@corp.example>", "ann@corp.example"],
    ["rfc822; <smtp:ann@corp.example>", "ann@corp.example"],
    ["utf-8; j\\x{FC}rgen@corp.example", "jürgen@corp.example"],
  ])("has the recipient in %s", (written, address) => {
    expect(dsn(statusOf(written))).toMatchObject({ reportingMta: "mx.example", recipients: [{ address }] });
  });

  test.each([
    ["with empty lines between its fields", (fields: string) => fields.replace(/\n/g, "\n\n")],
    ["with all its lines indented", (fields: string) => fields.replace(/^/gm, "   ")],
    ["as a text", (fields: string) => fields, "text/plain; name=status.txt"],
    ["as a text subtype", (fields: string) => fields, "text/delivery-status"],
    ["as a file", (fields: string) => fields, "application/octet-stream; name=details.txt"],
    [
      "as a file in Base64",
      (fields: string) => Buffer.from(fields).toString("base64"),
      "application/octet-stream; name=ATT00001.dat\nContent-Transfer-Encoding: base64",
    ],
  ])("is read %s", (_, written, type = "message/delivery-status") => {
    const part = written(`Reporting-MTA: dns; mx.example\n\n${statusOf("rfc822; ann@corp.example")}`);
    const mail = `${DAEMON}\nContent-Type: multipart/report; boundary=b\n\n--b\n\nSorry.\n--b\nContent-Type: ${type}\n\n${part}\n\n--b--\n`;
    expect(readBounce(Buffer.from(mail))?.recipients).toMatchObject([
      { address: "ann@corp.example", status: "5.1.1", verdict: { category: "NoEmail" } },
    ]);
  });

  test("is found in a report that is attached as a file", () => {
    const report = `${DAEMON}\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n${statusOf("rfc822; ann@corp.example")}\n--b--\n`;
    const mail = `${DAEMON}\nContent-Type: multipart/mixed; boundary=o\n\n--o\n\nSee the report.\n--o\nContent-Type: application/octet-stream; name="report.eml"\n\n${report}\n--o--\n`;
    expect(readBounce(Buffer.from(mail))?.recipients).toMatchObject([
      { address: "ann@corp.example", verdict: { category: "NoEmail" } },
    ]);
  });

  test("words before a semicolon of the diagnostic are kept", () => {
    const bounce = dsn(
      `${statusOf("rfc822;ann@corp.example")}\nDiagnostic-Code: smtp; smtp; 550; Rejected; no such user`,
    );
    expect(bounce?.recipients[0]?.diagnostic).toBe("550; Rejected; no such user");
  });

  test.each([
    ["ISO-2022-JP", "1b2442482f407e244b1b2842", "発線に"],
    ["Shift_JIS", "94 90", "配", "message/delivery-status; charset=shift_jis"],
    ["UTF-8", "e9858d", "配"],
    ["Windows-1252", "fc", "ü"],
  ])("is decoded: %s", (_, hex, word, type = "message/delivery-status") => {
    const fields = Buffer.concat([
      Buffer.from(`${statusOf("rfc822;ann@corp.example")}\nDiagnostic-Code: smtp; 550 `),
      Buffer.from(type.includes("shift_jis") ? "947a" : hex.replaceAll(" ", ""), "hex"),
    ]);
    expect(dsn(fields, "", type)?.recipients[0]?.diagnostic).toBe(`550 ${word}`);
  });

  test("encoded words in the diagnostic are decoded", () => {
    const bounce = dsn(
      `${statusOf("rfc822;ann@corp.example")}\nDiagnostic-Code: smtp; 550 =?iso-2022-jp?B?GyRCR1tBd0lURz0bKEI=?=`,
    );
    expect(bounce?.recipients[0]?.diagnostic).toBe("550 配送不能");
  });

  test("Sendmail's X-Actual-Recipient is the failed mailbox", () => {
    const bounce = dsn(
      `${statusOf("RFC822; ann@corp.example")}\nX-Actual-Recipient: RFC822; ann.smith@elsewhere.example`,
    );
    expect(bounce?.recipients).toMatchObject([
      { address: "ann@corp.example", finalRecipient: "ann.smith@elsewhere.example" },
    ]);
  });

  test("Exim's text beside it names the original address", () => {
    const text = "  deep@forward.example\n    (generated from ann@corp.example)\n    user unknown\n";
    expect(dsn(statusOf("rfc822;deep@forward.example"), text)?.recipients).toMatchObject([
      { address: "ann@corp.example", finalRecipient: "deep@forward.example" },
    ]);
  });
});

test.each([
  ["192.0.2.1 (mx.example.com)", "192.0.2.1"],
  ["[192.0.2.1]", "192.0.2.1"],
  ["mx.example.com [192.0.2.1]", "192.0.2.1"],
  ["mx.example.com (192.0.2.1)", "192.0.2.1"],
  ["192.0.2.1:25", "192.0.2.1"],
  ["IPv6:2001:db8::1", "2001:db8::1"],
  ["[IPv6:2001:db8::1] (mx.example.com)", "2001:db8::1"],
  ["2001:db8::1", "2001:db8::1"],
  ["dns; 192.0.2.1", "192.0.2.1"],
  ["mx.example.com", null],
  ["300.1.1.1", null],
])("the Source-IP %j of a complaint is %j", (field, address) => {
  const mail = `From: fbl@p.example\nContent-Type: multipart/report; report-type=feedback-report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nSource-IP: ${field}\n\n--b--\n`;
  expect(readComplaint(Buffer.from(mail))?.sourceIp).toBe(address);
});
