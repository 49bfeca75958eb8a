import { expect, test } from "vitest";
import type { ProbeFinding } from "#hygiene/probe/finding.ts";
import { type Findings, malformed } from "./findings.ts";
import { reasonFor } from "./reason-sentence.ts";
import type { ValidationStatus } from "./score.ts";

const written = malformed(new Date());
const good: Findings = { ...written, domain: { outcome: "deliverable", hasMx: true, hosts: ["mx.test"] } };
const nowhere = (outcome: "undeliverable" | "unknown", reason: string): Findings => ({
  ...written,
  domain: { outcome, hasMx: false, hosts: [], reason },
});
const probed = (result: ProbeFinding["result"], code: number | null, message: string): Findings => ({
  ...good,
  probe: {
    result,
    code,
    message,
    enhancedCode: null,
    mxHost: "mx.test",
    port: 25,
    tls: false,
    durationMs: 1,
    catchAllChecked: false,
    isCatchAll: null,
    isMailboxFull: false,
  },
});

test.each<[ValidationStatus, Findings, string | null]>([
  ["invalid", written, "This is not an email address."],
  [
    "invalid",
    nowhere("undeliverable", "the domain x.test does not exist"),
    "The domain x.test does not exist.",
  ],
  [
    "unknown",
    nowhere("unknown", "DNS look-up for x.test failed: SERVFAIL"),
    "DNS look-up for x.test failed: SERVFAIL.",
  ],
  [
    "invalid",
    probed("rejected", 550, "No such user"),
    "The server says that there is no such mailbox: 550 No such user",
  ],
  ["unknown", probed("greylisted", 451, "Later"), "The server asked to try again later: 451 Later"],
  ["unknown", probed("timeout", null, ""), "The server did not answer in time."],
  [
    "unknown",
    probed("rate_limited", null, "our turn at this mail provider did not come in time"),
    "The server was not asked: our turn at this mail provider did not come in time",
  ],
  ["valid", probed("accepted", 250, "Ok"), null],
  ["role-based", probed("blocked", 554, "Go away"), null],
  ["disposable", good, null],
])("%s: %#", (status, findings, reason) => {
  expect(reasonFor(status, findings)).toBe(reason);
});
