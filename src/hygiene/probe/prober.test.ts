import { describe, expect, onTestFinished, test } from "vitest";
import { readConfig } from "#platform/config/config.ts";
import { type DnsZone, startFakeDns } from "#test/support/fake-dns.ts";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { DROP, ENDLESS, SLOW } from "#test/support/fake-mx-scripts.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { type ProbeQuestion, type Prober, proberFor, SmtpProber } from "./prober.ts";
import { ProviderRateLimit, type RateLimits } from "./provider-rate-limit.ts";

/** Long enough for a busy machine. Tests that wait for the deadline use SHORT_MS. */
const DEADLINE_MS = 10_000;
const SHORT_MS = 600;

const zone: DnsZone = {
  "mx.example.test": { A: ["127.0.0.1"] },
  "mx2.example.test": { A: ["127.0.0.1"] },
  // An address of this machine on which no server listens.
  "dead.example.test": { A: ["127.0.0.2"] },
  "inside.example.test": { A: ["10.0.0.7", "169.254.169.254"], AAAA: ["::1"] },
  "half.example.test": { A: ["127.0.0.2", "127.0.0.1"] },
  "silent.test": "timeout",
};

const startProber = async (
  port: number,
  options: { allowPrivate?: boolean; rateLimits?: Partial<RateLimits> } = {},
) => {
  const dns = await startFakeDns(zone);
  const prober = new SmtpProber({
    resolver: dns.resolver,
    ehloName: "out.example.test",
    port,
    allowPrivate: options.allowPrivate ?? true,
    rateLimit: new ProviderRateLimit(options.rateLimits),
  });
  onTestFinished(async () => {
    await prober.close();
    await dns.close();
  });
  return prober;
};

const question = (...localparts: string[]): ProbeQuestion => ({
  domain: "example.test",
  hosts: ["mx.example.test"],
  localparts,
  localAddress: null,
  isCatchAllKnown: true,
});

const mxWith = async (options: FakeMxOptions = {}) => {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return { mx, prober: await startProber(mx.port) };
};

/** The verbs of the commands; none may be DATA. */
const verbsOf = (commands: readonly string[]) => {
  const verbs = commands.map((line) => line.split(" ", 1)[0]);
  expect(verbs).not.toContain("DATA");
  return verbs;
};

const one = async (prober: Prober, asked: ProbeQuestion, deadlineMs = DEADLINE_MS) => {
  const begunAt = performance.now();
  const findings = await prober.probe(asked, deadlineMs);
  // Hosts that hang do so for longer than a minute.
  expect(performance.now() - begunAt).toBeLessThan(5_000 + 10 * deadlineMs);
  expect(findings).toHaveLength(asked.localparts.length);
  return findings[0];
};

/** A scripted host; `answer` gives the reply to each command. */
const hostThat = async (answer: (line: string, peer: Peer) => string | undefined) => {
  const heard: string[] = [];
  const peer = await startScriptedPeer(async (peer) => {
    peer.say("220 zoo.example.test\r\n");
    for (let rest = ""; ; ) {
      const lines = (rest + (await peer.hear("\n"))).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        heard.push(line);
        const reply = answer(line, peer) ?? (line === "QUIT" ? "221 bye" : "250 fine");
        if (reply !== "") peer.say(`${reply}\r\n`);
        if (line === "QUIT") peer.socket.end();
      }
    }
  });
  onTestFinished(() => peer[Symbol.asyncDispose]());
  return { heard, prober: await startProber(peer.port) };
};

describe("a host that answers", () => {
  test("and accepts the address is sent MAIL with the null sender, RCPT, RSET and QUIT, and never DATA", async () => {
    const { mx, prober } = await mxWith();
    expect(await one(prober, question("ann"))).toEqual({
      result: "accepted",
      code: 250,
      enhancedCode: "2.1.5",
      message: "Recipient ok",
      mxHost: "mx.example.test",
      port: mx.port,
      tls: false,
      durationMs: expect.any(Number),
      catchAllChecked: false,
      isCatchAll: null,
      isMailboxFull: false,
    });
    expect(mx.commands).toEqual([
      "EHLO out.example.test",
      "MAIL FROM:<>",
      "RCPT TO:<ann@example.test>",
      "RSET",
      "QUIT",
    ]);
  });

  test("and accepts a random local part is a catch-all", async () => {
    const { mx, prober } = await mxWith();
    const asked = { ...question("ann"), isCatchAllKnown: false };
    expect(await one(prober, asked)).toMatchObject({
      result: "accepted",
      catchAllChecked: true,
      isCatchAll: true,
    });
    expect(mx.commands.filter((line) => line.startsWith("RCPT"))).toEqual([
      "RCPT TO:<ann@example.test>",
      expect.stringMatching(/^RCPT TO:<[a-z0-9]{20}@example\.test>$/),
    ]);
    expect(verbsOf(mx.commands).slice(-2)).toEqual(["RSET", "QUIT"]);
  });

  test("and rejects a random local part is no catch-all; two addresses are asked about in one session with three RCPT", async () => {
    const { heard, prober } = await hostThat((line) =>
      line.startsWith("RCPT") && !line.includes("<ann@") ? "550 5.1.1 User unknown" : undefined,
    );
    const asked = { ...question("ann", "bob"), isCatchAllKnown: false };
    expect(await prober.probe(asked, DEADLINE_MS)).toMatchObject([
      { result: "accepted", code: 250, catchAllChecked: true, isCatchAll: false },
      { result: "rejected", code: 550, enhancedCode: "5.1.1", catchAllChecked: true, isCatchAll: false },
    ]);
    expect(verbsOf(heard)).toEqual(["EHLO", "MAIL", "RCPT", "RCPT", "RCPT", "QUIT"]);
  });

  test("and rejects the address gets no catch-all test", async () => {
    const { mx, prober } = await mxWith();
    expect(await one(prober, { ...question("unknown"), isCatchAllKnown: false })).toMatchObject({
      result: "rejected",
      catchAllChecked: false,
      isCatchAll: null,
    });
    expect(verbsOf(mx.commands)).toEqual(["EHLO", "MAIL", "RCPT", "RSET", "QUIT"]);
  });

  test("and offers TLS is asked over TLS", async () => {
    const { mx, prober } = await mxWith({ tls: "offered" });
    expect(await one(prober, question("ann"))).toMatchObject({ result: "accepted", tls: true });
    expect(verbsOf(mx.commands)).toEqual(["EHLO", "STARTTLS", "EHLO", "MAIL", "RCPT", "RSET", "QUIT"]);
  });

  test.each<[string, FakeMxOptions]>([
    ["speaks no TLS", { tls: "broken" }],
    ["refuses STARTTLS with 454", { tls: "refused" }],
    ["refuses STARTTLS with 421", { tls: "offered", answers: { starttls: "421 4.3.0 TLS is broken" } }],
    ["hangs up at STARTTLS", { tls: "offered", answers: { starttls: DROP } }],
    ["hangs up at EHLO under TLS", { tls: "offered", answersUnderTls: { ehlo: DROP } }],
    ["refuses EHLO under TLS", { tls: "offered", answersUnderTls: { ehlo: "451 4.3.0 Later" } }],
  ])("and %s is asked without TLS, also by the next probe", async (_what, options) => {
    const { mx, prober } = await mxWith(options);
    for (const connections of [2, 3]) {
      expect(await one(prober, question("ann"))).toMatchObject({ result: "accepted", tls: false });
      expect(mx.connections).toBe(connections);
    }
    expect(verbsOf(mx.commands).slice(-4)).toEqual(["MAIL", "RCPT", "RSET", "QUIT"]);
  });

  test("and understands only HELO is asked", async () => {
    const { mx, prober } = await mxWith({ esmtp: false });
    expect(await one(prober, question("ann"))).toMatchObject({ result: "accepted" });
    expect(verbsOf(mx.commands)).toEqual(["EHLO", "HELO", "MAIL", "RCPT", "QUIT"]);
  });

  test("is asked about addresses beyond ASCII only if it offers SMTPUTF8", async () => {
    const { mx, prober } = await mxWith();
    expect(await one(prober, question("jürgen"))).toMatchObject({ result: "accepted" });
    expect(mx.commands).toContain("MAIL FROM:<> SMTPUTF8");
    const { prober: other } = await mxWith({ smtpUtf8: false });
    expect(await other.probe(question("jürgen", "ann"), DEADLINE_MS)).toMatchObject([
      { result: "unaskable", code: null },
      { result: "accepted" },
    ]);
  });

  test("is not sent an address that could be a command", async () => {
    const { mx, prober } = await mxWith();
    const injection = await one(prober, question("a>\r\nDATA\r\n<b"));
    expect(injection).toMatchObject({ result: "unaskable", code: null });
    expect(verbsOf(mx.commands)).toEqual(["EHLO", "MAIL", "RSET", "QUIT"]);
  });
});

describe("the reply to RCPT", () => {
  test.each([
    ["250 ok", "accepted"],
    ["251 2.1.5 User not local; will forward", "accepted"],
    ["252 2.1.5 Cannot VRFY user, but will accept message", "error"],
    ["354 go on", "error"],
    ["550 5.1.1 No such user here", "rejected"],
    ["550 no such user (#5.1.1)", "rejected"],
    ["550 5.2.1 The email account that you tried to reach is disabled", "rejected"],
    ["550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", "rejected"],
    ["450 4.7.1 Greylisted, please try again in 300 seconds", "greylisted"],
    ["451 4.7.1 Please try again later", "greylisted"],
    ["450 4.2.0 Recipient address rejected: Greylisted, see http://postgrey.example.test", "greylisted"],
    ["451 4.3.0 Temporary lookup failure", "greylisted"],
    ["450 4.1.1 Recipient address rejected: unverified address", "greylisted"],
    ["554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org", "blocked"],
    ["550 5.1.1 Mail from 192.0.2.1 refused, listed at bl.spamcop.net", "blocked"],
    ["550 5.7.606 Access denied, banned sending IP [192.0.2.1]", "blocked"],
    [
      "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your provider",
      "blocked",
    ],
    ["550 5.7.1 User unknown", "blocked"],
    ["554 5.7.1 <ann@example.test>: Recipient address rejected: Access denied", "blocked"],
    ["550 5.7.25 The IP address sending this message does not have a PTR record", "blocked"],
    ["550 Administrative prohibition", "blocked"],
    ["554 5.7.1 Relay access denied", "blocked"],
    ["550 Sender verify failed", "blocked"],
    ["553 sorry, that domain isn't in my list of allowed rcpthosts", "blocked"],
    ["421 4.7.0 Too many connections from your host", "blocked"],
    ["450 4.7.1 Client host rejected: cannot find your reverse hostname", "blocked"],
    ["550", "blocked"],
    ["503 5.5.1 Bad sequence of commands", "error"],
  ])("%s: %s", async (rcpt, result) => {
    const { mx, prober } = await mxWith({ answers: { rcpt } });
    const found = await one(prober, { ...question("ann"), isCatchAllKnown: result === "accepted" });
    expect(found).toMatchObject({
      result,
      code: Number(rcpt.slice(0, 3)),
      isMailboxFull: false,
      isCatchAll: null,
    });
    const verbs = verbsOf(mx.commands);
    if (!rcpt.startsWith("421")) expect(verbs.slice(-3)).toEqual(["RCPT", "RSET", "QUIT"]);
  });

  test.each(["452 4.2.2 Mailbox full", "552 5.2.2 Over quota"])(
    "%s means that the mailbox exists",
    async (rcpt) => {
      const { prober } = await mxWith({ answers: { rcpt } });
      expect(await one(prober, question("ann"))).toMatchObject({ result: "accepted", isMailboxFull: true });
    },
  );

  test("421 counts for both local parts and ends the session", async () => {
    const { mx, prober } = await mxWith();
    expect(await prober.probe(question("busy", "ann"), DEADLINE_MS)).toMatchObject([
      { result: "blocked", code: 421 },
      { result: "blocked", code: 421 },
    ]);
    expect(verbsOf(mx.commands)).toEqual(["EHLO", "MAIL", "RCPT"]);
  });

  test("a long text with control characters is made printable and cut", async () => {
    const { prober } = await mxWith({ answers: { rcpt: `550 5.1.1 a\x00b \x1b[31m ${"x".repeat(1_500)}` } });
    const found = await one(prober, question("ann"));
    expect(found?.message).toHaveLength(500);
    expect(found?.message).toMatch(/^a\\x00b \\x1b\[31m x+$/);
  });
});

describe("a host that refuses before RCPT", () => {
  test.each([
    ["banner", "554 5.7.1 go away", "blocked"],
    ["banner", "550 5.1.1 unknown", "blocked"],
    ["banner", "421 4.3.2 come back later", "greylisted"],
    ["banner", "421 4.7.0 Too many connections from your IP", "blocked"],
    ["ehlo", "550 5.7.1 I know you", "blocked"],
    ["mail", "550 5.7.1 no null sender here", "blocked"],
    ["mail", "501 5.5.4 Syntax error", "blocked"],
    ["mail", "451 4.7.1 Greylisted", "greylisted"],
  ] as const)("at %s with %s gives %s, and no other host is asked", async (stage, answer, result) => {
    const { mx, prober } = await mxWith({ answers: { [stage]: answer } });
    const asked = { ...question("ann", "bob"), hosts: ["mx.example.test", "mx2.example.test"] };
    const finding = {
      result,
      code: Number(answer.slice(0, 3)),
      mxHost: "mx.example.test",
      isMailboxFull: false,
    };
    expect(await prober.probe(asked, DEADLINE_MS)).toMatchObject([finding, finding]);
    const verbs = verbsOf(mx.commands);
    expect(verbs).not.toContain("RCPT");
    if (!answer.startsWith("421")) expect(verbs.at(-1)).toBe("QUIT");
    expect(mx.connections).toBe(1);
  });
});

describe("a host that misbehaves", () => {
  test.each([
    ["hangs up at RCPT", DROP, "error"],
    ["talks without end", ENDLESS, "error"],
    ["talks nonsense", "\x00\x01 garbage", "error"],
    ["sends a line without end", `550 ${"x".repeat(100_000)}`, "error"],
  ])("%s", async (_, rcpt, result) => {
    const { mx, prober } = await mxWith({ answers: { rcpt } });
    const asked = {
      ...question("ann", "bob"),
      hosts: ["mx.example.test", "mx2.example.test"],
      isCatchAllKnown: false,
    };
    expect(await prober.probe(asked, DEADLINE_MS)).toMatchObject([
      { result, code: null, isCatchAll: null },
      { result, code: null },
    ]);
    verbsOf(mx.commands);
    expect(mx.connections).toBe(1);
  });

  test("that never answers RCPT is sent QUIT at the deadline", async () => {
    const { heard, prober } = await hostThat((line) => (line.startsWith("RCPT") ? "" : undefined));
    expect(await one(prober, question("ann"), SHORT_MS)).toMatchObject({ result: "timeout", code: null });
    expect(verbsOf(heard)).toEqual(["EHLO", "MAIL", "RCPT", "QUIT"]);
  });

  test("that answers only the first RCPT in time gives one result and one timeout", async () => {
    const { prober } = await hostThat((line) => (line.includes("<bob@") ? "" : undefined));
    expect(await prober.probe(question("ann", "bob"), SHORT_MS)).toMatchObject([
      { result: "accepted" },
      { result: "timeout" },
    ]);
  });

  test("that sends a byte now and then does not extend the deadline", async () => {
    const { prober } = await hostThat((line, peer) => {
      if (!line.startsWith("RCPT")) return undefined;
      const drip = setInterval(() => peer.say("2"), 50);
      peer.socket.on("close", () => clearInterval(drip));
      return "";
    });
    expect(await one(prober, question("ann"), SHORT_MS)).toMatchObject({
      result: expect.stringMatching(/timeout|error/),
    });
  });

  test.each(["banner", "ehlo", "mail"] as const)(
    "that is silent at %s gives a timeout at the deadline",
    async (stage) => {
      const { mx, prober } = await mxWith({ answers: { [stage]: SLOW }, slowMs: 60_000 });
      expect(await one(prober, question("ann"), SHORT_MS)).toMatchObject({ result: "timeout" });
      verbsOf(mx.commands);
    },
  );

  test("a deadline of zero is a timeout", async () => {
    const { prober } = await mxWith();
    for (const deadlineMs of [0, -5])
      expect(await one(prober, question("ann"), deadlineMs)).toMatchObject({ result: "timeout" });
  });

  test("that is silent after STARTTLS is asked without TLS while there is time", async () => {
    const { heard, prober } = await hostThat((line) => {
      if (line.startsWith("EHLO")) return "250-hi\r\n250 STARTTLS";
      return line === "STARTTLS" ? "220 go" : undefined;
    });
    expect(await one(prober, question("ann"), 3_000)).toMatchObject({ result: "accepted", tls: false });
    expect(verbsOf(heard).slice(-4)).toEqual(["EHLO", "MAIL", "RCPT", "QUIT"]);
  });
});

describe("the host that is asked", () => {
  test("is the second when the first refuses the connection; the first is then skipped for a while", async () => {
    const { mx, prober } = await mxWith();
    const asked = { ...question("ann"), hosts: ["dead.example.test", "mx.example.test"] };
    expect(await one(prober, asked)).toMatchObject({ result: "accepted", mxHost: "mx.example.test" });
    expect(await one(prober, { ...asked, hosts: ["dead.example.test"] })).toMatchObject({
      result: "error",
      mxHost: "dead.example.test",
      message: expect.stringContaining("ECONNREFUSED"),
    });
    expect(mx.connections).toBe(1);
  });

  test("is tried at its second address when the first refuses the connection", async () => {
    const { prober } = await mxWith();
    expect(await one(prober, { ...question("ann"), hosts: ["half.example.test"] })).toMatchObject({
      result: "accepted",
    });
  });

  test("is the second when the first hangs up before RCPT", async () => {
    const { mx, prober } = await mxWith({ answers: { mail: DROP } });
    const asked = { ...question("ann"), hosts: ["mx.example.test", "mx2.example.test"] };
    expect(await one(prober, asked)).toMatchObject({ result: "error", mxHost: "mx2.example.test" });
    expect(mx.connections).toBe(2);
  });

  test.each(["inside.example.test", "mx.example.test", "127.0.0.1", "10.0.0.7", "[::1]", "localhost"])(
    "is never one with a private address: %s",
    async (host) => {
      const mx = await startFakeMx();
      onTestFinished(() => mx.close());
      const prober = await startProber(mx.port, { allowPrivate: false });
      expect(await one(prober, { ...question("ann"), hosts: [host] })).toMatchObject({
        result: "error",
        code: null,
      });
      expect(mx.connections).toBe(0);
    },
  );

  test("is none when there is none, or its name does not resolve", async () => {
    const { prober } = await mxWith();
    expect(await one(prober, { ...question("ann"), hosts: [] })).toMatchObject({
      result: "error",
      mxHost: null,
    });
    for (const host of ["gone.example.test", "silent.test"]) {
      expect(await one(prober, { ...question("ann"), hosts: [host] })).toMatchObject({
        result: "error",
        mxHost: host,
      });
    }
  });

  test("is asked from the given source address, and not at all if this machine does not have it", async () => {
    const { mx, prober } = await mxWith();
    expect(await one(prober, { ...question("ann"), localAddress: "127.0.0.3" })).toMatchObject({
      result: "accepted",
    });
    expect(await one(prober, { ...question("ann"), localAddress: "192.0.2.1" })).toMatchObject({
      result: "error",
    });
    expect(await one(prober, { ...question("ann"), localAddress: "::1" })).toMatchObject({ result: "error" });
    expect(mx.connections).toBe(1);
  });
});

describe("a prober", () => {
  test("has one session at a time with a provider, however many probes run", async () => {
    let open = 0;
    let most = 0;
    const { heard, prober } = await hostThat((line) => {
      if (line.startsWith("EHLO")) most = Math.max(most, ++open);
      if (line === "QUIT") open--;
      return undefined;
    });
    const asked = ["mx.example.test", "mx2.example.test"].map((host) => ({
      ...question("ann"),
      hosts: [host],
    }));
    const findings = await Promise.all([...asked, ...asked, ...asked].map((each) => one(prober, each)));
    expect(new Set(findings.map((finding) => finding?.result))).toEqual(new Set(["accepted"]));
    expect(heard.filter((line) => line === "QUIT")).toHaveLength(6);
    expect(most).toBe(1);
  });

  test("gives rate_limited when the rate limit leaves no time, and does not connect", async () => {
    const mx = await startFakeMx();
    onTestFinished(() => mx.close());
    const prober = await startProber(mx.port, { rateLimits: { perMinute: 1 } });
    expect(await one(prober, question("ann"))).toMatchObject({ result: "accepted" });
    expect(await one(prober, question("bob"), SHORT_MS)).toMatchObject({
      result: "rate_limited",
      message: expect.stringContaining("rate limit"),
      mxHost: null,
    });
    expect(mx.connections).toBe(1);
  });

  test("throws for more than two local parts", async () => {
    const { prober } = await mxWith();
    await expect(prober.probe(question("a", "b", "c"), DEADLINE_MS)).rejects.toThrow(RangeError);
  });

  test("that is closed ends its sessions with QUIT and begins no more", async () => {
    const asked = Promise.withResolvers<void>();
    const { heard, prober } = await hostThat((line) => {
      if (!line.startsWith("RCPT")) return undefined;
      asked.resolve();
      return "";
    });
    const finding = one(prober, question("ann"));
    const waiting = one(prober, question("bob"));
    await asked.promise;
    await prober.close();
    expect(await finding).toMatchObject({ result: "stopped", message: "the service is stopping" });
    expect(await waiting).toMatchObject({ result: "stopped", message: "the service is stopping" });
    expect(await one(prober, question("cid"))).toMatchObject({ result: "stopped" });
    expect(verbsOf(heard)).toEqual(["EHLO", "MAIL", "RCPT", "QUIT"]);
  });
});

test("there is a prober only where this installation delivers mail itself and VALIDATION_PROBE is not off", async () => {
  expect(proberFor(readConfig({}))).toBeNull();
  expect(proberFor(readConfig({ MAIL_MODE: "relay", RELAY_URL: "smtp://127.0.0.1" }))).toBeNull();
  expect(proberFor(readConfig({ MAIL_MODE: "direct", VALIDATION_PROBE: "off" }))).toBeNull();
  const prober = proberFor(readConfig({ MAIL_MODE: "direct" }));
  expect(prober).not.toBeNull();
  await prober?.close();
});
