import { expect, test } from "vitest";
import { resultOfSmtp } from "#delivery/queue/decide-result.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { captureReply } from "./simulated-replies.ts";

const outcomeOf = (recipient: string) => {
  const attempt = { result: captureReply(recipient), mxHost: "capture" };
  return resultOfSmtp(leased("any"), attempt, new Date(), 0.5).outcome;
};

test.each([
  ["ada+bounce@example.com", "bounced", true, { type: "hard", category: "NoEmail" }],
  ["ada+bounce@shop.test", "bounced", true, { type: "hard", category: "NoEmail" }],
  ["ada+full@mail.example", "bounced", false, { type: "soft", category: "MailboxFull" }],
  ["ada+later@example.org", "deferred", false, { type: "soft", category: "General" }],
])("%s is refused on request", (recipient, status, isAddressFault, classification) => {
  expect(outcomeOf(recipient)).toMatchObject({ status, isAddressFault, classification });
});

test("a domain that takes no mail is a hard bounce, a fault on our side is not", () => {
  const message = leased("any");
  const unroutable = {
    outcome: "unroutable",
    status: "bounced",
    enhanced: "5.1.10",
    reason: "null MX",
  } as const;
  const nowhere = resultOfSmtp(message, { result: unroutable, mxHost: null }, new Date(), 0.5);
  expect(nowhere.outcome).toMatchObject({ classification: { type: "hard", category: "NoEmail" } });
  const ours = {
    outcome: "refused",
    stage: "mail",
    code: 503,
    enhanced: null,
    text: "Bad sequence",
  } as const;
  const failed = resultOfSmtp(message, { result: ours, mxHost: null }, new Date(), 0.5);
  expect(failed.outcome).toMatchObject({ status: "failed", classification: null });
});

test.each([
  "ada@example.com",
  "bounce@example.com",
  "ada+bounced@example.com",
  "ada+bounce@gmail.com",
  "ada+bounce@notexample.com",
  "ada+bounce@example.com.net",
])("%s is taken", (recipient) => {
  expect(outcomeOf(recipient)).toMatchObject({ status: "delivered", classification: null });
});
