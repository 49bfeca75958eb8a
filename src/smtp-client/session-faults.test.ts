/** Peers that vanish, hang or talk nonsense: the result says what is known about the message. */
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { DROP, ENDLESS, SLOW } from "#test/support/fake-mx-scripts.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { type SmtpDeadlines, standardDeadlines } from "./deadlines.ts";
import { openSession, type SessionOptions, type SmtpSession } from "./session.ts";

/** Short only for the step that the test waits for: a busy machine must not fail the other steps. */
const hasty = (...steps: (keyof SmtpDeadlines)[]): SmtpDeadlines => ({
  ...standardDeadlines,
  ...Object.fromEntries(steps.map((step) => [step, 100])),
});

const attempt = (port: number, options: Partial<SessionOptions> = {}) =>
  openSession({
    host: "mx.example.test",
    address: "127.0.0.1",
    port,
    ehloName: "out.example.test",
    tls: "none",
    ...options,
  });

const open = async (port: number, options?: Partial<SessionOptions>): Promise<SmtpSession> => {
  const result = await attempt(port, options);
  if (result.outcome !== "open") throw new Error(JSON.stringify(result));
  onTestFinished(() => result.session.destroy());
  return result.session;
};

const mxWith = async (options: FakeMxOptions = {}) => {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return mx;
};

const scripted = async (play: (peer: Peer) => Promise<void>) => {
  const peer = await startScriptedPeer(play);
  onTestFinished(() => peer[Symbol.asyncDispose]());
  return peer.port;
};

const welcome = async (peer: Peer, offers = "250 PIPELINING") => {
  peer.say("220 hi\r\n");
  await peer.hear("EHLO");
  peer.say(`250-hi\r\n${offers}\r\n`);
};

const mail = (localPart: string, body = "Hello\r\n") => ({
  mailFrom: "b.1@bounce.test",
  rcptTo: `${localPart}@example.test`,
  message: Buffer.from(`Message-ID: <${localPart}@out.example.test>\r\n\r\n${body}`),
  smtpUtf8: false,
});

describe("no session", () => {
  test("nobody listens on the port", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    await new Promise((resolve) => server.close(resolve));
    expect(await attempt(port)).toMatchObject({
      outcome: "broken",
      stage: "connect",
      fault: "unreachable",
      reason: expect.stringMatching(/ECONNREFUSED/),
      dataSent: false,
      tlsFailed: false,
    });
  });

  test("a source address that this machine does not have", async () => {
    const mx = await mxWith();
    expect(await attempt(mx.port, { localAddress: "192.0.2.1" })).toMatchObject({
      stage: "connect",
      fault: "unreachable",
    });
  });

  test.each([
    ["banner", "421 4.7.0 busy", 421],
    ["banner", "554 5.7.1 go away", 554],
    ["ehlo", "421 4.7.0 busy", 421],
    ["ehlo", "450 4.7.0 later", 450],
    ["ehlo", "550 5.7.1 never", 550],
  ])("at %s: %s", async (stage, answer, code) => {
    const mx = await mxWith({ answers: { [stage]: answer } });
    expect(await attempt(mx.port)).toMatchObject({ outcome: "refused", stage, code, tlsFailed: false });
  });

  test.each(["banner", "ehlo"])("a peer that vanishes at %s", async (stage) => {
    const mx = await mxWith({ answers: { [stage]: DROP } });
    expect(await attempt(mx.port)).toMatchObject({
      outcome: "broken",
      stage,
      fault: "closed",
      dataSent: false,
    });
  });

  test.each(["banner", "ehlo"] as const)("a peer that is silent at %s", async (stage) => {
    const mx = await mxWith({ answers: { [stage]: SLOW }, slowMs: 60_000 });
    expect(await attempt(mx.port, { deadlines: hasty(stage) })).toMatchObject({
      outcome: "broken",
      stage,
      fault: "timeout",
    });
  });

  test.each([
    ["999 hi\r\n"],
    ["25\r\n"],
    ["HTTP/1.1 400 Bad Request\r\n"],
    ["\x16\x03\x01\x00\x00\r\n"],
    ["354 go on\r\n"],
    ["x".repeat(100_000)],
    ["220-hi\r\n".repeat(5_000)],
  ])("a banner of %j", async (banner) => {
    const port = await scripted(async (peer) => peer.say(banner));
    const result = await attempt(port);
    expect(result).toMatchObject({ outcome: "broken", stage: "banner", fault: "protocol" });
    expect(JSON.stringify(result).length).toBeLessThan(400);
  });

  test("a second banner instead of the reply to EHLO, whether the reply follows or not", async () => {
    for (const rest of ["", "250 hi\r\n"]) {
      const port = await scripted(async (peer) => {
        peer.say("220 hi\r\n");
        await peer.hear("EHLO");
        peer.say(`220 hi again\r\n${rest}`);
      });
      expect(await attempt(port)).toMatchObject({
        outcome: "broken",
        stage: "ehlo",
        fault: "protocol",
        reason: 'the server answered EHLO with "220 hi again"',
      });
    }
  });

  test("a reply before its command", async () => {
    const port = await scripted(async (peer) => peer.say("220 hi\r\n250 fine, whatever you say\r\n"));
    expect(await attempt(port)).toMatchObject({ outcome: "broken", stage: "ehlo", fault: "protocol" });
  });

  test("a peer that sends its banner byte by byte gets no more time than a silent one", async () => {
    const port = await scripted(async (peer) => {
      const dribble = setInterval(() => peer.say("220-still here\r\n"), 20);
      peer.socket.on("close", () => clearInterval(dribble));
    });
    expect(await attempt(port, { deadlines: hasty("banner") })).toMatchObject({
      stage: "banner",
      fault: "timeout",
    });
  });
});

describe("421 closes the session at any stage", () => {
  test.each([
    ["mail", "mail"],
    ["rcpt", "rcpt"],
    ["data", "data"],
    ["dot", "dot"],
  ])("at %s", async (at, stage) => {
    for (const pipelining of [true, false]) {
      const mx = await mxWith({ pipelining, answers: { [at]: "421 4.3.2 shutting down" } });
      const session = await open(mx.port);
      expect(await session.send(mail("ann"))).toMatchObject({ outcome: "refused", stage, code: 421 });
      expect(session.isOpen).toBe(false);
      expect(await session.send(mail("ann"))).toMatchObject({
        outcome: "broken",
        stage: "mail",
        dataSent: false,
      });
      expect(mx.received).toBe(0);
    }
  });

  test("for one recipient", async () => {
    const mx = await mxWith();
    const session = await open(mx.port);
    const results = await Promise.all([session.send(mail("busy")), session.send(mail("ann"))]);
    expect(results).toMatchObject([
      { outcome: "refused", stage: "rcpt", code: 421, enhanced: "4.7.0" },
      { outcome: "broken", stage: "mail", fault: "closed", dataSent: false },
    ]);
  });

  test("between messages, unasked", async () => {
    const idle = Promise.withResolvers<void>();
    const port = await scripted(async (peer) => {
      await welcome(peer);
      peer.say("421 4.4.2 idle for too long\r\n");
      peer.socket.on("close", () => idle.resolve());
    });
    const session = await open(port);
    await idle.promise;
    expect(session.isOpen).toBe(false);
    expect(await session.send(mail("ann"))).toMatchObject({
      outcome: "broken",
      stage: "mail",
      fault: "closed",
      reason: expect.stringMatching(/idle for too long/),
    });
  });
});

describe("a peer that vanishes", () => {
  test.each([
    ["drop-at-mail", "mail", false],
    ["drop-at-rcpt", "rcpt", false],
    ["drop-at-data", "data", false],
    ["drop-in-data", "dot", true],
    ["drop-after-dot", "dot", true],
  ])("%s", async (name, stage, dataSent) => {
    const mx = await mxWith();
    const session = await open(mx.port);
    expect(await session.send(mail(name))).toMatchObject({
      outcome: "broken",
      stage,
      fault: "closed",
      dataSent,
    });
    expect(session.isOpen).toBe(false);
    expect(mx.received).toBe(name === "drop-after-dot" ? 1 : 0);
  });

  test("in the middle of a large body: the final dot was not sent", async () => {
    const mx = await mxWith();
    const session = await open(mx.port);
    const large = mail("drop-in-data", "0123456789\r\n".repeat(3_000_000));
    expect(await session.send(large)).toMatchObject({ outcome: "broken", stage: "dot", dataSent: false });
  });

  test("after the dot, with another message queued: only the first may have been delivered", async () => {
    const mx = await mxWith();
    const session = await open(mx.port);
    const results = await Promise.all(
      ["drop-after-dot", "ann", "bob"].map((name) => session.send(mail(name))),
    );
    expect(results).toMatchObject([
      { outcome: "broken", stage: "dot", dataSent: true },
      { outcome: "broken", stage: "mail", dataSent: false },
      { outcome: "broken", stage: "mail", dataSent: false },
    ]);
  });

  test("a retry after the dot delivers one more copy under the same Message-ID", async () => {
    const mx = await mxWith();
    for (const outcome of ["broken", "accepted"]) {
      const session = await open(mx.port);
      expect(await session.send(mail("drop-after-dot-once"))).toMatchObject({ outcome });
    }
    expect([...mx.copies.values()]).toEqual([2]);
  });

  test("destroy resolves the pending send", async () => {
    const mx = await mxWith({ answers: { dot: SLOW }, slowMs: 60_000 });
    const session = await open(mx.port);
    const sending = session.send(mail("ann"));
    session.destroy();
    expect(await sending).toMatchObject({ outcome: "broken", fault: "closed" });
    await session.quit();
  });
});

describe("a peer that is slow", () => {
  test.each(["mail", "rcpt", "data", "dot"] as const)("beyond the deadline at %s", async (stage) => {
    const mx = await mxWith({ answers: { [stage]: SLOW }, slowMs: 60_000 });
    const session = await open(mx.port, { deadlines: hasty(stage) });
    expect(await session.send(mail("ann"))).toMatchObject({
      outcome: "broken",
      stage,
      fault: "timeout",
      dataSent: stage === "dot",
    });
    expect(session.isOpen).toBe(false);
  });

  test("a slow peer within the deadlines is waited for, with a new deadline for each stage", async () => {
    const mx = await mxWith({ answers: { mail: SLOW, rcpt: SLOW, data: SLOW, dot: SLOW }, slowMs: 300 });
    const second = 1_000;
    const deadlines = { ...standardDeadlines, mail: second, rcpt: second, data: second, dot: second };
    const session = await open(mx.port, { deadlines });
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
  });

  test("an idle session has no deadline", async () => {
    const mx = await mxWith();
    const session = await open(mx.port, { deadlines: { ...standardDeadlines, dot: 300 } });
    await session.send(mail("ann"));
    const slow = await mxWith({ answers: { banner: SLOW }, slowMs: 400 });
    await open(slow.port);
    expect(session.isOpen).toBe(true);
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
  });

  test("a peer that stops reading the body runs into the deadline of a block", async () => {
    const port = await scripted(async (peer) => {
      await welcome(peer);
      await peer.hear("DATA\r\n");
      peer.say("250 ok\r\n250 ok\r\n354 go\r\n");
      peer.socket.pause();
    });
    const session = await open(port, { deadlines: hasty("block") });
    const large = mail("ann", "0123456789\r\n".repeat(3_000_000));
    expect(await session.send(large)).toMatchObject({ outcome: "broken", fault: "timeout", dataSent: false });
  });

  test("quit returns although the server does not answer QUIT", async () => {
    const port = await scripted((peer) => welcome(peer));
    await (await open(port, { deadlines: hasty("quit") })).quit();
  });
});

describe("a reply with two codes", () => {
  test.each(["banner", "ehlo"])(
    "of one class at %s is a refusal with the last line's code",
    async (stage) => {
      const mx = await mxWith({ answers: { [stage]: "550-5.7.1 No\r\n554 5.7.1 mail for you" } });
      expect(await attempt(mx.port)).toMatchObject({ outcome: "refused", stage, code: 554 });
    },
  );

  test.each(["mail", "rcpt", "data", "dot"])(
    "of one class at %s is a refusal with the last line's code, and the session goes on",
    async (stage) => {
      for (const pipelining of [true, false]) {
        const answers = { [stage]: "550-5.1.1 <ann@example.test>\r\n554 5.1.1 User unknown" };
        const mx = await mxWith({ pipelining, answers });
        const session = await open(mx.port);
        expect(await session.send(mail("ann"))).toEqual({
          outcome: "refused",
          stage,
          code: 554,
          enhanced: "5.1.1",
          text: "<ann@example.test> User unknown",
        });
        expect(session.isOpen).toBe(true);
      }
    },
  );

  test("of two classes ends the session, and the text is kept", async () => {
    const mx = await mxWith();
    const session = await open(mx.port);
    expect(await session.send(mail("two-classes"))).toMatchObject({
      outcome: "broken",
      stage: "rcpt",
      fault: "protocol",
      reason: 'a reply with two codes: 550 and 450: "5.1.1 User unknown 4.2.0 Try again"',
    });
  });
});

describe("a peer that talks nonsense", () => {
  test.each([
    ["garbage", "rcpt"],
    ["wrong-code", "rcpt"],
    ["short-code", "rcpt"],
    ["long-line", "rcpt"],
    ["endless-reply", "rcpt"],
    ["data-without-go", "data"],
    ["go-at-mail", "mail"],
  ])("%s is a broken conversation, not a rejection", async (name, stage) => {
    for (const pipelining of [true, false]) {
      const mx = await mxWith({ pipelining });
      const session = await open(mx.port);
      const expected = name === "go-at-mail" && !pipelining ? "rcpt" : stage;
      const result = await session.send(mail(name));
      expect(result).toMatchObject({
        outcome: "broken",
        stage: expected,
        fault: "protocol",
        dataSent: false,
      });
      expect(JSON.stringify(result).length).toBeLessThan(400);
      expect(session.isOpen).toBe(false);
      expect(mx.received).toBe(0);
    }
  });

  test("nonsense after the dot leaves open whether the message was delivered", async () => {
    for (const answer of [ENDLESS, "354 more, please", "what?"]) {
      const mx = await mxWith({ answers: { dot: answer } });
      const session = await open(mx.port);
      expect(await session.send(mail("ann"))).toMatchObject({
        outcome: "broken",
        stage: "dot",
        dataSent: true,
      });
    }
  });

  test("an extra reply is never taken for the reply to the next command", async () => {
    const port = await scripted(async (peer) => {
      await welcome(peer);
      await peer.hear("DATA\r\n");
      peer.say("250 ok\r\n250 ok\r\n354 go\r\n");
      await peer.hear("\r\n.\r\n");
      peer.say("250 done\r\n250 and done again\r\n");
    });
    const session = await open(port);
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
    expect(await session.send(mail("bob"))).toMatchObject({
      outcome: "broken",
      stage: "mail",
      dataSent: false,
    });
  });

  test.each([
    ["a refusal", "552 5.3.4 too large\r\n", { outcome: "refused", stage: "dot", code: 552 }],
    ["an acceptance", "250 ok\r\n", { outcome: "broken", stage: "dot", fault: "protocol", dataSent: false }],
  ])("%s in the middle of the body ends the session", async (_case, reply, expected) => {
    const port = await scripted(async (peer) => {
      await welcome(peer);
      await peer.hear("DATA\r\n");
      peer.say("250 ok\r\n250 ok\r\n354 go\r\n");
      await peer.hear("Message-ID");
      peer.socket.pause();
      peer.say(reply);
    });
    const session = await open(port);
    const large = mail("ann", "0123456789\r\n".repeat(3_000_000));
    expect(await session.send(large)).toMatchObject(expected);
    expect(session.isOpen).toBe(false);
  });
});
