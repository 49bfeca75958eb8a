import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createLog } from "#platform/log/log.ts";
import { eventually } from "#test/support/eventually.ts";
import { openSmtp, type SmtpClient } from "#test/support/smtp-client.ts";
import { Certificate } from "./certificate.ts";
import { ConnectionCaps } from "./connection-caps.ts";
import type { Conversation } from "./conversation-interface.ts";
import { type ListenerOptions, SmtpListener } from "./listener.ts";
import { MessageMemory } from "./message-data.ts";
import { NetworkLog } from "./rate-limited-log.ts";
import { makeSelfSigned } from "./self-signed.ts";
import { SmtpReply } from "./smtp-reply.ts";

const log = createLog("silent");
const MOST_BYTES = 100_000;
let folder: string;
let certificate: Certificate;
let listeners: SmtpListener[] = [];
let received: Buffer[] = [];

const own = () => ({ TLS_CERT_FILE: null, TLS_KEY_FILE: null, DATA_DIR: folder, MAIL_HOSTNAME: "mx.test" });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "posthaste-listener-"));
  certificate = new Certificate(own(), new Date(), log);
  received = [];
});
afterEach(async () => {
  await Promise.all(listeners.map((listener) => listener.stop(0)));
  listeners = [];
  certificate.close();
  await rm(folder, { recursive: true, force: true });
});

/** A port that accepts all mail from all clients. */
async function listen(change: Partial<ListenerOptions> = {}, conversation: Partial<Conversation> = {}) {
  const memory = new MessageMemory(1_000_000);
  const listener = await SmtpListener.start({
    host: "127.0.0.1",
    port: 0,
    name: "mx.test",
    isImplicitTls: false,
    needsLogin: false,
    certificate,
    caps: new ConnectionCaps({ perNetwork: 10, all: 10 }),
    memory,
    mostBytes: MOST_BYTES,
    log,
    networkLog: new NetworkLog(log),
    open: () => ({
      mail: async () => {},
      recipient: async () => {},
      message: async ({ message }) => {
        received.push(Buffer.from(message));
        return "2.0.0 Accepted";
      },
      ...conversation,
    }),
    ...change,
  });
  listeners.push(listener);
  return { port: listener.port, listener, memory: change.memory ?? memory };
}

async function toData(port: number, localAddress = "127.0.0.1") {
  const client = await openSmtp(port, false, localAddress);
  await client.say("EHLO client.test");
  await client.say("MAIL FROM:<a@b.test>");
  await client.say("RCPT TO:<c@d.test>");
  expect(await client.say("DATA")).toMatch(/^354/);
  return client;
}

test("a session without login is ended at its deadline, however busy the client is", async () => {
  const { port } = await listen({ deadlines: { anonymousMs: 300 } });
  const client = await openSmtp(port);
  const talking = setInterval(() => client.write("N"), 20);
  expect(await client.reply()).toMatch(/^421 4\.4\.2/);
  await client.ended;
  clearInterval(talking);
});

describe("a message", () => {
  test("of thirty thousand lines that begin with a dot arrives whole, and its memory is released", async () => {
    const { port, memory } = await listen();
    const client = await toData(port);
    client.write(`${"..\r\n".repeat(30_000)}.\r\n`);
    expect(await client.reply()).toBe("250 2.0.0 Accepted");
    expect(received[0]?.toString()).toBe(".\r\n".repeat(30_000));
    expect(memory.held).toBe(0);
    client.close();
  });

  test("that is too large is read to its end and refused", async () => {
    const { port, memory } = await listen();
    const client = await toData(port);
    client.write(`${"x".repeat(MOST_BYTES)}\r\n.\r\n`);
    expect(await client.reply()).toBe(`552 5.3.4 The message is larger than ${MOST_BYTES} octets`);
    expect(memory.held).toBe(0);
    expect(await client.say("NOOP")).toMatch(/^250/);
    client.close();
  });

  test("of which only the beginning is kept uses only the memory of that", async () => {
    const memory = new MessageMemory(20_000);
    let octets = 0;
    const { port } = await listen(
      { memory },
      {
        sizeLimit: () => ({ most: MOST_BYTES, kept: 10 }),
        message: async (given) => {
          received.push(Buffer.from(given.message));
          octets = given.octets;
          return "2.0.0 Accepted";
        },
      },
    );
    const client = await toData(port);
    client.write(`${"0123456789".repeat(9_000)}\r\n.\r\n`);
    expect(await client.reply()).toBe("250 2.0.0 Accepted");
    expect(received.map(String)).toEqual(["0123456789"]);
    expect(octets).toBe(90_002);
    client.close();
  });

  test("far beyond the size limit is refused before its end, counted, and ends the session", async () => {
    const counted: number[] = [];
    const { port } = await listen({}, { onOctets: async (octets) => void counted.push(octets) });
    const client = await toData(port);
    client.write("x".repeat(6 * 1024 * 1024));
    expect(await client.reply()).toBe(`552 5.3.4 The message is larger than ${MOST_BYTES} octets`);
    expect(await client.reply()).toMatch(/^421 4\.7\.0 The message was far too large/);
    await client.ended;
    expect(counted).toHaveLength(1);
    expect(counted[0]).toBeGreaterThan(4 * 1024 * 1024);
    expect(received).toEqual([]);
  });

  test("for which there is no memory is refused with 452", async () => {
    const { port } = await listen({ memory: new MessageMemory(20_000) });
    const client = await toData(port);
    client.write(`${"x".repeat(50_000)}\r\n.\r\n`);
    expect(await client.reply()).toMatch(/^452 4\.3\.1/);
    client.close();
  });

  test("whose connection breaks is not accepted, and its memory is released", async () => {
    const { port, memory } = await listen();
    const client = await toData(port);
    client.write("x".repeat(20_000));
    await eventually("the first octets", async () => memory.held > 0);
    client.close();
    await eventually("its memory to be released", async () => memory.held === 0);
    expect(received).toEqual([]);
  });

  test("that takes longer than its deadline ends the session", async () => {
    const { port } = await listen({ deadlines: { dataMs: 100 } });
    const client = await toData(port);
    client.write("x");
    expect(await client.reply()).toMatch(/^421 4\.4\.2/);
    await client.ended;
  });

  test("is answered 451 without the reason when an unexpected error occurs", async () => {
    const { port } = await listen({}, { message: () => Promise.reject(new Error("secret")) });
    const client = await toData(port);
    client.write("x\r\n.\r\n");
    expect(await client.reply()).toBe("451 4.3.0 Something failed on our side: retry shortly");
    client.close();
  });
});

async function startTls(socket: Socket) {
  for (const command of ["EHLO client.test", "STARTTLS"]) {
    socket.write(`${command}\r\n`);
    await once(socket, "data");
  }
}

describe("a connection", () => {
  test("beyond the limit of its network is refused, and accepted when another one has ended", async () => {
    const { port } = await listen({ caps: new ConnectionCaps({ perNetwork: 1, all: 10 }) });
    const first = await openSmtp(port);
    const refused = connectTcp(port, "127.0.0.1");
    const [greeting] = await once(refused, "data");
    expect(String(greeting)).toMatch(/^421 4\.7\.0 mx\.test Too many connections/);
    refused.destroy();
    first.close();
    await eventually("a free slot", async () => {
      const next = await openSmtp(port);
      const answer = await next.say("NOOP");
      next.close();
      return answer.startsWith("250");
    });
  });

  test.each([
    ["ends", async (client: SmtpClient) => void (await client.startTls())],
    ["fails", async (client: SmtpClient) => client.write("STARTTLS\r\nno handshake\r\n")],
  ])("whose TLS %s frees its slot", async (_, converse) => {
    const { port } = await listen({ caps: new ConnectionCaps({ perNetwork: 1, all: 10 }) });
    const client = await openSmtp(port);
    await client.say("EHLO client.test");
    await converse(client);
    client.close();
    await eventually("a free slot", async () => {
      const next = await openSmtp(port);
      const answer = await next.say("NOOP");
      next.close();
      return answer.startsWith("250");
    });
  });

  test("without a command is ended", async () => {
    const { port } = await listen({ deadlines: { idleMs: 300 } });
    const client = await openSmtp(port);
    expect(await client.reply()).toMatch(/^421/);
    await client.ended;
  });

  test("without a login is ended, however busy the client is", async () => {
    const { port } = await listen({ needsLogin: true, deadlines: { loginMs: 500 } });
    const client = await openSmtp(port);
    await client.say("EHLO client.test");
    expect(await client.reply()).toBe("421 4.7.0 No login within the time limit");
    await client.ended;
  });

  test.each([
    ["says nothing", true, async () => {}],
    [
      "never ends its TLS handshake",
      true,
      async (socket: Socket) => void socket.write("\x16\x03\x01\x02\x00"),
    ],
    ["says nothing", false, async () => {}],
    ["never begins its TLS handshake", false, startTls],
    [
      "never ends its TLS handshake",
      false,
      async (socket: Socket) => {
        await startTls(socket);
        socket.write("\x16\x03\x01\x02\x00");
      },
    ],
  ])(
    "that %s (implicit TLS: %s) is ended at its deadline, and its slot is free",
    async (_, isImplicitTls, begin) => {
      const caps = new ConnectionCaps({ perNetwork: 1, all: 10 });
      const { port } = await listen({ needsLogin: true, isImplicitTls, caps, deadlines: { loginMs: 500 } });
      const socket = connectTcp(port, "127.0.0.1");
      socket.on("error", () => {});
      const ended = once(socket, "close");
      if (!isImplicitTls) await once(socket, "data");
      await begin(socket);
      socket.resume();
      await ended;
      await eventually("a free slot", async () => {
        const next = await openSmtp(port, isImplicitTls);
        const answer = await next.say("NOOP");
        next.close();
        return answer.startsWith("250");
      });
    },
  );

  test("whose TLS handshake fails frees its slot", async () => {
    const { port } = await listen({
      isImplicitTls: true,
      caps: new ConnectionCaps({ perNetwork: 1, all: 10 }),
    });
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => {});
    const ended = once(socket, "close");
    socket.resume();
    socket.write("EHLO client.test\r\n");
    await ended;
    await eventually("a free slot", async () => (await openSmtp(port, true)).say("NOOP"));
  });

  test("replaces the session that is idle longest when all slots are in use", async () => {
    const caps = new ConnectionCaps({ perNetwork: 10, all: 3 }, { graceMs: 50 });
    const { port } = await listen({ caps });
    const busy = await toData(port, "127.0.0.2");
    const idle = await openSmtp(port, false, "127.0.0.3");
    await idle.say("EHLO client.test");
    const younger = await openSmtp(port, false, "127.0.0.3");
    const next = await eventually("a free slot", async () => {
      idle.write("NOOP\r\n");
      const client = await openSmtp(port, false, "127.0.0.4");
      return (await client.say("NOOP")).startsWith("250") && client;
    });
    await idle.ended;
    expect(await younger.say("NOOP")).toMatch(/^250/);
    busy.write("x\r\n.\r\n");
    expect(await busy.reply()).toBe("250 2.0.0 Accepted");
    for (const client of [busy, younger, next]) client.close();
  });

  test("cannot replace the only session of another network", async () => {
    const caps = new ConnectionCaps({ perNetwork: 10, all: 2 }, { graceMs: 0 });
    const { port } = await listen({ caps });
    const only = await openSmtp(port, false, "127.0.0.2");
    const first = await openSmtp(port, false, "127.0.0.3");
    const second = await openSmtp(port, false, "127.0.0.3");
    expect(await first.reply()).toMatch(/^421 4\.3\.2 Too many sessions/);
    await first.ended;
    expect(await only.say("NOOP")).toMatch(/^250/);
    expect(await second.say("NOOP")).toMatch(/^250/);
    for (const client of [only, second]) client.close();
  });

  test.each([false, true])(
    "that is idle is ended early while most slots are in use (login required: %s)",
    async (needsLogin) => {
      const caps = new ConnectionCaps({ perNetwork: 10, all: 10 }, { crowdedIdleMs: 200 });
      const { port } = await listen({ caps, needsLogin });
      const clients: SmtpClient[] = [];
      while (clients.length < 8) clients.push(await openSmtp(port));
      const ninth = await openSmtp(port);
      const talking = setInterval(() => clients[0]?.write("NOOP\r\n"), 20);
      await clients[0]?.ended;
      clearInterval(talking);
      expect(await ninth.say("NOOP")).toMatch(/^250/);
      for (const client of clients.slice(1)) expect(await client.say("NOOP")).toMatch(/^250/);
      for (const client of [...clients, ninth]) client.close();
    },
  );

  test("that sends its message fast enough is not ended, however full the port is", async () => {
    const caps = new ConnectionCaps({ perNetwork: 10, all: 1 }, { crowdedIdleMs: 500, graceMs: 0 });
    const { port } = await listen({ caps });
    const client = await toData(port);
    const sending = setInterval(() => client.write(`${"x".repeat(70)}\r\n`), 10);
    for (const deadline = performance.now() + 1_200; performance.now() < deadline; ) {
      const refused = await openSmtp(port);
      await refused.ended;
    }
    clearInterval(sending);
    client.write(".\r\n");
    expect(await client.reply()).toBe("250 2.0.0 Accepted");
    client.close();
  });

  test("that sends its message an octet at a time is ended, even on an empty port", async () => {
    const caps = new ConnectionCaps({ perNetwork: 10, all: 10 }, { stallMs: 200 });
    const { port } = await listen({ caps });
    const client = await toData(port);
    const trickling = setInterval(() => client.write("x"), 20);
    expect(await client.reply()).toBe("421 4.4.2 The message comes too slowly");
    await client.ended;
    clearInterval(trickling);
  });

  test("in the middle of a TLS handshake does not delay a stop", async () => {
    const caps = new ConnectionCaps({ perNetwork: 1, all: 10 });
    const { port, listener } = await listen({ isImplicitTls: true, caps });
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => {});
    const ended = once(socket, "close");
    socket.resume();
    socket.write("\x16\x03\x01\x02\x00");
    await eventually("the session to be counted", async () => {
      const admission = caps.admit("127.0.0.1", () => {});
      admission?.leave();
      return admission === null;
    });
    await listener.stop(50);
    await ended;
  });

  test("from the port of a former one has its own deadline", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = await listen({ deadlines: { anonymousMs: 100_000 } });
    const before = vi.getTimerCount();
    // An address that no other test uses, so that the port is free at once.
    const from = { port, host: "127.0.0.1", localAddress: "127.77.7.7" };
    const gone = connectTcp(from);
    await once(gone, "data");
    const { localPort } = gone;
    await vi.advanceTimersByTimeAsync(60_000);
    gone.resetAndDestroy();
    await eventually("the client to be released", async () => vi.getTimerCount() === before);

    const next = connectTcp({ ...from, localPort });
    await once(next, "data");
    await vi.advanceTimersByTimeAsync(60_000);
    next.write("NOOP\r\n");
    expect(String(await once(next, "data"))).toMatch(/^250/);
    next.destroy();
  });

  test("with a login is not ended at the login deadline", async () => {
    const deadlines = { loginMs: 500 };
    const { port } = await listen(
      { needsLogin: true, isImplicitTls: true, deadlines },
      { login: async () => {} },
    );
    const client = await openSmtp(port, true);
    await client.say("EHLO client.test");
    expect(await client.login("key")).toMatch(/^235/);
    const other = await openSmtp(port, true);
    await other.ended;
    expect(await client.say("NOOP")).toMatch(/^250/);
    client.close();
  });

  test("is closed at a stop when its message takes too long", async () => {
    const { port, listener } = await listen();
    const client = await toData(port);
    await listener.stop(50);
    await client.ended;
  });

  test("gets a reply of one printable line, whatever its text is", () => {
    expect(new SmtpReply(550, "5.7.1", "a\r\n250 b\u00fc\0").message).toBe("5.7.1 a?250 b?");
    expect(new SmtpReply(550, "5.7.1", "x".repeat(1_000)).message.length).toBeLessThan(500);
  });
});

describe("the certificate", () => {
  const serialOf = async (port: number) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, servername: "mx.test" });
    await once(socket, "secureConnect");
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };

  test("is created once, names the host and is valid for clients that trust it", async () => {
    const again = new Certificate(own(), new Date(), log);
    again.close();
    const { cert } = again.current;
    expect(new X509Certificate(cert).serialNumber).toBe(
      new X509Certificate(certificate.current.cert).serialNumber,
    );
    expect(new X509Certificate(cert).checkHost("mx.test")).toBe("mx.test");
    const { port } = await listen({ isImplicitTls: true });
    const trusting = connect({
      port,
      host: "127.0.0.1",
      servername: "mx.test",
      ca: certificate.current.cert,
    });
    await once(trusting, "secureConnect");
    expect(trusting.authorized).toBe(true);
    trusting.destroy();
  });

  test("is created again for another host name, and when it has expired", () => {
    const serials = [
      new Certificate({ ...own(), MAIL_HOSTNAME: "other.test" }, new Date(), log),
      new Certificate(own(), new Date(), log),
      new Certificate(own(), new Date("2049-01-01"), log),
    ].map((made) => {
      made.close();
      return new X509Certificate(made.current.cert).serialNumber;
    });
    expect(new Set(serials).size).toBe(3);
  });

  test("of the operator is reloaded when its files change; while they are broken the old one is used", async () => {
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const write = async ({ cert, key }: { cert: string; key: string }) => {
      await writeFile(certFile, cert);
      await writeFile(keyFile, key);
      return new X509Certificate(cert).serialNumber;
    };
    const first = await write(makeSelfSigned("mx.test", new Date()));
    const files = { ...own(), TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
    const watched = new Certificate(files, new Date(), log, 10);
    const { port } = await listen({ certificate: watched, isImplicitTls: true });
    expect(await serialOf(port)).toBe(first);
    await writeFile(keyFile, "broken");
    expect(await serialOf(port)).toBe(first);
    const second = await write(makeSelfSigned("mx.test", new Date()));
    await eventually("the new certificate", async () => (await serialOf(port)) === second);
    watched.close();
    expect(() => new Certificate({ ...files, TLS_KEY_FILE: certFile }, new Date(), log)).toThrow();
    expect(await readFile(certFile, "utf8")).toContain("BEGIN CERTIFICATE");
  });
});

describe("behind a proxy", () => {
  const V2 = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
  const SEEN = Buffer.concat([
    V2,
    // PROXY over TCP, IPv6, 12 octets behind the addresses.
    Buffer.from([0x21, 0x21, 0, 48]),
    Buffer.from("20010db8000000000000000000000007", "hex"),
    Buffer.from("20010db8000000000000000000000001", "hex"),
    Buffer.from([0x30, 0x39, 0, 25]),
    Buffer.from([0xee, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
  ]);
  async function listenBehind(isImplicitTls = false) {
    const clients: string[] = [];
    const lines: string[] = [];
    const output = { write: (line: string) => void lines.push(JSON.parse(line).msg) };
    const { port } = await listen({
      isImplicitTls,
      networkLog: new NetworkLog(createLog("warn", { format: "json", output })),
      isProxy: (address) => address === "127.0.0.1",
      deadlines: { proxyMs: 500 },
      open: (network, ip) => {
        clients.push(`${network} ${ip}`);
        return { mail: async () => {}, recipient: async () => {}, message: async () => "2.0.0 Accepted" };
      },
    });
    return { port, clients, lines };
  }
  /** Writes the parts, each in a packet of its own as far as that can be, and reads until the text comes or the end. */
  async function exchange(
    port: number,
    parts: readonly (string | Buffer)[],
    until: RegExp,
    localAddress = "127.0.0.1",
  ) {
    const socket = connectTcp({ port, host: "127.0.0.1", localAddress, noDelay: true });
    onTestFinished(() => void socket.destroy());
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    let isClosed = false;
    socket.on("close", () => {
      isClosed = true;
    });
    for (const part of parts) {
      socket.write(part);
      await new Promise(setImmediate);
    }
    await eventually("the reply or the end", async () => isClosed || until.test(text));
    return text;
  }

  test.each([
    ["version 1", ["PROXY TCP4 192.0.2.7 192.0.2.1 4711 25\r\n"], "192.0.2.7 192.0.2.7"],
    [
      "version 1 in parts",
      ["PRO", "XY TCP6 2001:db8::7 2001:db8::1 4711 25\r", "\n"],
      "2001:db8:0:0::/64 2001:db8::7",
    ],
    ["version 2 with fields behind the addresses", [SEEN], "2001:db8:0:0::/64 2001:db8::7"],
    ["version 2 in parts", [SEEN.subarray(0, 14), SEEN.subarray(14)], "2001:db8:0:0::/64 2001:db8::7"],
    ["version 1 without an address", ["PROXY UNKNOWN\r\n"], "127.0.0.1 127.0.0.1"],
    [
      "version 2 of the proxy itself",
      [Buffer.concat([V2, Buffer.from([0x20, 0, 0, 0])])],
      "127.0.0.1 127.0.0.1",
    ],
  ])("a PROXY header of %s names the client", async (_, parts, client) => {
    const { port, clients } = await listenBehind();
    expect(await exchange(port, parts, /^220/)).toMatch(/^220 /);
    expect(clients).toEqual([client]);
  });

  test.each([
    ["no header", "EHLO client.test\r\n"],
    ["a header without an address", "PROXY TCP4 nothing 192.0.2.1 4711 25\r\n"],
    ["a header without an end", `PROXY TCP4 ${"1".repeat(200)}`],
    ["a header of another version", Buffer.concat([V2, Buffer.from([0x31, 0x11, 0, 0])])],
    [
      "a header that is too short for its address",
      Buffer.concat([V2, Buffer.from([0x21, 0x11, 0, 2, 1, 1])]),
    ],
    ["a header that never ends", "PROXY TCP4"],
  ])("a connection of a proxy with %s is closed", async (_, octets) => {
    const { port, clients } = await listenBehind();
    expect(await exchange(port, [octets], /^220/)).toBe("");
    expect(clients).toEqual([]);
  });

  test("what follows the header is the client's", async () => {
    const { port } = await listenBehind();
    const header = "PROXY TCP4 192.0.2.7 192.0.2.1 4711 25\r\n";
    expect(await exchange(port, [`${header}EHLO client.test\r\n`], /^421/)).toMatch(
      /^421 .*You talk too soon/,
    );
  });

  test("a PROXY header of any other client is a command before the greeting", async () => {
    const { port, clients } = await listenBehind();
    const header = "PROXY TCP4 192.0.2.7 192.0.2.1 4711 25\r\n";
    expect(await exchange(port, [header], /^421/, "127.0.0.2")).toMatch(/^421 .*You talk too soon/);
    expect(clients).toEqual(["127.0.0.2 127.0.0.2"]);
  });

  test.each([
    ["version 1", "PROXY TCP4 192.0.2.7 192.0.2.1 4711 25\r\n", false],
    ["version 2", SEEN, false],
    ["version 1 on a port with implicit TLS", "PROXY TCP4 192.0.2.7 192.0.2.1 4711 465\r\n", true],
  ])("a PROXY header of a proxy that is not named is in the log: %s", async (_, header, isImplicitTls) => {
    const { port, lines } = await listenBehind(isImplicitTls);
    await exchange(port, [header], /^421/, "127.0.0.2");
    expect(lines).toEqual([
      "SMTP connection begins with a PROXY header, but SMTP_PROXIES does not name its address",
    ]);
  });

  test("a client that begins with anything else is not in the log, and one that says nothing to a port with implicit TLS may leave", async () => {
    const plain = await listenBehind();
    expect(await exchange(plain.port, ["PROX\r\n"], /^421/, "127.0.0.2")).toMatch(/^421/);
    const tls = await listenBehind(true);
    const silent = connectTcp({ port: tls.port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    await once(silent, "connect");
    await eventually("the connection to be admitted", async () => tls.clients.length === 1);
    silent.end();
    await once(silent, "close");
    const client = await openSmtp(tls.port, true, "127.0.0.2");
    expect(await client.say("NOOP")).toMatch(/^250/);
    expect([plain.lines, tls.lines]).toEqual([[], []]);
  });

  test("a client is known by its own address after implicit TLS, too", async () => {
    const { port, clients } = await listenBehind(true);
    const raw = connectTcp({ port, host: "127.0.0.1" });
    raw.write("PROXY TCP4 192.0.2.7 192.0.2.1 4711 465\r\n");
    const socket = connect({ socket: raw, rejectUnauthorized: false });
    onTestFinished(() => void socket.destroy());
    const [greeting] = await once(socket, "data");
    expect(String(greeting)).toMatch(/^220 /);
    socket.write("MAIL FROM:<a@a.example>\r\n");
    expect(String((await once(socket, "data"))[0])).toMatch(/^\d{3} /);
    expect(clients).toEqual(["192.0.2.7 192.0.2.7"]);
  });
});
