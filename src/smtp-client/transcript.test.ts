import { expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { DROP, SLOW } from "#test/support/fake-mx-scripts.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { password, startSmartHost } from "#test/support/smart-host.ts";
import { type SmtpDeadlines, standardDeadlines } from "./deadlines.ts";
import { openSession, type SessionOptions } from "./session.ts";
import { Transcript } from "./transcript.ts";

const hasty = (...steps: (keyof SmtpDeadlines)[]): SmtpDeadlines => ({
  ...standardDeadlines,
  ...Object.fromEntries(steps.map((step) => [step, 100])),
});

const mail = (localPart: string, body = "Hello\r\n") => ({
  mailFrom: "b.1@bounce.test",
  rcptTo: `${localPart}@example.test`,
  message: Buffer.from(`Message-ID: <${localPart}@out.example.test>\r\n\r\n${body}`),
  smtpUtf8: false,
});

/** The lines without their times: the side that sent each, and its text. */
const said = (transcript: Transcript) => transcript.lines.map(({ from, text }) => `${from}: ${text}`);

async function open(port: number, options: Partial<SessionOptions> = {}) {
  const opening = new Transcript();
  const target = { host: "mx.example.test", address: "127.0.0.1", port, ehloName: "out.example.test" };
  const result = await openSession({ ...target, tls: "none", transcript: opening, ...options });
  const session = result.outcome === "open" ? result.session : undefined;
  onTestFinished(() => session?.destroy());
  return { opening, session };
}

async function openOn(options: FakeMxOptions, session: Partial<SessionOptions> = {}) {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return open(mx.port, session);
}

async function openOnScript(play: (peer: Peer) => Promise<void>, options?: Partial<SessionOptions>) {
  const peer = await startScriptedPeer(play);
  onTestFinished(() => peer[Symbol.asyncDispose]());
  return open(peer.port, options);
}

async function transcriptOf(
  { session }: Awaited<ReturnType<typeof open>>,
  localPart: string,
  body?: string,
): Promise<Transcript> {
  const transcript = new Transcript();
  await session?.send(mail(localPart, body), undefined, transcript);
  return transcript;
}

test("an opening has the connection, the greeting, EHLO and the TLS that was agreed", async () => {
  const { opening } = await openOn({ tls: "offered" }, { tls: "opportunistic" });
  const lines = said(opening);
  expect(lines[0]).toMatch(/^connection: connecting to mx\.example\.test \[127\.0\.0\.1\] on port \d+$/);
  expect(lines[1]).toBe("connection: connected from 127.0.0.1");
  expect(lines[2]).toMatch(/^server: 220 /);
  expect(lines[3]).toBe("client: EHLO out.example.test");
  expect(lines).toContain("client: STARTTLS");
  const secured = lines.findIndex((line) => line.startsWith("connection: TLSv1.3 with TLS_"));
  expect(lines[secured]).toMatch(/, certificate not verified$/);
  expect(lines[secured + 1]).toBe("client: EHLO out.example.test");
});

test.each([[true], [false]])(
  "a delivered message shows its commands and replies in order, and its size in place of the body (pipelining %s)",
  async (pipelining) => {
    const opened = await openOn({ pipelining });
    const lines = said(await transcriptOf(opened, "ann", "the secret body\r\n"));
    const bytes = mail("ann", "the secret body\r\n").message.length;
    expect(lines.filter((line) => line.startsWith("client"))).toEqual([
      `client: MAIL FROM:<b.1@bounce.test> SIZE=${bytes}`,
      "client: RCPT TO:<ann@example.test>",
      "client: DATA",
      `client: (message of ${bytes} bytes)`,
    ]);
    expect(lines.filter((line) => line.startsWith("server")).map((line) => line.slice(8, 11))).toEqual([
      "250",
      "250",
      "354",
      "250",
    ]);
    expect(lines.at(-1)).toMatch(/^server: 250 2\.0\.0/);
    expect(lines.join()).not.toContain("the secret body");
  },
);

test("messages on one connection do not see each other's lines, also where their commands overlap", async () => {
  const opened = await openOn({});
  const names = ["ann", "unknown", "bob", "reject-at-dot", "cyd"];
  const transcripts = await Promise.all(names.map((name) => transcriptOf(opened, name)));
  for (const [at, transcript] of transcripts.entries()) {
    const text = said(transcript).join("\n");
    for (const name of names) expect(text.includes(`<${name}@`)).toBe(name === names[at]);
  }
  expect(said(transcripts[1] ?? new Transcript())).toContain("server: 550 5.1.1 No such user here");
  expect(said(transcripts[2] ?? new Transcript()).at(-1)).toMatch(/^server: 250/);
  expect(said(transcripts[3] ?? new Transcript()).at(-1)).toBe("server: 554 5.7.1 Message content rejected");
});

test("a deferred recipient's last line is the refusal", async () => {
  const lines = said(await transcriptOf(await openOn({ pipelining: false }), "tempfail"));
  expect(lines.slice(-2)).toEqual([
    "client: RCPT TO:<tempfail@example.test>",
    "server: 451 4.3.0 Temporary failure",
  ]);
});

test("after a timeout the last line says what was waited for, and how long", async () => {
  const opened = await openOn({ slowMs: 5_000 }, { deadlines: hasty("dot") });
  expect(said(await transcriptOf(opened, "slow")).at(-1)).toBe(
    "connection: no reply to the message within 0.1 seconds",
  );
});

test("a server that never greets ends the opening with what was waited for", async () => {
  const { opening } = await openOnScript(async () => {}, { deadlines: hasty("banner") });
  expect(said(opening).at(-1)).toBe("connection: no greeting of the server within 0.1 seconds");
});

test("a server that answers nothing but the first lines of a reply shows these lines", async () => {
  const { opening } = await openOnScript(
    async (peer) => {
      peer.say("220 hi\r\n");
      await peer.hear("EHLO");
      peer.say("250-one\r\n250-two\r\n");
    },
    { deadlines: hasty("ehlo") },
  );
  expect(said(opening).slice(-3)).toEqual([
    "server: 250-one",
    "server: 250-two",
    "connection: no reply to EHLO within 0.1 seconds",
  ]);
});

test("a connection that breaks says so once, however many replies were awaited", async () => {
  const lines = said(await transcriptOf(await openOn({}), "drop-at-rcpt"));
  expect(lines.at(-1)).toMatch(/^connection: the server closed the connection/);
  expect(lines.filter((line) => line.startsWith("connection"))).toHaveLength(1);
});

test("a failed TLS handshake is the last line of the opening", async () => {
  const { opening, session } = await openOn(
    { tls: "offered", answers: { starttls: DROP } },
    { tls: "required" },
  );
  expect(session).toBeUndefined();
  expect(said(opening).slice(-2)).toEqual([
    "client: STARTTLS",
    expect.stringMatching(/^connection: the server closed the connection/),
  ]);
});

test.each([["PLAIN"], ["LOGIN"]])(
  "credentials are left out of AUTH %s, and the line says so",
  async (method) => {
    const host = await startSmartHost({ authMethods: [method] });
    onTestFinished(() => host.close());
    const { opening, session } = await open(host.port, { credentials: { user: "shop", password } });
    expect(session).toBeDefined();
    const lines = said(opening);
    expect(lines).toContain(
      method === "PLAIN" ? "client: AUTH PLAIN (credentials left out)" : "client: (password left out)",
    );
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    for (const secret of [password, base64(password), base64(`\0shop\0${password}`), base64("shop")]) {
      expect(lines.join("\n")).not.toContain(secret);
    }
  },
);

test("of a greeting without end the beginning and the end are kept, and a line says how much is missing", async () => {
  const { opening } = await openOnScript(async (peer) => {
    for (let n = 0; n < 500; n++) peer.say(`220-line ${n} ${"x".repeat(300)}\r\n`);
  });
  const { lines } = opening;
  expect(lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(4_200);
  const texts = lines.map(({ text }) => text);
  expect(texts).toContainEqual(expect.stringMatching(/^220-line 0 /));
  expect(texts).toContainEqual(expect.stringMatching(/^\d+ lines of [\d,]+ bytes left out$/));
  expect(texts.at(-1)).toMatch(/^a reply without end: 220/);
});

test("a transaction is bounded, too, and long lines are cut", async () => {
  const opened = await openOnScript(async (peer) => {
    peer.say("220 hi\r\n");
    await peer.hear("EHLO");
    peer.say("250 hi\r\n");
    await peer.hear("MAIL");
    for (let n = 0; n < 30; n++) peer.say(`550-${n} ${"é".repeat(900)}\r\n`);
    peer.say("550 enough\r\n");
    await peer.hear("RSET");
    peer.say("250 ok\r\n");
  });
  const { lines } = await transcriptOf(opened, "ann");
  expect(lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(4_200);
  expect(Math.max(...lines.map(({ text }) => text.length))).toBeLessThanOrEqual(501);
  expect(lines.at(-1)?.text).toBe("550 enough");
});

test("control characters and octets that are not UTF-8 are escaped", async () => {
  const lines = said(await transcriptOf(await openOn({}), "odd-text"));
  expect(lines).toContain("server: 550 5.1.1 a\\x00b \\xff\\xfe \\x1b[31mred");
});

test("each line has the time when it was written or heard", async () => {
  const { lines } = (await openOn({ slowMs: 50, answers: { banner: SLOW } })).opening;
  const timeOf = (start: string) => lines.find(({ text }) => text.startsWith(start))?.time ?? 0;
  expect(timeOf("220 ") - timeOf("connected")).toBeGreaterThanOrEqual(40);
  expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).sort((a, b) => a - b));
});

test("a message that the server's limits exclude says why nothing was sent", async () => {
  const opened = await openOnScript(async (peer) => {
    peer.say("220 hi\r\n");
    await peer.hear("EHLO");
    peer.say("250-hi\r\n250 SIZE 10\r\n");
  });
  expect(said(await transcriptOf(opened, "ann"))).toEqual([
    expect.stringMatching(/^connection: not sent: \d+ octets are more than the receiver's 10$/),
  ]);
});
