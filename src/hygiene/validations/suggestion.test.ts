import fc from "fast-check";
import { expect, test } from "vitest";
import { isFreeMail } from "#identity/sending-domains/domain-name.ts";
import { createAddressLists, readBuiltIn } from "./disposable-and-role-lists.ts";
import { editDistance, suggestDomain } from "./suggestion.ts";

const targets = readBuiltIn("typo-targets.txt");

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
])("%s has no suggestion", (domain) => {
  expect(suggestDomain(domain, targets)).toBeNull();
});

const lists = createAddressLists("/nowhere", []);
const suggestion = async (domain: string, takesMail: boolean) =>
  (await lists.lookUp("ada", domain, takesMail)).suggestion;

test.each(
  (
    "mozmail.com duck.com pm.me proton.me hey.com fastmail.fm fastmail.net tutanota.de tutamail.com gmx.eu web.de " +
    "t-online.de t-online.hu orange.fr free.fr laposte.net seznam.cz wp.pl o2.pl interia.eu onet.eu rambler.ru bk.ru " +
    "list.ru inbox.ru ukr.net qq.com 163.com 126.com 188.com 139.com sina.cn yeah.net naver.com daum.net hanmail.net " +
    "docomo.ne.jp ezweb.ne.jp softbank.ne.jp rediffmail.com uol.com.br bol.com.br ig.com.br libero.it virgilio.it " +
    "tiscali.it ziggo.nl kpnmail.nl telenet.be skynet.be bluewin.ch bluemail.ch sunrise.ch shaw.ca rogers.com " +
    "bellsouth.net comcast.net verizon.net cox.net sbcglobal.net btinternet.com virgin.net sky.com email.de mail.de " +
    "privaterelay.appleid.com simplelogin.com anonaddy.me passmail.net zmail.com hushmail.com airmail.com mailo.com " +
    "yandex.kz ymail.fr inmail.com bell.net att.com hotmail.ch outlook.be zohomail.eu post.com cloud.com"
  ).split(" "),
)("the provider %s has no suggestion, with or without a DNS answer", async (domain) => {
  expect([await suggestion(domain, true), await suggestion(domain, false)]).toEqual([null, null]);
});

test.each(["hotmaid.com", "botmail.com", "outlaw.com", "gmoil.com", "mailfox.org", "postea.de", "nover.com"])(
  "%s accepts mail and has no suggestion",
  async (domain) => {
    expect(await suggestion(domain, true)).toBeNull();
  },
);

test.each([
  ["gmial.com", "gmail.com"],
  ["gmial.con", "gmail.com"],
  ["gmai.com", "gmail.com"],
  ["gmsil.com", "gmail.com"],
  ["gnail.com", "gmail.com"],
  ["gmail.co", "gmail.com"],
  ["hotmial.com", "hotmail.com"],
  ["hotmal.com", "hotmail.com"],
  ["yaho.com", "yahoo.com"],
  ["yahooo.com", "yahoo.com"],
  ["yaho.co.uk", "yahoo.co.uk"],
  ["outlok.com", "outlook.com"],
  ["iclod.com", "icloud.com"],
])("the typo %s is corrected to %s although it accepts mail", async (typed, meant) => {
  expect([await suggestion(typed, true), await suggestion(typed, false)]).toEqual([meant, meant]);
});

test("no target of a typo is a typo, and no provider is one", () => {
  const typos = new Set(readBuiltIn("typo-domains.txt"));
  const known = [...targets, ...readBuiltIn("mailbox-providers.txt")];
  expect(known.filter((domain) => typos.has(domain))).toEqual([]);
});

test("every suggested domain is a mailbox provider", () => {
  const strange = targets.filter((target) => !isFreeMail(target));
  expect(strange).toEqual(["email.com"]);
});

test("the distance equals that of the full table", () => {
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

/** The definition, without optimisations. */
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
