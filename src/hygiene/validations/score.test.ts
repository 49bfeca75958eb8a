import { expect, it, test } from "vitest";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import { type Findings, malformed } from "./findings.ts";
import { riskScoreOf } from "./score.ts";

const good: Findings = {
  ...malformed(new Date()),
  domain: { outcome: "deliverable", hasMx: true, hosts: ["mx.example.com"] },
};
const dead: Findings = { ...good, domain: { outcome: "undeliverable", hasMx: false, hosts: [], reason: "" } };
const unclear: Findings = { ...good, domain: { outcome: "unknown", hasMx: false, hosts: [], reason: "" } };

const probed = (result: ProbeFinding["result"], more: Partial<ProbeFinding> = {}): Findings => ({
  ...good,
  probe: {
    result,
    code: 250,
    enhancedCode: null,
    message: "",
    mxHost: "mx.example.com",
    port: 25,
    tls: false,
    durationMs: 1,
    catchAllChecked: true,
    isCatchAll: false,
    isMailboxFull: false,
    ...more,
  },
});

it.each<[string, Findings, string, number]>([
  ["a text that is no address", malformed(new Date()), "invalid", 10],
  ["a domain that takes no mail", dead, "invalid", 10],
  ["a DNS that does not answer", unclear, "unknown", 6],
  ["a good domain, nobody asked", good, "valid", 2],
  ["an accepted address", probed("accepted"), "valid", 0],
  ["a full mailbox", probed("accepted", { isMailboxFull: true }), "valid", 1],
  ["one at a brand-new domain", { ...probed("accepted"), isNewDomain: true }, "valid", 1],
  [
    "a full one at a brand-new domain",
    { ...probed("accepted", { isMailboxFull: true }), isNewDomain: true },
    "valid",
    2,
  ],
  ["one at an old domain", { ...probed("accepted"), isNewDomain: false }, "valid", 0],
  ["a rejected address", probed("rejected"), "invalid", 10],
  ["a greylisted one", probed("greylisted"), "unknown", 6],
  ["a refusal that is about us", probed("blocked"), "unknown", 6],
  ["a silent server", probed("timeout"), "unknown", 6],
  ["a broken conversation", probed("error"), "unknown", 6],
  ["a catch-all domain", { ...probed("accepted"), isCatchAll: true }, "catch-all", 5],
  ["a full one there", { ...probed("accepted", { isMailboxFull: true }), isCatchAll: true }, "catch-all", 6],
  ["a catch-all domain that is silent now", { ...probed("timeout"), isCatchAll: true }, "catch-all", 5],
  ["a rejected one at a catch-all domain", { ...probed("rejected"), isCatchAll: true }, "invalid", 10],
  ["a role", { ...good, isRoleBased: true }, "role-based", 4],
  ["a role that was accepted", { ...probed("accepted"), isRoleBased: true }, "role-based", 4],
  ["a role at a catch-all domain", { ...good, isRoleBased: true, isCatchAll: true }, "role-based", 4],
  ["a role at a silent DNS", { ...unclear, isRoleBased: true }, "role-based", 4],
  ["a role that does not exist", { ...probed("rejected"), isRoleBased: true }, "invalid", 10],
  ["a disposable one", { ...good, isDisposable: true }, "disposable", 8],
  ["a disposable role", { ...good, isDisposable: true, isRoleBased: true }, "disposable", 8],
  [
    "a disposable one that is full",
    { ...probed("accepted", { isMailboxFull: true }), isDisposable: true },
    "disposable",
    9,
  ],
  ["a disposable domain that is gone", { ...dead, isDisposable: true }, "invalid", 10],
  ["a trap", { ...good, isHoneypot: true }, "valid", 10],
])("%s", (_name, findings, status, risk_score) => {
  expect(riskScoreOf(findings, false)).toEqual({ status, risk_score });
});

test.each<[string, Findings, string, number]>([
  ["nothing else is wrong", good, "valid", 9],
  ["their server accepts", probed("accepted"), "valid", 9],
  ["they are invalid as well", dead, "invalid", 10],
  ["they are a trap as well", { ...good, isHoneypot: true }, "valid", 10],
])(
  "an address that complained has a risk of at least 9, though %s",
  (_name, findings, status, risk_score) => {
    expect(riskScoreOf(findings, true)).toEqual({ status, risk_score });
  },
);
