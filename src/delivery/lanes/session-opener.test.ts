/** How a host is treated after a TLS failure: the cases below the table of docs/delivery.md. */
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { MINUTE_MS } from "#platform/time-units.ts";
import { standardDeadlines } from "#smtp-client/deadlines.ts";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { DROP, type Stage } from "#test/support/fake-mx-scripts.ts";
import { routeTo, startSmtpTransport } from "#test/support/smtp-transport.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { defaultLane } from "./default-lanes.ts";
import { SessionOpener, type SessionSettings } from "./session-opener.ts";

afterEach(() => {
  vi.useRealTimers();
});

async function startOpener(mxOptions: FakeMxOptions, options: SessionSettings["options"] = {}) {
  const mx = await startFakeMx(mxOptions);
  const opener = new SessionOpener(defaultLane, { port: mx.port, ehloName: "out.sender.test", options });
  onTestFinished(() => mx.close());
  /** The TLS version of the session; "clear text"; or why there is no session. */
  const open = async () => {
    const { result, tlsFault } = await opener.open({ name: "mx.example.test", addresses: [] }, "127.0.0.1");
    if (result.outcome !== "open") return { failed: result, tlsFault };
    result.session.destroy();
    return { protocol: result.session.tls?.protocol ?? "clear text", tlsFault };
  };
  return { mx, open };
}

const isAskedForTls = (commands: readonly string[]) => commands.filter((line) => line === "STARTTLS").length;

test("a host whose TLS failed is contacted in clear text for an hour, and then over TLS again", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const answers: { starttls?: string } = { starttls: DROP };
  const { mx, open } = await startOpener({ tls: "offered", answers });
  const clear = { protocol: "clear text", tlsFault: expect.stringMatching(/^STARTTLS failed: /) };
  expect(await open()).toEqual(clear);
  delete answers.starttls;
  vi.advanceTimersByTime(59 * MINUTE_MS);
  expect(await open()).toEqual(clear);
  expect(isAskedForTls(mx.commands)).toBe(1);
  // Sessions in between do not extend the hour.
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(await open()).toEqual({ protocol: "TLSv1.3", tlsFault: null });
});

test("a TLS handshake that timed out is remembered for ten minutes only: this machine may have been busy", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const stalled: FakeMxOptions = { tls: "offered", insteadOfTls: () => {} };
  const { mx, open } = await startOpener(stalled, { deadlines: { ...standardDeadlines, starttls: 200 } });
  const clear = { protocol: "clear text", tlsFault: expect.stringMatching(/in time/) };
  expect(await open()).toEqual(clear);
  vi.advanceTimersByTime(9 * MINUTE_MS);
  expect(await open()).toEqual(clear);
  expect(isAskedForTls(mx.commands)).toBe(1);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(await open()).toEqual(clear);
  expect(isAskedForTls(mx.commands)).toBe(2);
});

test.each<[string, FakeMxOptions]>([
  ["STARTTLS", { answers: { starttls: "421 4.3.2 Too busy" } }],
  ["EHLO under TLS", { answersUnderTls: { ehlo: "421 4.3.2 Too busy" } }],
])("a 421 to %s is remembered for ten minutes only: the host may have been busy", async (_step, busy) => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { mx, open } = await startOpener({ tls: "offered", ...busy });
  const clear = { protocol: "clear text", tlsFault: expect.stringMatching(/421 4\.3\.2 Too busy/) };
  expect(await open()).toEqual(clear);
  vi.advanceTimersByTime(11 * MINUTE_MS);
  expect(await open()).toEqual(clear);
  expect(isAskedForTls(mx.commands)).toBe(2);
});

test("a host that also fails in clear text is tried in clear text once more, and then over TLS", async () => {
  const answers: { starttls?: string; banner?: string } = {};
  const { mx, open } = await startOpener({
    tls: "offered",
    answers,
    insteadOfTls: (socket) => {
      answers.banner = "421 4.7.0 One connection at a time";
      socket.destroy();
    },
  });
  const refused = {
    failed: { outcome: "refused", stage: "banner", code: 421 },
    tlsFault: expect.stringMatching(/^TLS handshake failed: /),
  };
  const connections: number[] = [];
  for (const _attempt of [1, 2, 3]) {
    expect(await open()).toMatchObject(refused);
    connections.push(mx.connections);
    // It answers the third attempt, which tries TLS again.
    if (mx.connections === 3) delete answers.banner;
  }
  expect(connections).toEqual([2, 3, 5]);
  expect(isAskedForTls(mx.commands)).toBe(2);
  // The hour begins when it answers.
  delete answers.banner;
  expect(await open()).toMatchObject({ protocol: "clear text" });
  expect(isAskedForTls(mx.commands)).toBe(2);
});

test("a failure in clear text after a TLS failure shows both in the timeline", async () => {
  const answers: { banner?: string } = {};
  const { recorder, transport } = await startSmtpTransport(routeTo({}), {
    mxOptions: {
      tls: "offered",
      answers,
      insteadOfTls: (socket) => {
        answers.banner = "421 4.3.2 Shutting down";
        socket.destroy();
      },
    },
  });
  transport.send(leased("ann"));
  expect(await recorder.waitFor(1)).toMatchObject([
    {
      result: { outcome: "refused", code: 421 },
      tls: { version: null, clear_text_reason: expect.stringMatching(/^TLS handshake failed: /) },
    },
  ]);
});

test("a host without STARTTLS gets its mail in clear text, and the timeline says so", async () => {
  const { recorder, transport } = await startSmtpTransport(routeTo({}));
  transport.send(leased("ann"));
  expect(await recorder.waitFor(1)).toMatchObject([
    { result: { outcome: "accepted" }, tls: { version: null, clear_text_reason: "STARTTLS is not offered" } },
  ]);
});

test.each([
  ["mail", "530 5.7.0 Must issue a STARTTLS command first"],
  ["mail", "523 Encryption needed"],
  ["mail", "550 5.7.1 Verschluesselung erforderlich"],
  ["rcpt", "554 5.7.1 Mail for this domain needs a secure connection"],
  ["data", "450 4.7.1 TLS required"],
])(
  "a host that demands TLS, at %s: %s, defers the message while its TLS fails, and no longer",
  async (stage, refusal) => {
    const answers: Partial<Record<Stage, string>> = { starttls: DROP, [stage]: refusal };
    const usual = { mail: "250 2.1.0 Sender ok", rcpt: "250 2.1.5 Recipient ok", data: "354 Go ahead" };
    const { mx, recorder, transport } = await startSmtpTransport(routeTo({}), {
      mxOptions: { tls: "offered", answers, answersUnderTls: usual },
    });
    transport.send(leased("ann"));
    const [first] = await recorder.waitFor(1);
    expect(first).toMatchObject({
      result: { outcome: "broken", fault: "tls", dataSent: false },
      tls: { version: null, clear_text_reason: expect.stringMatching(/^STARTTLS failed: /) },
    });
    expect(first).toHaveProperty("result.reason", expect.stringContaining(refusal));
    delete answers.starttls;
    transport.send(leased("bob"));
    await recorder.waitFor(2);
    expect(recorder.delivered).toEqual(["bob"]);
    expect(mx.messages).toMatchObject([{ rcptTo: "bob@example.test", tls: true }]);
  },
);

test("a refusal that does not concern TLS is unchanged", async () => {
  const { recorder, transport } = await startSmtpTransport(routeTo({}), { mxOptions: { tls: "broken" } });
  transport.send(leased("unknown"));
  expect(await recorder.waitFor(1)).toMatchObject([{ result: { outcome: "refused", code: 550 } }]);
});
