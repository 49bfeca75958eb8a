/**
 * Every fault of a mail server at every SMTP command, for a message: it is deferred with the reason, never lost, and never sent
 * twice without a retry. The conversations are tested in smtp-client/session-faults.test.ts.
 */
import { expect, test } from "vitest";
import { standardDeadlines } from "#smtp-client/deadlines.ts";
import type { FakeMxOptions } from "#test/support/fake-mx.ts";
import { DROP, ENDLESS, SLOW, type Stage } from "#test/support/fake-mx-scripts.ts";
import { routeTo, startSmtpTransport } from "#test/support/smtp-transport.ts";
import { leased } from "#test/support/transport-recorder.ts";
import type { Lane } from "./lanes/default-lanes.ts";
import { resultOfSmtp } from "./queue/decide-result.ts";

/** Sends one message; resolves to its events and to the number of copies received. */
async function deliver(mxOptions: FakeMxOptions, lane: Partial<Lane> = {}) {
  const short = { banner: 150, ehlo: 150, mail: 150, rcpt: 150, data: 150, dot: 150 };
  const { mx, recorder, transport } = await startSmtpTransport(routeTo(lane), {
    mxOptions: { ...mxOptions, slowMs: 60_000 },
    options: isSilent(mxOptions) ? { deadlines: { ...standardDeadlines, ...short } } : {},
  });
  const message = leased("ann");
  transport.send(message);
  const [heard] = await recorder.waitFor(1);
  if (heard?.kind !== "attempted") throw new Error(JSON.stringify(heard));
  const conclusion = resultOfSmtp(message, { result: heard.result, mxHost: null }, new Date(), 0.5);
  return { outcome: conclusion.outcome, dueAt: conclusion.settlement.dueAt, received: mx.received };
}

const isSilent = ({ answers }: FakeMxOptions) => Object.values(answers ?? {}).includes(SLOW);

const stages = ["banner", "ehlo", "mail", "rcpt", "data", "dot"] as const satisfies readonly Stage[];
const faults: readonly [string, string, RegExp][] = [
  ["421", "421 4.3.2 Shutting down", /^421 4\.3\.2 Shutting down$/],
  ["450", "450 4.2.0 Later, please", /^450 4\.2\.0 Later, please$/],
  ["a connection that is dropped", DROP, /closed|reset/i],
  ["a reply without end", ENDLESS, /at (banner|ehlo|mail|rcpt|data|dot)\)$/],
  ["garbage", "\x00\x01\xff\xfe what?", /at (banner|ehlo|mail|rcpt|data|dot)\)$/],
  ["a code that there is not", "999 what", /at (banner|ehlo|mail|rcpt|data|dot)\)$/],
  ["silence", SLOW, /no answer|within|time/i],
];

for (const [fault, answer, detail] of faults) {
  test.each(stages)(`${fault} at %s defers the message, and the log says why`, async (stage) => {
    const { outcome, dueAt, received } = await deliver({ answers: { [stage]: answer } });
    expect(outcome).toMatchObject({ status: "deferred", attempts: 1, isAddressFault: false });
    expect(outcome?.detail).toMatch(detail);
    expect(outcome?.detail.length).toBeLessThan(600);
    expect(dueAt?.getTime()).toBeGreaterThan(Date.now());
    // When the connection ends after the final dot, it is unknown whether the receiver has the message.
    expect(received).toBeLessThanOrEqual(stage === "dot" ? 1 : 0);
  });
}

test.each(["refused", "broken"] as const)(
  "TLS that is %s: clear text where the lane allows it",
  async (tls) => {
    expect(await deliver({ tls })).toMatchObject({ outcome: { status: "delivered" }, received: 1 });
    expect(await deliver({ tls }, { tls_required: true })).toMatchObject({
      outcome: { status: "deferred", enhancedCode: "4.7.5", detail: expect.stringMatching(/TLS/) },
      received: 0,
    });
  },
);

test("a lane that requires TLS accepts neither old TLS versions nor a host without TLS", async () => {
  const lane = { tls_required: true };
  for (const options of [{ tls: "offered", tlsVersion: "TLSv1.1" }, { tls: "none" }] as const) {
    expect(await deliver(options, lane)).toMatchObject({ outcome: { status: "deferred" }, received: 0 });
  }
});
