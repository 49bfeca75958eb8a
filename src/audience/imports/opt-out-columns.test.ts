import { describe, expect, test } from "vitest";
import { meaningOf, readOptOut } from "./opt-out-columns.ts";

describe("a column that plainly speaks of opting out counts", () => {
  test.each([
    ["UNSUB_TIME", "unsubscribed"],
    ["CLEAN_TIME", "bounced"],
    ["EMAIL_BLACKLISTED", "unsubscribed"],
    ["Email Marketing Consent", "active"],
    ["Unsubscribed from all email", "unsubscribed"],
    ["Opted out of email: Marketing Information", "unsubscribed"],
    ["subscribed_to_emails", "active"],
    ["IsUnsubscribed", "unsubscribed"],
    ["IsExcludedFromCampaigns", "unsubscribed"],
    ["OptOut_Date", "unsubscribed"],
    ["Confirmed Opt-Out Date", "unsubscribed"],
    ["email_disabled", "unsubscribed"],
    ["HasOptedOutOfEmail", "unsubscribed"],
    ["Email Opt Out", "unsubscribed"],
    ["optout_email", "unsubscribed"],
    ["do_not_email", "unsubscribed"],
    ["Do Not Contact", "unsubscribed"],
    ["email_opt_in", "active"],
    ["marketing_consent", "active"],
    ["is_subscribed", "active"],
    ["Accepts Email Marketing", "active"],
    ["unsubscribed_at", "unsubscribed"],
    ["blocklisted", "unsubscribed"],
    ["hard_bounced", "bounced"],
    ["complained", "complained"],
    ["Marked as spam", "complained"],
    ["Abgemeldet am", "unsubscribed"],
    ["Désinscrit", "unsubscribed"],
    ["Fecha de baja", "unsubscribed"],
    ["Disiscritto", "unsubscribed"],
    ["Отписан", "unsubscribed"],
    ["配信停止", "unsubscribed"],
    ["Email marketing status", "status"],
    ["Subscription status", "status"],
  ])("%s", (header, meaning) => {
    expect(meaningOf(header)).toEqual({ meaning, certainty: "plain" });
  });
});

test.each(["Newsletter", "Consent", "GDPR", "Einwilligung", "Mailing"])("%s is doubtful", (header) => {
  expect(meaningOf(header)).toMatchObject({ certainty: "doubtful" });
});

test.each([
  "Unsubscribe reason",
  "UNSUB_CAMPAIGN_TITLE",
  "Active",
  "Opt-in date",
  "OPTIN_TIME",
  "OPTIN_IP",
  "CONFIRM_TIME",
  "SMS_BLACKLISTED",
  "SMS consent",
  "ConsentToTrack",
  "Shoe size",
  "City",
  "active_subscription_count",
])("%s has nothing to do with it", (header) => {
  expect(meaningOf(header)).toBeUndefined();
});

test.each([
  ["unsubscribed", "true", "unsubscribed"],
  ["unsubscribed", "2019-03-01 10:00:00", "unsubscribed"],
  ["unsubscribed", "0000-00-00 00:00:00", "nothing"],
  ["unsubscribed", "00-00-0000 00:00", "nothing"],
  ["unsubscribed", "-0001-11-30 00:00:00", "nothing"],
  ["unsubscribed", "1899-12-30T00:00:00", "nothing"],
  ["unsubscribed", "11. Okt. 2018, 9:55", "unsubscribed"],
  ["unsubscribed", "[]", "nothing"],
  ["unsubscribed", "['HARD_BOUNCE', 'UNSUBSCRIBE']", "bounced"],
  ["status", "Non-marketing contact", "unsubscribed"],
  ["status", "Unconfirmed", "unsubscribed"],
  ["unsubscribed", "No", "nothing"],
  ["unsubscribed", "0", "nothing"],
  ["unsubscribed", "x", "unsubscribed"],
  ["unsubscribed", "all", "unsubscribed"],
  ["unsubscribed", "maybe", "unknown"],
  ["bounced", "1", "bounced"],
  ["active", "false", "unsubscribed"],
  ["active", "nein", "unsubscribed"],
  ["active", "2020-01-01", "active"],
  ["active", "NEVER_SUBSCRIBED", "unsubscribed"],
  ["active", "Yes", "active"],
  ["status", "enabled", "active"],
  ["status", "blocklisted", "unsubscribed"],
  ["status", "Désinscrit", "unsubscribed"],
  ["status", "Marked as spam", "complained"],
  ["status", "shipped", "unknown"],
] as const)("in a column that means %s, %s says %s", (meaning, cell, said) => {
  expect(readOptOut(meaning, cell)).toBe(said);
});
