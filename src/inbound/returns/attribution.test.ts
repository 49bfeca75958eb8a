/** Which message and which mailbox a returned mail is about, tested through the SMTP port. */
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "#platform/time-units.ts";
import { deliveryReport, startReturns } from "#test/support/returns.ts";

const returns = await startReturns();
const { service, deliver, returnPath, token, receive, message } = returns;
const { database, workspaceId, call, clock } = service;

async function suppressedFor(address: string): Promise<string | undefined> {
  const row = await database.row<{ reason: string }>(sql`
    select reason from suppression_entries
    where workspace_id = ${workspaceId} and normalized_value = ${address}`);
  return row?.reason;
}

async function bounceOf(id: string) {
  const { bounces } = (await call("GET", "/bounces?limit=200")).body.data;
  return bounces.find(({ message_id }: { message_id: string }) => message_id === id);
}

/** A report about several recipients with the given fields. */
function reportOf(
  groups: readonly string[],
  { text = "Not delivered.", returned = "Subject: Your order" } = {},
): string {
  return [
    "From: MAILER-DAEMON@mx.example.test",
    "Subject: Undelivered Mail Returned to Sender",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "",
    text,
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example.test",
    "",
    ...groups.flatMap((group) => [
      group,
      "Action: failed",
      "Status: 5.1.1",
      "Diagnostic-Code: smtp; 550 5.1.1 No such user",
      "",
    ]),
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    returned,
    "",
    "--b--",
  ].join("\n");
}

describe("a report to a signed return path matches its message, however the recipient is spelled", () => {
  test.each([
    ["as it was", "ann@corp1.example", "rfc822; ann@corp1.example"],
    ["in quotes", "ann@corp2.example", 'rfc822; "ann"@corp2.example'],
    ["without its sub-address", "ann+news@corp3.example", "rfc822; ann@corp3.example"],
    ["with a source route", "ann@corp4.example", "rfc822; @mx.corp4.example:ann@corp4.example"],
    ["with a wrong type", "ann@corp5.example", "x-unix; ann@corp5.example"],
    ["with its type twice", "ann@corp6.example", "rfc822; rfc822; ann@corp6.example"],
    ["at the host that keeps it", "bob@corp7.example", "rfc822; bob@mail3.corp7.example"],
    ["at its tenant's host", "alice@corp8.example", "rfc822; alice@corp8.onmicrosoft.example"],
    ["as a command", "ann@corp9.example", 'rfc822; "|/usr/bin/deliver ann@corp9.example"'],
    [
      "as a command for another name",
      "list@corp10.example",
      "X-Unix; |/usr/local/bin/archive owner@elsewhere.example",
    ],
    ["as a user name", "ann@corp11.example", "LOCAL; ann"],
    ["as the sender by mistake", "ann@corp12.example", "rfc822; orders@shop.test"],
  ])("%s: the recipient is suppressed", async (_, to, reported) => {
    const id = await deliver(to);
    expect(await receive(returnPath(id), reportOf([`Final-Recipient: ${reported}`]))).toMatchObject({
      result: "bounced",
    });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "hard", category: "NoEmail", email: to });
    expect(await suppressedFor(to)).toBe("hard_bounce");
  });
});

describe("a report about another mailbox is a soft bounce that names it and suppresses no address", () => {
  test.each([
    ["named alone", "forward1@corp.example", ["Final-Recipient: rfc822; private@elsewhere.example"], {}],
    [
      "behind the one that was written to",
      "forward2@corp.example",
      [
        "Original-Recipient: rfc822; forward2@corp.example\nFinal-Recipient: rfc822; private@elsewhere.example",
      ],
      {},
    ],
    [
      "behind Sendmail's alias",
      "forward3@corp.example",
      [
        "Final-Recipient: rfc822; forward3@corp.example\nX-Actual-Recipient: rfc822; private@elsewhere.example",
      ],
      {},
    ],
    [
      "with Exim's words beside it",
      "forward4@corp.example",
      ["Final-Recipient: rfc822; private@elsewhere.example"],
      {
        text: "  private@elsewhere.example\n    (generated from forward4@corp.example)\n    550 5.1.1 No such user\n",
      },
    ],
  ])("%s", async (_, to, groups, more) => {
    const id = await deliver(to);
    expect(await receive(returnPath(id), reportOf(groups, more))).toMatchObject({ result: "bounced" });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "soft", email: to });
    expect((await message(id)).timeline.at(-1)).toMatchObject({
      type: "bounced",
      detail: expect.stringMatching(/private@elsewhere\.example.*No such user/),
    });
    expect(await suppressedFor(to)).toBeUndefined();
    expect(await suppressedFor("private@elsewhere.example")).toBeUndefined();
  });

  test("in a plain-text notice", async () => {
    const id = await deliver("forward5@corp.example");
    const notice =
      "From: Mailer-Daemon@corp.example\nX-Failed-Recipients: private@elsewhere.example\nSubject: Mail delivery failed\n\nThe following address(es) failed:\n\n  private@elsewhere.example\n    (ultimately generated from forward5@corp.example)\n    550 5.1.1 No such user here\n";
    expect(await receive(returnPath(id), notice)).toMatchObject({ result: "bounced" });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "soft" });
    expect(await suppressedFor("forward5@corp.example")).toBeUndefined();
  });

  test("with several mailboxes, if the returned header has the message's token", async () => {
    const id = await deliver("alias@corp.example");
    const groups = [
      "Final-Recipient: rfc822; one@elsewhere.example",
      "Final-Recipient: rfc822; two@elsewhere.example",
    ];
    const report = reportOf(groups, { returned: `X-Posthaste-Message: ${token(id)}` });
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "bounced" });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "soft" });
    expect(await suppressedFor("alias@corp.example")).toBeUndefined();
  });

  test("of a delay is an event that names it", async () => {
    const id = await deliver("late@corp.example");
    const report = deliveryReport("private@elsewhere.example", { action: "delayed", status: "4.4.1" });
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "delayed" });
    const { status, timeline } = await message(id);
    expect(status).toBe("delivered");
    expect(timeline.at(-1)).toMatchObject({
      type: "delayed",
      detail: expect.stringContaining("private@elsewhere.example"),
    });
  });

  test("five in a row over days suppress no address", async () => {
    const to = "forwards.long@corp.example";
    for (let failure = 1; failure <= 6; failure++) {
      const id = await deliver(to);
      await receive(returnPath(id), deliveryReport("private@elsewhere.example"));
      expect(await bounceOf(id)).toMatchObject({ bounce_type: "soft" });
      clock.advance(20 * HOUR_MS);
    }
    expect(await suppressedFor(to)).toBeUndefined();
  });

  test("a later report about the mailbox itself turns the bounce into a hard one", async () => {
    const to = "gone.later@corp.example";
    const id = await deliver(to);
    await receive(returnPath(id), deliveryReport("private@elsewhere.example"));
    await receive(returnPath(id), deliveryReport(to));
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "hard" });
    expect(await suppressedFor(to)).toBe("hard_bounce");
  });
});

describe("a report about other recipients changes nothing", () => {
  test.each([
    ["two other addresses", "safe1@corp.example", () => ""],
    [
      "two other addresses, with a forged token",
      "safe2@corp.example",
      (id: string) => `${token(id).slice(0, -1)}${token(id).endsWith("0") ? "1" : "0"}`,
    ],
  ])("%s", async (_, to, tokenOf) => {
    const id = await deliver(to);
    const groups = [
      "Final-Recipient: rfc822; victim@elsewhere.example",
      "Final-Recipient: rfc822; other@elsewhere.example",
    ];
    const report = reportOf(groups, { returned: `X-Posthaste-Message: ${tokenOf(id)}\nSubject: x` });
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "other_recipient" });
    expect((await message(id)).status).toBe("delivered");
    expect(await suppressedFor("victim@elsewhere.example")).toBeUndefined();
  });

  test("whose returned header has another message's token", async () => {
    const id = await deliver("safe3@corp.example");
    const other = await deliver("safe4@corp.example");
    const report = reportOf(["Final-Recipient: rfc822; safe4@corp.example"], {
      returned: `X-Posthaste-Message: ${token(other)}`,
    });
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "other_recipient" });
    expect((await message(id)).status).toBe("delivered");
    expect((await message(other)).status).toBe("delivered");
  });
});

describe("that is plain text", () => {
  const utf8 = "Content-Type: text/plain; charset=utf-8";

  test.each([
    [
      "an automatic answer from a host whose name is a mail system's",
      "From: Anna <anna@mailservice.example>\nSubject: Automatic reply: Your order\nAuto-Submitted: auto-replied\n\nI am on vacation until Monday and cannot receive mails.\n",
    ],
    [
      "a person who left",
      "From: Mail Service <anna@mailservice.example>\nSubject: Automatische Antwort\nAuto-Submitted: auto-replied\n\nAnna no longer works here. The address does not exist any more.\n",
    ],
  ])("%s does not change the state", async (name, raw) => {
    const to = `${name.slice(3, 9).replaceAll(" ", "")}@mailservice.example`;
    const id = await deliver(to);
    expect(await receive(returnPath(id), raw)).toEqual({ status: "processed", result: "auto_reply" });
    expect((await message(id)).status).toBe("delivered");
    expect(await suppressedFor(to)).toBeUndefined();
  });

  test.each([
    [
      "a French delay",
      "french",
      "Votre message n'a pas encore pu être remis à <french@late.example>. De nouvelles tentatives seront effectuées.",
    ],
    [
      "a Spanish delay",
      "spanish",
      "El mensaje aún no se ha entregado a <spanish@late.example>. Se seguirá intentando durante 5 días.",
    ],
    ["words that are not understood", "unknown", "Quruŋ baro teluma <unknown@late.example> vesto dinari."],
  ])("%s is an event and does not change the state", async (_, local, text) => {
    const id = await deliver(`${local}@late.example`);
    const raw = `From: MAILER-DAEMON@late.example\nSubject: Avis — courrier retardé\n${utf8}\n\n${text}\n`;
    expect(await receive(returnPath(id), raw)).toMatchObject({ result: "delayed" });
    const { status, timeline } = await message(id);
    expect(status).toBe("delivered");
    expect(timeline.at(-1)).toMatchObject({
      type: "delayed",
      detail: expect.stringContaining(text.slice(-13)),
    });
  });

  test("the failed recipient is taken from the header, not guessed", async () => {
    const id = await deliver("ann@named.example");
    const raw =
      "From: MAILER-DAEMON@mx.other.example\nX-Failed-Recipients: ann@named.example\nSubject: Mail delivery failed\n\nA message sent by <orders@shop.test> could not be delivered to the following recipients:\n\n  ann\n\n550 5.1.1 No such user\n";
    expect(await receive(returnPath(id), raw)).toMatchObject({ result: "bounced" });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "hard", email: "ann@named.example" });
    expect(await suppressedFor("orders@shop.test")).toBeUndefined();
  });

  test("a plain notice with our message inside is a bounce, whatever its From and Subject look like", async () => {
    const id = await deliver("ann@carrier.example");
    const raw = `From: no-reply@carrier.example\nSubject: Mail\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nCould not be delivered to: <ann@carrier.example>\n\nAs their mailbox is full.\n--b\nContent-Type: message/rfc822\n\nX-Posthaste-Message: ${token(id)}\nFrom: orders@shop.test\nTo: ann@carrier.example\nSubject: Your order\n\nThanks\n--b--\n`;
    expect(await receive(returnPath(id), raw)).toMatchObject({ result: "bounced" });
    expect(await bounceOf(id)).toMatchObject({ bounce_type: "soft", category: "MailboxFull" });
    expect(await suppressedFor("ann@carrier.example")).toBeUndefined();
  });

  test("a Japanese diagnostic is stored decoded", async () => {
    const id = await deliver("ann@japanese.example");
    const report = Buffer.from(
      deliveryReport("rfc822; ann@japanese.example", { diagnostic: "550 5.1.1 \x1b$BG[Aw%(%i!<\x1b(B" }),
      "latin1",
    );
    expect(await receive(returnPath(id), report)).toMatchObject({ result: "bounced" });
    expect((await message(id)).timeline.at(-1)?.detail).toBe("550 5.1.1 配送エラー");
  });
});
