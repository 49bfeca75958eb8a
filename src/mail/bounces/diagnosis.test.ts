/** Which text of a bounce explains which recipient. */
import { describe, expect, test } from "vitest";
import { readBounce } from "./read-bounce.ts";

function report(recipients: readonly string[], text: string) {
  const mail = `From: MAILER-DAEMON@mx.example.net
To: b.token@bounce.sender.example
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain

${text}

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net

${recipients.join("\n\n")}

--b1--
`;
  const found = readBounce(Buffer.from(mail))?.recipients ?? [];
  return Object.fromEntries(found.map(({ address, verdict }) => [address, verdict]));
}

const failed = (address: string, status = "5.0.0", diagnostic = "") =>
  `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${status}${diagnostic === "" ? "" : `\nDiagnostic-Code: ${diagnostic}`}`;

describe("text about one recipient is not used for another", () => {
  test.each([
    "ann@one.example: Network error on destination MXs\nbob@two.example: 550 5.1.1 User unknown",
    "<ann@one.example>: unable to deliver\n<bob@two.example>: User unknown",
    "  ann@one.example\n  550 5.1.1 <bob@two.example>... User unknown",
    "Failed for ann@one.example.\nThe mailbox bob@two.example does not exist.",
    "bob@two.example: no such user, ann@one.example: failed\nbob@two.example: no such user",
    "Ann <ann@one.example>\n* bob@two.example (user unknown)",
    "ann@one.example\n>>> RCPT To:<bob@two.example>\n<<< 550 5.1.1 User unknown",
    "joann@one.example: no such user\nann@one.example: failed",
  ])("%j", (text) => {
    const found = report([failed("ann@one.example"), failed("bob@two.example")], text);
    expect(found["ann@one.example"]).toMatchObject({ bounceClass: "soft", suppress: false });
  });

  test.each(["-bob@two.example--> 550 User unknown", "RCPT TO:<BOB@two.example>: No such user."])(
    "characters around an address do not hide it: %s",
    (text) => {
      const found = report([failed("ann@one.example"), failed("bob@two.example")], text);
      expect(found["bob@two.example"]).toMatchObject({ category: "NoEmail" });
    },
  );

  test("each recipient gets its own text", () => {
    const text =
      "ann@one.example: Network error on destination MXs\nbob@two.example: 550 5.1.1 User unknown\ncleo@two.example\n  mailbox is full";
    const found = report(
      ["ann@one", "bob@two", "cleo@two"].map((name) => failed(`${name}.example`)),
      text,
    );
    expect(found).toMatchObject({
      "ann@one.example": { category: "General" },
      "bob@two.example": { category: "NoEmail" },
      "cleo@two.example": { category: "MailboxFull" },
    });
  });
});

describe("the server's reply decides, not the gateway's label", () => {
  test("an appliance's label and status", () => {
    const diagnostic =
      "smtp; 5.1.0 - Unknown address error 550-'5.7.1 <joe@example.com>: Recipient address rejected: Access denied' (delivery attempts: 0)";
    expect(report([failed("joe@example.com", "5.1.0", diagnostic)], "")).toMatchObject({
      "joe@example.com": { category: "PolicyRejected", suppress: false },
    });
  });

  test("a block list named only by a link, after a status that blames the address", () => {
    const diagnostic = "smtp; 553 https://www.spamhaus.org/query/ip/192.0.2.1";
    expect(report([failed("joe@example.com", "5.1.3", diagnostic)], "User unknown")).toMatchObject({
      "joe@example.com": { category: "Reputation", suppress: false },
    });
  });
});

describe("a quoted reply with two codes has the code of its last line", () => {
  test.each([
    ["smtp; 550-5.1.1 joe@example.com 554 5.1.1 User unknown", "NoEmail"],
    ["smtp; 550-No such user 553 here", "NoEmail"],
    ["smtp; 550-5.1.1 User unknown 450 4.2.0 try again", "General"],
    ["smtp; 550-User unknown\n 451 Try again later", "General"],
  ])("%s", (diagnostic, category) => {
    expect(report([failed("joe@example.com", "5.0.0", diagnostic)], "")).toMatchObject({
      "joe@example.com": { category },
    });
  });
});

test("a reply that leaves the cause open is not decided by the explanations around it", () => {
  const diagnostic = "smtp; 550 5.1.1 The address does not exist, or you may not write to it";
  const text = "joe@example.com\nUser unknown";
  expect(report([failed("joe@example.com", "5.1.1", diagnostic)], text)).toMatchObject({
    "joe@example.com": { category: "Undetermined", bounceClass: "soft", suppress: false },
  });
});
