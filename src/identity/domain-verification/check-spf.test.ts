import { expect, test } from "vitest";
import { suggestedSpf } from "./check-spf.ts";

const suggest = (...records: string[]) => suggestedSpf(records, "spf.ours.test");

test.each([
  ["include:_spf.a.test,", "include:_spf.a.test"],
  ["include:_spf.a.test;", "include:_spf.a.test"],
  ["include:a.test,include:b.test", "include:a.test include:b.test"],
  ["ip4:192.0.2.1,192.0.2.2", "ip4:192.0.2.1 ip4:192.0.2.2"],
  ["include:a.testinclude:b.test", "include:a.test include:b.test"],
  ["ip4:192.0.2.1ip4:192.0.2.2", "ip4:192.0.2.1 ip4:192.0.2.2"],
  ["include a.test", "include:a.test"],
  ["include: a.test", "include:a.test"],
  ["include : a.test", "include:a.test"],
  ["include :a.test", "include:a.test"],
  ["ip4 192.0.2.1", "ip4:192.0.2.1"],
  ["ip4: 192.0.2.0/24 mx", "ip4:192.0.2.0/24 mx"],
  ["ip4:192.0.2.0 /24", "ip4:192.0.2.0/24"],
  ["include=a.test", "include:a.test"],
  ["include;a.test mx", "include:a.test mx"],
  ["include.a.test", "include:a.test"],
  ["ip4.192.0.2.1", "ip4:192.0.2.1"],
  ["include:a.test,b.test", "include:a.test include:b.test"],
  ["include:a.test|b.test", "include:a.test include:b.test"],
  ["ip4:192.0.2.0/ 24", "ip4:192.0.2.0/24"],
  ["-include:spf.ours.test mx", "mx"],
  ["ip4=192.0.2.1", "ip4:192.0.2.1"],
  ["ipv4:192.0.2.1", "ip4:192.0.2.1"],
  ["ipv6:2001:db8::1", "ip6:2001:db8::1"],
  ["ip:192.0.2.1", "ip4:192.0.2.1"],
  ["ip:2001:db8::/32", "ip6:2001:db8::/32"],
  ["ip4:2001:db8::1", "ip6:2001:db8::1"],
  ["ip6:192.0.2.1", "ip4:192.0.2.1"],
  ["a:192.0.2.1", "ip4:192.0.2.1"],
  ["192.0.2.1", "ip4:192.0.2.1"],
  ["ip4:192.0.2.0/255.255.255.0", "ip4:192.0.2.0/24"],
  ["ip6:::1//33", "ip6:::1/33"],
  ["inlcude:a.test", "include:a.test"],
  ["inclde:a.test", "include:a.test"],
  ["~includes:a.test", "~include:a.test"],
  ["exist:%{i}.a.test", "exists:%{i}.a.test"],
  ["include:https://a.test/", "include:a.test"],
  ["include::a.test", "include:a.test"],
  ["include:<a.test>", "include:a.test"],
  ["include:.a.test", "include:a.test"],
  ["include:a..test", "include:a.test"],
  ["include:“a.test”", "include:a.test"],
  ["“include:a.test”", "include:a.test"],
  ["include:a.test\u200b", "include:a.test"],
  ["include:a.test\u00a0include:b.test", "include:a.test include:b.test"],
  ["include:bücher.test", "include:xn--bcher-kva.test"],
  ["include:a.test/24", "include:a.test"],
  ["a:", "a"],
  ["mx:", "mx"],
  ["v=spf1 mx", "mx"],
  ["+include:a.test", "+include:a.test"],
  ["a:mx.a.test.", "a:mx.a.test."],
])("%s is kept as %s", (written, kept) => {
  expect(suggest(`v=spf1 ${written} ~all`).value).toBe(`v=spf1 include:spf.ours.test ${kept} ~all`);
});

test.each([
  "v=spf2 mx ~all",
  "v=spf1.0 mx ~all",
  "spf2.0/pra mx ~all",
  "=spf1 mx ~all",
  "spf=v1 mx ~all",
  "v=spfl mx ~all",
])("what %s permits is kept", (record) => {
  expect(suggest(record)).toEqual({ value: "v=spf1 include:spf.ours.test mx ~all", notes: [] });
});

test("a redirect with a qualifier is kept as a redirect", () => {
  expect(suggest("v=spf1 -redirect=a.test").value).toBe("v=spf1 include:spf.ours.test redirect=a.test");
});

test("a term by whose name the record fails is left out, and named", () => {
  const { value, notes } = suggestedSpf(["v=spf1 include:gone.test mx ~all"], "spf.ours.test", ["gone.test"]);
  expect([value, notes]).toEqual([
    "v=spf1 include:spf.ours.test mx ~all",
    [expect.stringContaining('leaves out "include:gone.test"')],
  ]);
});

test.each([
  ["-all mx", "mx -all"],
  ["mx –all", "mx -all"],
  ["mx ˜all", "mx ~all"],
  ["mx -all;", "mx -all"],
  ["mx - all", "mx -all"],
  ["mx -ALL.", "mx -ALL"],
  ["mx -al", "mx -al".concat("l")],
  ["mx redirect:a.test", "mx redirect=a.test"],
])("%s is kept as %s at the end", (written, kept) => {
  expect(suggest(`v=spf1 ${written}`).value).toBe(`v=spf1 include:spf.ours.test ${kept}`);
});

test.each([
  "ip4:192.0.2.0/33",
  "ip4:192.0.2",
  "ip4:192.0.2.*",
  "ip4:192.0.2.1-192.0.2.9",
  "include:a",
  "include:user@a.test",
  "exists:%{z}.a.test",
  "include:xn--a.test",
  "nonsense",
  "a.test",
  "mx/33",
])("%s is named as left out, with a reason", (term) => {
  const { value, notes } = suggest(`v=spf1 mx ${term} ~all`);
  expect(value).toBe("v=spf1 include:spf.ours.test mx ~all");
  expect(notes).toHaveLength(1);
  expect(notes[0]).toContain(`leaves out "${term}": `);
});

test("what is mended is named", () => {
  expect(suggest("v=spf1 include:a.test, ~all").notes).toEqual([
    'The suggested record has "include:a.test" in the place of "include:a.test,".',
  ]);
});

test("a record without faults is kept without a note", () => {
  expect(suggest("v=spf1 a mx include:%{d}.a.test exp=why.a.test x=y -all")).toEqual({
    value: "v=spf1 include:spf.ours.test a mx include:%{d}.a.test exp=why.a.test x=y -all",
    notes: [],
  });
});

test.each([
  [["v=spf1 redirect=a.test", "v=spf1 mx -all"], "mx include:a.test -all", "include:a.test"],
  [
    ["v=spf1 redirect=a.test", "v=spf1 redirect=b.test"],
    "include:a.test include:b.test ~all",
    "include:b.test",
  ],
  [["v=spf1 mx redirect=a.test -all"], "mx -all", 'leaves out "redirect=a.test"'],
  [["v=spf1 mx -all", "v=spf1 a ~all"], "mx a -all", 'leaves out "~all"'],
  [["v=spf1 mx +all"], "mx ~all", 'leaves out "+all"'],
  [["v=spf1 exp=a.test mx", "v=spf1 exp=b.test"], "exp=a.test mx ~all", 'leaves out "exp=b.test"'],
])("%j become one record, and what changes is named", (records, terms, note) => {
  const { value, notes } = suggest(...records);
  expect(value).toBe(`v=spf1 include:spf.ours.test ${terms}`);
  expect(notes.join(" ")).toContain(note);
});

test("many faulty terms are counted rather than named", () => {
  const { notes } = suggest(`v=spf1 ${Array.from({ length: 500 }, (_, at) => `x${at}`).join(" ")}`);
  expect(notes).toHaveLength(21);
  expect(notes.at(-1)).toBe("480 more terms differ.");
});
