import fc from "fast-check";
import { expect, test } from "vitest";
import { isFreeMail } from "../../identity/free-mail.ts";
import { readShipped } from "./lists.ts";
import { editDistance, suggestDomain } from "./suggestion.ts";

const targets = readShipped("typo-targets.txt");

test.each([
  ["gmial.com", "gmail.com"],
  ["gmal.com", "gmail.com"],
  ["gmaill.com", "gmail.com"],
  ["gamil.com", "gmail.com"],
  ["gmail.con", "gmail.com"],
  ["gmail.co", "gmail.com"],
  ["gmail.cm", "gmail.com"],
  ["gmail.comm", "gmail.com"],
  ["gmial.cmo", "gmail.com"],
  ["hotmial.com", "hotmail.com"],
  ["hotmal.com", "hotmail.com"],
  ["hotmil.co", "hotmail.com"],
  ["yaho.com", "yahoo.com"],
  ["yahooo.com", "yahoo.com"],
  ["yhaoo.com", "yahoo.com"],
  ["outlok.com", "outlook.com"],
  ["outloook.com", "outlook.com"],
  ["iclud.com", "icloud.com"],
  ["protonmial.com", "protonmail.com"],
  ["hotmail.co.ukk", "hotmail.co.uk"],
  ["t-onlien.de", "t-online.de"],
])("%s was meant to be %s", (typed, meant) => {
  expect(suggestDomain(typed, targets)).toBe(meant);
});

test.each([
  "gmail.com",
  "mail.com",
  "email.com",
  "ymail.com",
  "gmx.at",
  "example.com",
  "acme.org",
  "hotmail.se",
  "abl.com",
  "web.dev",
  "mailchimp.com",
  "xn--mnchen-3ya.de",
])("%s is like none", (domain) => {
  expect(suggestDomain(domain, targets)).toBeNull();
});

test("what is suggested is a provider of mailboxes", () => {
  const strange = targets.filter((target) => !isFreeMail(target));
  expect(strange).toEqual(["email.com"]);
});

test("the distance is that of the whole table", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 7 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const exact = distance(a, b);
      expect(editDistance(a, b, 7)).toBe(exact);
      expect(editDistance(a, b, 2)).toBe(exact <= 2 ? exact : Number.POSITIVE_INFINITY);
    }),
    { numRuns: 2_000 },
  );
});

/** The definition, word for word and slowly. */
function distance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [headA, headB, restA, restB] = [a[0], b[0], a.slice(1), b.slice(1)];
  if (headA === headB) return distance(restA, restB);
  const steps = [distance(restA, b), distance(a, restB), distance(restA, restB)];
  if (restA !== "" && restB !== "" && headA === restB[0] && restA[0] === headB) {
    steps.push(distance(restA.slice(1), restB.slice(1)));
  }
  return 1 + Math.min(...steps);
}
