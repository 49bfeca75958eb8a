import { expect, test } from "vitest";
import { leased } from "../../test/support/transport-recorder.ts";
import { captureReply } from "./capture-replies.ts";
import { conclude } from "./conclusion.ts";

const statusOf = (recipient: string) => {
  const attempt = { message: leased("any"), result: captureReply(recipient), mxHost: "capture" };
  const { outcome } = conclude(attempt, new Date(), 0.5);
  return [outcome?.status, outcome?.isAddressFault];
};

test.each([
  ["ada+bounce@example.com", "bounced", true],
  ["ada+bounce@shop.test", "bounced", true],
  ["ada+full@mail.example", "bounced", false],
  ["ada+later@example.org", "deferred", false],
])("%s is refused on request", (recipient, status, isAddressFault) => {
  expect(statusOf(recipient)).toEqual([status, isAddressFault]);
});

test.each([
  "ada@example.com",
  "bounce@example.com",
  "ada+bounced@example.com",
  "ada+bounce@gmail.com",
  "ada+bounce@notexample.com",
  "ada+bounce@example.com.net",
])("%s is taken", (recipient) => {
  expect(statusOf(recipient)).toEqual(["delivered", false]);
});
