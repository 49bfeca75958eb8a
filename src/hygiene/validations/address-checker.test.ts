import { afterAll, beforeEach, expect, it, test } from "vitest";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import { type ProbeQuestion, type Prober, SmtpProber } from "#hygiene/probe/prober.ts";
import { ProviderRateLimit } from "#hygiene/probe/provider-rate-limit.ts";
import { stubClock } from "#test/support/clock.ts";
import { startFakeDns } from "#test/support/fake-dns.ts";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { createAddressChecker } from "./address-checker.ts";
import { createAddressLists } from "./disposable-and-role-lists.ts";
import { validationOf } from "./validation.ts";

const dns = await startFakeDns({
  "good.test": { MX: [[10, "mx.good.test"]] },
  "mx.good.test": { A: ["127.0.0.1"] },
  "trap.test": { MX: [[10, "mx.good.test"]] },
  "null.test": { MX: [[0, "."]] },
});
afterAll(() => dns.close());
const clock = stubClock();
const alone = { deadlineMs: 10_000, localAddress: null };

const checkerWith = (prober: Prober | null) =>
  createAddressChecker({
    clock,
    resolver: dns.resolver,
    lists: createAddressLists("/nonexistent", ["trap.test"]),
    allowPrivateMx: true,
    prober,
  });

let questions: ProbeQuestion[] = [];
let isCatchAll: ProbeFinding["isCatchAll"] = null;
const prober: Prober = {
  async probe(question) {
    questions.push(question);
    return question.localparts.map(() => ({
      result: "accepted",
      code: 250,
      enhancedCode: null,
      message: "ok",
      mxHost: "mx.good.test",
      port: 25,
      tls: true,
      durationMs: 12.4,
      catchAllChecked: !question.isCatchAllKnown,
      isCatchAll: question.isCatchAllKnown ? null : isCatchAll,
      isMailboxFull: false,
    }));
  },
  async close() {},
};
beforeEach(() => {
  questions = [];
  isCatchAll = null;
});

it.each([
  [true, "catch-all", undefined],
  [false, "valid", true],
])("whether a domain is a catch-all (%s) is cached for a day", async (answer, status, email_exists) => {
  isCatchAll = answer;
  const checker = checkerWith(prober);
  const validate = async () => {
    const [findings] = await checker.check("good.test", ["ada"], alone);
    return findings && validationOf("ada@good.test", findings, { isComplainer: false, isCached: false });
  };
  const shown = { status, is_catch_all: answer, mx_host: "mx.good.test" };
  const first = await validate();
  expect(first).toMatchObject({
    ...shown,
    smtp_response: { result: "accepted", code: 250, tls: true, duration_ms: 12, catch_all_checked: true },
  });
  expect(first?.email_exists).toBe(email_exists);
  clock.advance(23 * 3_600_000);
  expect(await validate()).toMatchObject(shown);
  clock.advance(2 * 3_600_000);
  await validate();
  expect(questions.map(({ isCatchAllKnown }) => isCatchAllKnown)).toEqual([false, true, false]);
});

test("an unknown catch-all state is asked about again", async () => {
  const checker = checkerWith(prober);
  await checker.check("good.test", ["a", "b", "c"], { ...alone, localAddress: "192.0.2.7" });
  expect(questions.map(({ localparts, isCatchAllKnown }) => [localparts, isCatchAllKnown])).toEqual([
    [["a", "b"], false],
    [["c"], false],
  ]);
  expect(questions[0]).toMatchObject({
    domain: "good.test",
    hosts: ["mx.good.test"],
    localAddress: "192.0.2.7",
  });
});

test("the server of a spam trap, or of a domain that accepts no mail, is not asked", async () => {
  const checker = checkerWith(prober);
  for (const domain of ["trap.test", "null.test", "gone.test"]) await checker.check(domain, ["a"], alone);
  expect(questions).toEqual([]);
});

test("an address that the host cannot be asked about does not affect others of its domain", async () => {
  await using mx = await startFakeMx({ smtpUtf8: false });
  const real = new SmtpProber({
    resolver: dns.resolver,
    ehloName: "out.example.test",
    port: mx.port,
    allowPrivate: true,
    rateLimit: new ProviderRateLimit(),
  });
  const locals = ["jürgen", "ann", "unknown", "zoë"];
  const findings = await checkerWith(real).check("good.test", locals, alone);
  expect(findings.map(({ probe }) => probe?.result)).toEqual([
    "unaskable",
    "accepted",
    "rejected",
    "unaskable",
  ]);
  const [first] = findings;
  if (first === undefined) throw new Error("nothing was found");
  expect(validationOf("jürgen@good.test", first, { isComplainer: false, isCached: false })).toMatchObject({
    smtp_response: { result: "error", code: null },
  });
  await real.close();
});

it.each([
  ["unknown@good.test", { status: "invalid", risk_score: 10 }, "rejected"],
  ["greylist@good.test", { status: "unknown", risk_score: 6 }, "greylisted"],
  ["blocked@good.test", { status: "unknown", risk_score: 6 }, "blocked"],
  ["drop-at-rcpt@good.test", { status: "unknown", risk_score: 6 }, "error"],
  // This server accepts any local part.
  ["ada@good.test", { status: "catch-all", risk_score: 5 }, "accepted"],
  ["mailbox-full@good.test", { status: "catch-all", risk_score: 6 }, "accepted"],
])("a real server's answer about %s", async (email, shown, result) => {
  await using mx = await startFakeMx();
  const real = new SmtpProber({
    resolver: dns.resolver,
    ehloName: "out.example.test",
    port: mx.port,
    allowPrivate: true,
    rateLimit: new ProviderRateLimit(),
  });
  const [findings] = await checkerWith(real).check("good.test", [email.replace("@good.test", "")], alone);
  if (findings === undefined) throw new Error("nothing was found");
  const answer = validationOf(email, findings, { isComplainer: false, isCached: false });
  expect(answer).toMatchObject({ ...shown, smtp_response: { result } });
  // A temporary refusal or a catch-all says nothing about the mailbox.
  expect(answer.email_exists).toBe(result === "rejected" ? false : undefined);
  expect(mx.commands.some((line) => line.startsWith("DATA"))).toBe(false);
  await real.close();
});
