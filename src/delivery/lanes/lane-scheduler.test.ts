import { createSecretKey } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SenderIdentity } from "#delivery/compose/compose-leased-message.ts";
import type { ReadyMessage } from "#delivery/message/message.ts";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { type Peer, startScriptedPeer } from "#test/support/scripted-peer.ts";
import { leased, recordTransport } from "#test/support/transport-recorder.ts";
import { defaultLane, type Lane } from "./default-lanes.ts";
import { LaneScheduler } from "./lane-scheduler.ts";

const identity: SenderIdentity = { signingKey: null, returnPathHost: "bounce.sender.test" };

/** A lane whose sites are all at one port of loopback. */
function startLane(
  port: number,
  change: Partial<Lane> = {},
  findIdentity = async (): Promise<SenderIdentity> => identity,
) {
  const lane = { ...defaultLane, messages_per_second: null, ...change };
  const recorder = recordTransport();
  const composing = { findIdentity, returnPathKey: createSecretKey(Buffer.alloc(32, 7)) };
  const traffic = new LaneScheduler(lane, { port, ehloName: "out.sender.test" }, composing, recorder);
  onTestFinished(() => {
    recorder.answer = () => false;
    traffic.close();
  });
  const add = (message: ReadyMessage, site = "mx.example.test", address = "127.0.0.1") =>
    traffic.add({ message, destination: { site, lane, hosts: [{ name: site, addresses: [address] }] } });
  return { recorder, traffic, add };
}

async function mxWith(options: FakeMxOptions = {}) {
  const mx = await startFakeMx(options);
  onTestFinished(() => mx.close());
  return mx;
}

/** No server listens there. */
const DEAD = "127.9.9.9";

describe("a fault on our side", () => {
  test("a sender that cannot be looked up requeues the message, and no host is contacted", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, {}, () => Promise.reject(new Error("no database")));
    add(leased("ann"));
    expect(await recorder.waitFor(1)).toEqual([{ kind: "requeue", who: "ann", seconds: 5 }]);
    expect(mx.connections).toBe(0);
  });

  test("content that cannot be composed fails its message only", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1 });
    add(leased("ann", { subject: "two\r\nlines" }));
    add(leased("bob"));
    expect(await recorder.waitFor(2)).toMatchObject([
      { kind: "unsendable", who: "ann" },
      { kind: "attempted", who: "bob", result: { outcome: "accepted" } },
    ]);
  });

  test("an envelope that cannot be sent fails its message only, and the lane's only connection is kept", async () => {
    const mx = await mxWith();
    const hosts = ["not a host", "bounce.sender.test"];
    const { recorder, traffic, add } = startLane(mx.port, { connections: 1 }, async () => ({
      signingKey: null,
      returnPathHost: hosts.shift() ?? "",
    }));
    add(leased("ann"));
    add(leased("bob"));
    expect(await recorder.waitFor(2)).toMatchObject([
      { kind: "unsendable", who: "ann" },
      { kind: "attempted", who: "bob", result: { outcome: "accepted" } },
    ]);
    expect(mx.connections).toBe(1);
    await expect.poll(() => traffic.load).toBe(0);
  });
});

describe("the lease", () => {
  test("a message that may not start when its session is open is released", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port);
    const answers = [true, false];
    recorder.answer = () => answers.shift() ?? false;
    add(leased("ann"));
    expect(await recorder.waitFor(1)).toEqual([{ kind: "release", who: "ann" }]);
    expect(mx.commands.filter((line) => line.startsWith("MAIL"))).toEqual([]);
  });

  test("a message whose lease is lost before its final dot is released, and not received", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port);
    const answers = [true, true, false];
    recorder.answer = () => answers.shift() ?? true;
    add(leased("ann"));
    await recorder.waitFor(1);
    add(leased("bob"));
    expect(await recorder.waitFor(2)).toMatchObject([
      { kind: "release", who: "ann" },
      { kind: "attempted", who: "bob", result: { outcome: "accepted" } },
    ]);
    expect(mx.messages.map(({ rcptTo }) => rcptTo)).toEqual(["bob@example.test"]);
  });
});

describe("pauses", () => {
  test("messages wait in the lane during a short pause, and are sent after it", async () => {
    const mx = await mxWith();
    const suspensions = [{ words: "Too busy", seconds: 1 }];
    const { recorder, traffic, add } = startLane(mx.port, { connections: 1, suspensions });
    const start = performance.now();
    for (const name of ["busy", "ann", "bob"]) add(leased(name));
    await recorder.waitFor(1);
    expect(traffic.isSaturated(0)).toBe(true);
    expect(traffic.load).toBeGreaterThanOrEqual(2);
    await recorder.waitFor(3);
    expect(recorder.delivered).toEqual(["ann", "bob"]);
    expect(performance.now() - start).toBeGreaterThan(950);
    expect(traffic.isSaturated(1)).toBe(false);
  });

  test("messages are requeued for a long pause, without an attempt", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { connections: 1 });
    for (const name of ["busy", "ann"]) add(leased(name));
    await recorder.waitFor(2);
    add(leased("bob"));
    expect(recorder.heard).toMatchObject([
      { kind: "attempted", who: "busy", result: { outcome: "refused", code: 421 } },
      { kind: "requeue", who: "ann" },
      { kind: "requeue", who: "bob" },
    ]);
    expect(recorder.heard.flatMap((one) => (one.kind === "requeue" ? Math.round(one.seconds) : []))).toEqual([
      60, 60,
    ]);
    expect(traffic.isSaturated(0)).toBe(true);
    expect(traffic.isForgettable).toBe(false);
    const [wait, ...others] = traffic.waits;
    expect(others).toEqual([]);
    expect(wait).toMatchObject({ reason: "asked_to_wait", messages: 0 });
    expect(wait?.detail).toMatch(/^421 .*Too busy/);
    expect(Math.round(wait?.seconds ?? 0)).toBe(60);
  });

  test("the lane pauses after too many failed connections in a row", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { per_site: false, failures_before_rest: 2 });
    add(leased("ann"), "one.test", DEAD);
    await recorder.waitFor(1);
    expect(traffic.isSaturated(0)).toBe(false);
    add(leased("bob"), "two.test", DEAD);
    await recorder.waitFor(2);
    add(leased("eve"), "three.test");
    expect((await recorder.waitFor(3))[2]).toMatchObject({ kind: "requeue", who: "eve" });
    expect(mx.connections).toBe(0);
    expect(traffic.waits).toMatchObject([{ reason: "connections_failed", messages: 0 }]);
    expect(traffic.pausedCount).toBe(1);
  });
});

describe("what the operator sees of a lane", () => {
  test("nothing while it is free, and the limits while messages wait for them", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { messages_per_second: 1 });
    expect(traffic.waits).toEqual([]);
    for (const name of ["ann", "bob"]) add(leased(name));
    await recorder.waitFor(1);
    expect(traffic.waits).toEqual([{ reason: "limits", messages: 1, seconds: null, detail: null }]);
    await recorder.waitFor(2);
    expect(traffic.waits).toEqual([]);
  });

  test("a site that does not accept connections, with its host and the failure", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { per_site: false });
    add(leased("ann"), "one.test", DEAD);
    await recorder.waitFor(1);
    const [wait] = traffic.waits;
    expect(wait).toMatchObject({ reason: "unreachable", messages: 0 });
    expect(wait?.detail).toMatch(/^one\.test: .*ECONNREFUSED/);
    expect(wait?.seconds).toBeGreaterThan(60);
  });

  test("of many sites that do not accept connections some, and the number of all", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { per_site: false });
    expect(traffic.pausedCount).toBe(0);
    for (let at = 0; at < 12; at++) add(leased(`user${at}`), `dead${at}.test`, DEAD);
    await recorder.waitFor(12);
    expect([traffic.waits.length, traffic.pausedCount]).toEqual([5, 12]);
  });
});

describe("limits", () => {
  test("messages per second are limited, and no message is requeued", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { messages_per_second: 20 });
    const start = performance.now();
    for (let n = 0; n < 23; n++) add(leased(`user${n}`));
    await recorder.waitFor(23);
    expect(recorder.delivered).toHaveLength(23);
    expect(performance.now() - start).toBeGreaterThan(900);
  });

  test("a slow lane holds no more messages than it sends in five seconds, and the last ones are requeued", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port, { messages_per_second: 1 });
    for (let n = 0; n < 8; n++) add(leased(`bulk${n}`));
    await recorder.waitFor(3);
    const postponed = recorder.heard.filter((one) => one.kind === "requeue");
    expect(postponed.map(({ who }) => who)).toEqual(["bulk6", "bulk7"]);
    expect(postponed.map(({ seconds }) => Math.round(seconds))).toEqual([6, 7]);
    expect(traffic.isSaturated(1)).toBe(true);
    expect(traffic.isSaturated(0)).toBe(false);
    add(leased("reset", { priority: 0 }));
    expect((await recorder.waitFor(4)).map(({ who }) => who)).toContain("bulk5");
  });

  test("idle sessions count as connections: the longest idle one is closed before another is opened", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { per_site: false, connections: 2 });
    for (const [at, site] of ["one.test", "two.test", "three.test", "two.test"].entries()) {
      add(leased(`user${at}`), site);
      await recorder.waitFor(at + 1);
      expect(mx.openConnections).toBeLessThanOrEqual(2);
    }
    expect(recorder.delivered).toHaveLength(4);
    expect(mx.connections).toBe(3);
  });

  test("connections per minute are limited, and open sessions carry the rest", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 5, connections_per_minute: 1 });
    for (let n = 0; n < 10; n++) add(leased(`user${n}`));
    await recorder.waitFor(10);
    expect(recorder.delivered).toHaveLength(10);
    expect(mx.connections).toBe(1);
  });

  test("a session is closed after its maximum of messages, and another one opened", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1, messages_per_connection: 2 });
    for (let n = 0; n < 5; n++) add(leased(`user${n}`));
    await recorder.waitFor(5);
    expect(mx.messages.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
    expect(mx.openConnections).toBe(1);
  });

  test("transactional mail goes before waiting bulk mail", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1 });
    for (let n = 0; n < 3; n++) add(leased(`bulk${n}`));
    add(leased("reset", { priority: 0 }));
    await recorder.waitFor(4);
    expect(recorder.delivered).toEqual(["bulk0", "reset", "bulk1", "bulk2"]);
  });
});

describe("a reused session", () => {
  /** A server that accepts one message per connection and then answers `end`. */
  const oneMessageEach = (end: (peer: Peer) => void) => async (peer: Peer) => {
    peer.say("220 peer ESMTP\r\n");
    await peer.hear("EHLO");
    peer.say("250 peer\r\n");
    for (const [command, reply] of [
      ["MAIL", "250 ok"],
      ["RCPT", "250 ok"],
      ["DATA", "354 go on"],
      ["\r\n.\r\n", "250 taken"],
    ] as const) {
      await peer.hear(command);
      peer.say(`${reply}\r\n`);
    }
    await peer.hear("MAIL");
    end(peer);
  };

  test.each([
    ["a 421 to MAIL", (peer: Peer) => peer.say("421 4.7.0 Too many messages on this connection\r\n")],
    ["silence and the end", (peer: Peer) => peer.socket.destroy()],
  ])("ends with %s: the message goes over a new one, which is its first attempt", async (_how, end) => {
    await using peer = await startScriptedPeer(oneMessageEach(end));
    const { recorder, traffic, add } = startLane(peer.port, { connections: 1 });
    for (const name of ["ann", "bob", "eve"]) add(leased(name));
    await recorder.waitFor(3);
    expect(recorder.delivered).toEqual(["ann", "bob", "eve"]);
    expect(traffic.isSaturated(0)).toBe(false);
  });

  test("a new session that ends at MAIL counts as an attempt", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port);
    add(leased("drop-at-mail-once"));
    expect(await recorder.waitFor(1)).toMatchObject([{ result: { outcome: "broken", stage: "mail" } }]);
  });
});

describe("messages that wait for one connection", () => {
  /** A lane with one connection, which carries a first message while the others wait. */
  async function carry(names: readonly string[], change: Partial<Lane> = {}) {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1, ...change });
    for (const name of ["first", ...names]) add(leased(name));
    const heard = (await recorder.waitFor(names.length + 1)).slice(1);
    return { mx, heard, received: mx.messages.map(({ rcptTo }) => rcptTo.split("@")[0]).slice(1) };
  }

  test("are pipelined: an envelope is sent with the body before it, before the reply", async () => {
    const { promise: envelope, resolve } = Promise.withResolvers<string>();
    await using peer = await startScriptedPeer(async (peer) => {
      peer.say("220 peer ESMTP\r\n");
      await peer.hear("EHLO");
      peer.say("250-peer\r\n250 PIPELINING\r\n");
      for (const answer of ["250 taken\r\n", ""]) {
        await peer.hear("DATA");
        peer.say("250 ok\r\n250 ok\r\n354 go on\r\n");
        const heard = await peer.hear("\r\n.\r\n");
        if (answer === "") resolve(heard.slice(heard.indexOf("\r\n.\r\n") + 5) || (await peer.hear("DATA")));
        else peer.say(answer);
      }
    });
    const { add } = startLane(peer.port, { connections: 1 });
    for (const name of ["first", "ann", "bob"]) add(leased(name));
    expect(await envelope).toMatch(/^MAIL FROM.*\r\nRCPT TO:<bob@example\.test>\r\nDATA\r\n$/);
  });

  test.each([
    ["greylist", 450],
    ["unknown", 550],
    ["reject-at-dot", 554],
    ["unknown-but-go-on", 550],
  ])("stay on it when %s is refused, and only that one is", async (name, code) => {
    const { mx, heard, received } = await carry(["ann", name, "eve"]);
    expect(heard).toMatchObject([
      { who: "ann", result: { outcome: "accepted" } },
      { who: name, result: { outcome: "refused", code } },
      { who: "eve", result: { outcome: "accepted" } },
    ]);
    expect(received).toEqual(["ann", "eve"]);
    expect(mx.connections).toBe(1);
  });

  test.each([
    ["drop-after-dot", { outcome: "broken", stage: "dot", dataSent: true }],
    ["drop-in-data", { outcome: "broken", stage: "dot" }],
    ["drop-at-rcpt", { outcome: "broken", stage: "rcpt", dataSent: false }],
    ["busy-at-dot", { outcome: "refused", stage: "dot", code: 421 }],
  ])("go over a new one, each once, when it ends with %s", async (name, result) => {
    const { mx, heard, received } = await carry(["ann", name, "bob", "eve"]);
    expect(heard).toMatchObject([
      { who: "ann", result: { outcome: "accepted" } },
      { who: name, result },
      { who: "bob", result: { outcome: "accepted" } },
      { who: "eve", result: { outcome: "accepted" } },
    ]);
    expect(received.filter((who) => who !== name)).toEqual(["ann", "bob", "eve"]);
    expect(mx.connections).toBe(2);
  });

  test("are requeued without an attempt when a 421 to one of them pauses the lane", async () => {
    const { mx, heard } = await carry(["busy", "bob", "eve"]);
    const said = heard.map(({ who, kind }) => `${who}: ${kind}`);
    expect(said.toSorted()).toEqual(["bob: requeue", "busy: attempted", "eve: requeue"]);
    expect(mx.connections).toBe(1);
  });

  test("do not exceed the maximum of messages of the connection", async () => {
    const { mx } = await carry(["ann", "bob", "eve"], { messages_per_connection: 3 });
    expect(mx.messages.map(({ connection }) => connection)).toEqual([1, 1, 1, 2]);
  });

  test("are checked one by one: a message that may no longer start is released", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1 });
    let asked = 0;
    // Bob may be taken from the queue, and is stopped before his message is sent.
    recorder.answer = ({ localpart }) => localpart !== "bob" || ++asked < 2;
    for (const name of ["first", "ann", "bob", "eve"]) add(leased(name));
    await recorder.waitFor(4);
    expect(recorder.delivered).toEqual(["first", "ann", "eve"]);
    expect(recorder.heard).toContainEqual({ kind: "release", who: "bob" });
    expect(mx.commands.join()).not.toContain("bob@");
    expect(mx.connections).toBe(1);
  });

  test("use a new session when one of them is withdrawn before its final dot", async () => {
    const mx = await mxWith();
    const { recorder, add } = startLane(mx.port, { connections: 1 });
    let asked = 0;
    recorder.answer = ({ localpart }) => localpart !== "ann" || ++asked < 3;
    for (const name of ["first", "ann", "bob", "eve"]) add(leased(name));
    await recorder.waitFor(4);
    expect(recorder.heard).toContainEqual({ kind: "release", who: "ann" });
    expect(recorder.delivered).toEqual(["first", "bob", "eve"]);
    expect(mx.messages).toHaveLength(3);
    expect(mx.connections).toBe(2);
  });

  test("are deferred with the reason when no session can be opened", async () => {
    const { recorder, traffic, add } = startLane(1, { connections: 1 });
    for (const name of ["first", "ann", "bob"]) add(leased(name), "dead.test", DEAD);
    await recorder.waitFor(3);
    expect(recorder.heard.map((one) => one.kind)).toEqual(["attempted", "backoff", "backoff"]);
    await expect.poll(() => traffic.load).toBe(0);
  });
});

describe("a site without an answer", () => {
  test("cools down, and other messages to it back off with the reason and the time", async () => {
    const mx = await mxWith();
    const { recorder, traffic, add } = startLane(mx.port);
    add(leased("ann"), "dead.test", DEAD);
    await recorder.waitFor(1);
    add(leased("bob"), "dead.test");
    expect(recorder.heard).toMatchObject([
      { kind: "attempted", who: "ann", result: { outcome: "broken", fault: "unreachable" } },
      {
        kind: "backoff",
        who: "bob",
        result: { outcome: "broken", fault: "unreachable" },
        seconds: expect.closeTo(120, -1),
      },
    ]);
    expect(mx.connections).toBe(0);
    expect(traffic.isForgettable).toBe(false);
  });
});

test("a closing lane releases waiting messages and finishes those under way", async () => {
  const mx = await mxWith();
  const { recorder, traffic, add } = startLane(mx.port, { connections: 1 });
  for (const name of ["ann", "bob"]) add(leased(name));
  traffic.close();
  expect(recorder.heard).toEqual([{ kind: "release", who: "bob" }]);
  await recorder.waitFor(2);
  expect(recorder.delivered).toEqual(["ann"]);
  await expect.poll(() => mx.openConnections).toBe(0);
});
