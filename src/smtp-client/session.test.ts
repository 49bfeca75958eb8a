import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { SLOW } from "#test/support/fake-mx-scripts.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { openSession, type SessionOptions, type SmtpSession } from "./session.ts";

const open = async (port: number, options: Partial<SessionOptions> = {}): Promise<SmtpSession> => {
  const result = await openSession({
    host: "mx.example.test",
    address: "127.0.0.1",
    port,
    ehloName: "out.example.test",
    tls: "none",
    ...options,
  });
  if (result.outcome !== "open") throw new Error(JSON.stringify(result));
  onTestFinished(() => result.session.destroy());
  return result.session;
};

const openWith = async (options: FakeMxOptions = {}) => {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return { mx, session: await open(mx.port) };
};

const openOnScript = async (play: (peer: Peer) => Promise<void>) => {
  const peer = await startScriptedPeer(play);
  onTestFinished(() => peer[Symbol.asyncDispose]());
  return open(peer.port);
};

const mail = (localPart: string, body = "Hello\r\n", smtpUtf8 = false) => ({
  mailFrom: "b.1@bounce.test",
  rcptTo: `${localPart}@example.test`,
  message: Buffer.from(`Message-ID: <${localPart}@out.example.test>\r\nSubject: hi\r\n\r\n${body}`),
  smtpUtf8,
});

describe("delivering", () => {
  test("a message arrives octet for octet, and the reply is returned", async () => {
    const { mx, session } = await openWith();
    const message = mail("ann", "..dots\r\n.\r\n. end\r\nwww.example.com\r\nhällo\r\n");
    expect(await session.send(message)).toEqual({
      outcome: "accepted",
      code: 250,
      enhanced: "2.0.0",
      text: "Queued",
    });
    expect(mx.messages).toMatchObject([
      {
        mailFrom: "b.1@bounce.test",
        rcptTo: "ann@example.test",
        raw: message.message,
        tls: false,
        connection: 1,
      },
    ]);
    expect(mx.messages[0]?.parameters).toBe(`SIZE=${message.message.length} BODY=8BITMIME`);
  });

  test("many messages use one connection", async () => {
    const { mx, session } = await openWith();
    for (const name of ["a", "b", "c"]) await session.send(mail(name));
    await session.quit();
    expect(mx.messages.map(({ connection }) => connection)).toEqual([1, 1, 1]);
    expect(mx.connections).toBe(1);
    expect(mx.commands.at(-1)).toBe("QUIT");
    expect(session.isOpen).toBe(false);
  });

  test("a body of many megabytes arrives whole", async () => {
    const { mx, session } = await openWith();
    const message = mail("big", "0123456789.\r\n.\r\n".repeat(300_000));
    expect(await session.send(message)).toMatchObject({ outcome: "accepted" });
    expect(mx.messages[0]?.raw.equals(message.message)).toBe(true);
  });

  test("the null sender and a quoted local part are understood", async () => {
    const { mx, session } = await openWith();
    expect(await session.send({ ...mail("x"), mailFrom: "", rcptTo: '"a b"@example.test' })).toMatchObject({
      outcome: "accepted",
    });
    expect(mx.messages).toMatchObject([{ mailFrom: "", rcptTo: '"a b"@example.test' }]);
  });

  test("a server that knows only HELO gets no extensions", async () => {
    const { mx, session } = await openWith({ esmtp: false, pipelining: false });
    expect(session.offers).toEqual({
      pipelining: false,
      eightBitMime: false,
      smtpUtf8: false,
      startTls: false,
      size: null,
      auth: [],
    });
    expect(await session.send(mail("ann", "hällo\r\n"))).toMatchObject({ outcome: "accepted" });
    expect(mx.commands.slice(0, 3)).toEqual([
      "EHLO out.example.test",
      "HELO out.example.test",
      "MAIL FROM:<b.1@bounce.test>",
    ]);
  });

  test("an internationalized message declares SMTPUTF8", async () => {
    const { mx, session } = await openWith();
    expect(await session.send(mail("änn", "hi\r\n", true))).toMatchObject({ outcome: "accepted" });
    expect(mx.messages[0]).toMatchObject({
      rcptTo: "änn@example.test",
      parameters: expect.stringMatching(/SMTPUTF8$/),
    });
  });
});

describe("extensions that are not offered are not used", () => {
  test("without SMTPUTF8 the message is refused with 5.6.7 and no command is sent", async () => {
    const { mx, session } = await openWith({ smtpUtf8: false });
    expect(await session.send(mail("änn", "hi\r\n", true))).toMatchObject({
      outcome: "refused",
      enhanced: "5.6.7",
    });
    expect(mx.commands).toEqual(["EHLO out.example.test"]);
  });

  test("a message beyond SIZE is refused with 5.3.4 and no command is sent", async () => {
    const { mx, session } = await openWith({ size: 100 });
    expect(await session.send(mail("ann", "x".repeat(100)))).toMatchObject({
      outcome: "refused",
      enhanced: "5.3.4",
    });
    expect(mx.commands).toEqual(["EHLO out.example.test"]);
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
  });

  test("without PIPELINING every command waits for its reply", async () => {
    const { mx, session } = await openWith({ pipelining: false });
    const results = await Promise.all(["a", "unknown", "b"].map((name) => session.send(mail(name))));
    expect(results.map(({ outcome }) => outcome)).toEqual(["accepted", "refused", "accepted"]);
    expect(mx.received).toBe(2);
  });
});

describe("pipelining", () => {
  const greeting = async (peer: Peer) => {
    peer.say("220 hi\r\n");
    await peer.hear("EHLO");
    peer.say("250-hi\r\n250 PIPELINING\r\n");
  };

  test("the envelope is sent at once, without waiting for a reply", async () => {
    const session = await openOnScript(async (peer) => {
      await greeting(peer);
      expect(await peer.hear("DATA\r\n")).toBe(
        "MAIL FROM:<b.1@bounce.test>\r\nRCPT TO:<ann@example.test>\r\nDATA\r\n",
      );
      peer.say("250 ok\r\n250 ok\r\n354 go\r\n");
      await peer.hear("\r\n.\r\n");
      peer.say("250 2.0.0 done\r\n");
    });
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted", text: "done" });
  });

  test("the next envelope is sent behind the body, before the reply to it", async () => {
    const session = await openOnScript(async (peer) => {
      await greeting(peer);
      await peer.hear("DATA\r\n");
      peer.say("250 ok\r\n250 ok\r\n354 go\r\n");
      expect(await peer.hear("RCPT TO:<two@example.test>\r\nDATA\r\n")).toMatch(/\r\n\.\r\nMAIL FROM:/);
      peer.say("250 first\r\n250 ok\r\n250 ok\r\n354 go\r\n");
      await peer.hear("\r\n.\r\n");
      peer.say("554 5.7.1 second\r\n");
    });
    const results = await Promise.all([session.send(mail("one")), session.send(mail("two"))]);
    expect(results).toMatchObject([
      { outcome: "accepted", text: "first" },
      { outcome: "refused", stage: "dot", enhanced: "5.7.1", text: "second" },
    ]);
  });

  test("hundreds of queued messages with refusals among them keep their own results", async () => {
    const { mx, session } = await openWith();
    const names = Array.from({ length: 300 }, (_, index) =>
      index % 7 === 3 ? `unknown${index}` : index % 11 === 5 ? `reject-at-dot${index}` : `u${index}`,
    );
    const results = await Promise.all(names.map((name) => session.send(mail(name))));
    for (const [index, result] of results.entries()) {
      const name = names[index] ?? "";
      expect(result).toMatchObject(
        name.startsWith("unknown")
          ? { outcome: "refused", stage: "rcpt", code: 550, enhanced: "5.1.1" }
          : name.startsWith("reject")
            ? { outcome: "refused", stage: "dot", code: 554 }
            : { outcome: "accepted" },
      );
    }
    const delivered = names.filter((name) => /^u\d/.test(name)).map((name) => `${name}@example.test`);
    expect(mx.messages.map(({ rcptTo }) => rcptTo)).toEqual(delivered);
    expect(mx.connections).toBe(1);
  });

  test("a server that answers 354 although it refused the recipient gets a lone dot", async () => {
    const { mx, session } = await openWith();
    const results = await Promise.all([session.send(mail("unknown-but-go-on")), session.send(mail("ann"))]);
    expect(results).toMatchObject([
      { outcome: "refused", stage: "rcpt", enhanced: "5.1.1" },
      { outcome: "accepted" },
    ]);
    expect(mx.messages.map(({ rcptTo }) => rcptTo)).toEqual(["ann@example.test"]);
  });

  test("a server that refused only MAIL gets no dot, so that nobody receives an empty message", async () => {
    const session = await openOnScript(async (peer) => {
      await greeting(peer);
      await peer.hear("DATA\r\n");
      peer.say("450 4.1.8 no\r\n250 ok\r\n354 go\r\n");
    });
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "refused", stage: "mail", code: 450 });
    expect(session.isOpen).toBe(false);
  });

  test("a session whose RSET is refused is closed", async () => {
    const { session } = await openWith({ answers: { rset: "500 what?" } });
    const results = await Promise.all([session.send(mail("unknown")), session.send(mail("ann"))]);
    expect(results).toMatchObject([
      { outcome: "refused", enhanced: "5.1.1" },
      { outcome: "broken", fault: "protocol", dataSent: false },
    ]);
  });
});

describe("refusals", () => {
  test.each([
    ["greylist", "rcpt", 450, "4.7.1"],
    ["tempfail", "rcpt", 451, "4.3.0"],
    ["unknown", "rcpt", 550, "5.1.1"],
    ["mailbox-full", "rcpt", 552, "5.2.2"],
    ["mailbox-full-for-now", "rcpt", 452, "4.2.2"],
    ["blocked", "rcpt", 554, "5.7.1"],
    ["reject-at-dot", "dot", 554, "5.7.1"],
    ["tempfail-at-dot", "dot", 451, "4.3.0"],
  ])("%s is refused at %s, and the session continues", async (name, stage, code, enhanced) => {
    const { mx, session } = await openWith();
    expect(await session.send(mail(name))).toMatchObject({ outcome: "refused", stage, code, enhanced });
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
    expect(mx.messages.map(({ rcptTo }) => rcptTo)).toEqual(["ann@example.test"]);
  });

  test("a greylisted recipient is accepted the second time, once", async () => {
    const { mx, session } = await openWith();
    expect(await session.send(mail("greylist7"))).toMatchObject({ outcome: "refused", code: 450 });
    expect(await session.send(mail("greylist7"))).toMatchObject({ outcome: "accepted" });
    expect([...mx.copies]).toEqual([["<greylist7@out.example.test>", 1]]);
  });

  test("a refused transaction is followed by RSET", async () => {
    const { mx, session } = await openWith();
    await session.send(mail("unknown"));
    await session.send(mail("ann"));
    expect(mx.commands).toContain("RSET");
  });

  test("the peer's text is escaped before it is stored", async () => {
    const { session } = await openWith();
    expect(await session.send(mail("odd-text"))).toMatchObject({ text: "a\\x00b \\xff\\xfe \\x1b[31mred" });
  });
});

describe("invalid arguments throw and leave the session usable", () => {
  test.each(["ann\r\nRSET", "ann> SIZE=9 <", "ann\x00"])("recipient %j", async (name) => {
    const { mx, session } = await openWith();
    await expect(session.send(mail(name))).rejects.toThrow(/not an address/);
    expect(await session.send(mail("ann"))).toMatchObject({ outcome: "accepted" });
    expect(mx.commands.filter((line) => line.startsWith("RCPT"))).toEqual(["RCPT TO:<ann@example.test>"]);
  });

  test("sender", async () => {
    const { session } = await openWith();
    await expect(session.send({ ...mail("ann"), mailFrom: "b@x.test>\r\nDATA" })).rejects.toThrow(
      /not an address/,
    );
  });

  test("a message that could smuggle another", async () => {
    const { mx, session } = await openWith();
    const message = mail("ann", "a\n.\r\nMAIL FROM:<evil@example.test>\r\n");
    await expect(session.send(message)).rejects.toThrow(/bare LF/);
    expect(mx.received).toBe(0);
  });

  test("EHLO name", async () => {
    const { mx } = await openWith();
    await expect(open(mx.port, { ehloName: "me\r\nMAIL FROM:<>" })).rejects.toThrow(/not a name for EHLO/);
  });
});

test("quit waits for the pending message", async () => {
  const { mx, session } = await openWith({ answers: { dot: SLOW }, slowMs: 30 });
  const [result] = await Promise.all([session.send(mail("ann")), session.quit()]);
  expect(result).toMatchObject({ outcome: "accepted" });
  expect(mx.received).toBe(1);
});
