import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectLinearCost } from "#test/support/cost.ts";
import { classifyReply, enhancedCode, type ReplyStage, type ReplyVerdict } from "./classify-reply.ts";

/** Classifies a reply in its SMTP form. */
function judge(reply: string, stage: ReplyStage = "rcpt"): ReplyVerdict {
  return classifyReply({
    code: Number.parseInt(reply, 10),
    enhanced: enhancedCode(reply),
    text: reply,
    stage,
  });
}

describe("replies that are not about the message", () => {
  test("a refused login does not fail the message", () => {
    expect(judge("535 5.7.8 Authentication credentials invalid", "auth")).toMatchObject({
      bounceClass: "ours",
      retry: true,
    });
  });

  test.each([0, 199, 250, 354, 999])("a reply that is no refusal (%i) is retried", (code) => {
    const verdict = classifyReply({ code, enhanced: null, text: "user unknown", stage: "rcpt" });
    expect(verdict).toMatchObject({ bounceClass: "ours", retry: true, suppress: false });
  });
});

describe("greylisting and the time to wait", () => {
  test.each([
    [
      "450 4.2.0 <joe@example.com>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.com.html",
      null,
    ],
    ["451 4.7.1 <joe@example.com>: Recipient address rejected: Greylisted for 5 minutes", 300],
    ["451 4.7.1 Greylisting in action, please come back in 00:04:30", 270],
    ["450 4.7.1 Graylisted; retry after 1 hour", 3_600],
    ["451 4.7.1 Grey-listed. Try again in 45s", 45],
    ["450 Gray listing: wait 99999 minutes", 86_400],
  ])("%s", (reply, waitSeconds) => {
    const verdict = judge(reply);
    expect(verdict).toMatchObject({ category: "Greylisted", bounceClass: "block", retry: true, waitSeconds });
    expect(verdict.scope).toBe("recipient");
  });

  test.each([
    ["421 4.7.0 Try again in 15 minutes", 900],
    ["451 Please try again after 600 seconds", 600],
    ["450 Wait 2 hours before the next delivery", 7_200],
    ["421 try again in an hour", 3_600],
    ["450 mailbox busy, try again later", null],
    ["421 You sent 50 messages", null],
    ["550 5.7.1 Blocked, try again in 5 minutes", null],
  ])("%s", (reply, waitSeconds) => {
    expect(judge(reply).waitSeconds).toBe(waitSeconds);
  });
});

describe("the scope", () => {
  test.each([
    [
      "450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
      "recipient",
    ],
    ["451 4.5.1 The recipient joe@yandex.ru has exceeded their message rate limit", "recipient"],
    ["432 4.3.2 STOREDRV.Deliver; recipient thread limit exceeded", "recipient"],
    ["452 4.5.3 Too many recipients", "recipient"],
    [
      "554 5.2.122 The recipient has exceeded their limit for the number of messages they can receive per hour",
      "recipient",
    ],
    [
      "421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address.",
      "lane",
    ],
    ["421 4.7.0 IP not in whitelist for RCPT domain, closing connection.", "lane"],
    ["421 4.7.1 Messages deferred due to excessive volume. Try again later", "lane"],
    [
      "451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.",
      "lane",
    ],
    ["421 4.7.30 This mail has been rate limited because DKIM does not pass", "lane"],
    ["421 4.7.26 This mail has been rate limited because it is unauthenticated", "recipient"],
  ])("%s concerns the %s", (reply, scope) => {
    expect(judge(reply)).toMatchObject({ scope, bounceClass: "block", suppress: false });
  });
});

describe("the address is not blamed", () => {
  test.each(["connect", "banner", "ehlo", "starttls", "mail"] as const)("before RCPT, at %s", (stage) => {
    expect(judge("550 5.1.1 User unknown", stage).suppress).toBe(false);
  });

  test.each(["rcpt", "data", "dot", "report"] as const)("but it is at %s", (stage) => {
    expect(judge("550 5.1.1 User unknown", stage).suppress).toBe(true);
  });

  test("by words inside an address, a link or a host name", () => {
    expect(
      judge("550 5.7.1 <user.unknown@example.com>: rejected, see https://example.com/no-such-user").suppress,
    ).toBe(false);
    expect(
      judge("550 5.1.1 <spam.blocked@blacklist.spam.example.com>: Recipient address rejected: User unknown")
        .suppress,
    ).toBe(true);
  });

  test("by codes that contradict each other, without a text", () => {
    expect(judge("550 4.1.1 rejected").suppress).toBe(false);
    expect(judge("450 5.1.1 User unknown")).toMatchObject({ retry: true, suppress: false });
  });
});

test("a bounce without any code counts as permanent and is classified by its text", () => {
  const quoted = (text: string) => classifyReply({ code: null, enhanced: null, text, stage: "report" });
  expect(quoted("The recipient's mailbox does not exist")).toMatchObject({ suppress: true, retry: false });
  expect(quoted("could not be delivered")).toMatchObject({ category: "Undetermined", suppress: false });
  expect(
    classifyReply({ code: null, enhanced: "4.4.7", text: "user unknown", stage: "report" }),
  ).toMatchObject({
    suppress: false,
    retry: true,
  });
});

test("every code and text gets a verdict: retried unless 5xx, suppressed only if 5xx and hard", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 999 }),
      fc.string(),
      fc.constantFrom(null, "", "5.1.1", "4.2.2"),
      (code, text, enhanced) => {
        const verdict = classifyReply({ code, enhanced, text, stage: "rcpt" });
        expect(verdict.retry).toBe(Math.floor(code / 100) !== 5);
        expect(verdict.suppress).toBe(verdict.bounceClass === "hard");
        if (verdict.suppress) expect(Math.floor(code / 100)).toBe(5);
      },
    ),
  );
});

test("a text that is hostile to patterns is classified in linear time", () => {
  const pieces = ["user ", "no ", "exceeded mailbox ", "a.", "message from a@b.example ", "message from "];
  for (const piece of pieces)
    expectLinearCost(
      25_000,
      (size) => piece.repeat(size / piece.length),
      (text) => classifyReply({ code: 550, enhanced: null, text, stage: "rcpt" }),
    );
});

test.each([
  ["550 5.1.1 User unknown", "5.1.1"],
  ["550-5.7.26 blocked", "5.7.26"],
  ["5.2.122 over limit", "5.2.122"],
  ["sorry, no mailbox here by that name. (#5.1.1)", "5.1.1"],
  ["cuda_nsu 4.4.3 Temporary server error", "4.4.3"],
  ["#5.1.0 Address rejected.", "5.1.0"],
  ["Messages from 5.7.1.2 refused", null],
  ["see version 4.16.55.1 and 5.7.1-2", null],
  ["3.1.1 and 5.1 and 5.1.1234", null],
  ["(#id-5.9.2)", null],
  ["", null],
])("the enhanced code of %j is %s", (text, code) => {
  expect(enhancedCode(text)).toBe(code);
});

test("an unspecific enhanced code is replaced by the one in the text", () => {
  const refusal = { code: 550, text: "smtp; 550 5.1.1 rejected", stage: "report" } as const;
  expect(classifyReply({ ...refusal, enhanced: "5.0.0" }).category).toBe("NoEmail");
  expect(classifyReply({ ...refusal, enhanced: "5.2.2" }).category).toBe("MailboxFull");
});
