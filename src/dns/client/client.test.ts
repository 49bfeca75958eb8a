import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { type Answer, decode, encode, type Packet, RECURSION_AVAILABLE, streamEncode } from "dns-packet";
import { expect, onTestFinished, test } from "vitest";
import { type DnsServer, readDnsServer } from "#platform/dns-server-address.ts";
import { startBusyDns } from "#test/support/busy-dns.ts";
import { DnsClient } from "./client.ts";
import type { Question } from "./question-and-reply.ts";

/** The reply of a scripted server to a question; null for no answer. */
type Script = (
  query: Packet,
  peer: RemoteInfo,
) => Partial<Packet> | Buffer | null | Promise<Partial<Packet> | null>;

interface ScriptedDns {
  readonly server: DnsServer;
  /** Every question, with the port it came from. */
  readonly heard: { id: number; name: string; port: number; hasEdns: boolean }[];
}

async function serve(script: Script, host = "127.0.0.1"): Promise<ScriptedDns> {
  const socket = createSocket(host === "::1" ? "udp6" : "udp4").bind(0, host);
  await once(socket, "listening");
  let isClosed = false;
  onTestFinished(() => {
    isClosed = true;
    socket.close();
  });
  const { port } = socket.address();
  const heard: ScriptedDns["heard"] = [];
  const hear = async (message: Buffer, peer: RemoteInfo) => {
    const query = decode(message);
    const name = query.questions?.[0]?.name ?? "";
    heard.push({ id: query.id ?? 0, name, port: peer.port, hasEdns: query.additionals?.length === 1 });
    const reply = await script(query, peer);
    if (reply === null || isClosed) return;
    const packet = Buffer.isBuffer(reply) ? reply : encode({ ...answerTo(query), ...reply });
    socket.send(packet, peer.port, peer.address);
  };
  socket.on("message", (message, peer) => void hear(message, peer));
  return { server: { host, port }, heard };
}

function answerTo({ id, questions = [] }: Packet): Packet {
  return { id, type: "response", flags: RECURSION_AVAILABLE, questions };
}

const addressFor = ({ questions = [] }: Packet): Partial<Packet> => ({
  answers: questions.map(({ name }): Answer => ({ type: "A", name, ttl: 60, data: "192.0.2.1" })),
});
const rcode = (code: number): Partial<Packet> => ({ flags: RECURSION_AVAILABLE | code });
const found = expect.objectContaining({ outcome: "found", records: ["192.0.2.1"] });
const delayed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const question = (name: string, servers: readonly ScriptedDns[], more: Partial<Question> = {}): Question => ({
  name,
  type: "A",
  servers: servers.map(({ server }) => server),
  timeoutMs: 3_000,
  tries: 3,
  wantsDnssec: false,
  ...more,
});
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}.test`);

test("a slow answer is waited for while a hundred others are fast", async () => {
  const dns = await serve(async (query) => {
    if (query.questions?.[0]?.name === "slow.test") await delayed(1_500);
    return addressFor(query);
  });
  const client = new DnsClient();
  for (const name of names(100)) await client.ask(question(name, [dns]));
  expect(await client.ask(question("slow.test", [dns], { timeoutMs: 2_500, tries: 2 }))).toEqual(found);
});

test("the answer to the first packet is accepted after a second one was sent to another server", async () => {
  const slow = await serve(async (query) => {
    await delayed(700);
    return addressFor(query);
  });
  const silent = await serve(() => null);
  const asked = question("a.test", [slow, silent], { timeoutMs: 1_500, tries: 1 });
  expect(await new DnsClient().ask(asked)).toEqual(found);
  expect(silent.heard).toHaveLength(1);
});

test("if a server fails, the next one is asked at once", async () => {
  const failing = await serve(() => rcode(2));
  const dns = await serve(addressFor);
  const begun = performance.now();
  expect(await new DnsClient().ask(question("a.test", [failing, dns], { timeoutMs: 60_000 }))).toEqual(found);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test.each([
  [2, "ESERVFAIL"],
  [4, "ENOTIMP"],
  [5, "EREFUSED"],
  [6, "rcode 6"],
])("rcode %i of every server is a failure, and not a missing answer", async (code, reason) => {
  const failing = await Promise.all([serve(() => rcode(code)), serve(() => rcode(code))]);
  const reply = await new DnsClient().ask(question("a.test", failing, { timeoutMs: 1_000 }));
  expect(reply).toEqual({ outcome: "failed", reason, isUnanswered: false });
});

test("a referral to other servers is no answer", async () => {
  const authorities: Answer[] = [{ type: "NS", name: "test", ttl: 60, data: "ns.test" }];
  const lame = await serve(() => ({ flags: 0, authorities }));
  const reply = await new DnsClient().ask(question("a.test", [lame], { timeoutMs: 600 }));
  expect(reply).toMatchObject({ outcome: "failed", reason: "lame server" });
});

test("a server that does not know EDNS is asked without it", async () => {
  const dns = await serve((query) => {
    if (query.additionals?.length === 0) return addressFor(query);
    // RFC 6891 section 7: such a server may send nothing but a header.
    return encode({ ...answerTo(query), flags: 1, questions: [] });
  });
  expect(await new DnsClient().ask(question("a.test", [dns], { tries: 1 }))).toEqual(found);
  expect(dns.heard.map(({ hasEdns }) => hasEdns)).toEqual([true, false]);
});

test("a truncated answer is asked again by TCP", async () => {
  const tcp = createServer((socket) => {
    socket.on("data", (chunk: Buffer) => {
      const query = decode(chunk.subarray(2));
      const whole = streamEncode({ ...answerTo(query), ...addressFor(query) });
      // In two pieces, as a network may carry it.
      socket.write(whole.subarray(0, 1));
      setImmediate(() => socket.end(whole.subarray(1)));
    });
  }).listen(0, "127.0.0.1");
  await once(tcp, "listening");
  onTestFinished(() => void tcp.close());
  const address = tcp.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const udp = createSocket("udp4").bind(port, "127.0.0.1");
  await once(udp, "listening");
  onTestFinished(() => void udp.close());
  udp.on("message", (message, peer) => {
    const query = decode(message);
    const packet = encode({ ...answerTo(query), ...addressFor(query), flags: 0x0200 });
    udp.send(packet.subarray(0, -7), peer.port, peer.address);
  });
  const dns: ScriptedDns = { server: { host: "127.0.0.1", port }, heard: [] };
  expect(await new DnsClient().ask(question("a.test", [dns]))).toEqual(found);
});

test("a server with an IPv6 address is asked", async () => {
  const dns = await serve(addressFor, "::1");
  expect(await new DnsClient().ask(question("a.test", [dns]))).toEqual(found);
});

test("if no server listens, the next one is asked at once; without another one the look-up fails", async () => {
  const gone = createSocket("udp4").bind(0, "127.0.0.1");
  await once(gone, "listening");
  const closed: ScriptedDns = { server: { host: "127.0.0.1", port: gone.address().port }, heard: [] };
  gone.close();
  const dns = await serve(addressFor);
  expect(await new DnsClient().ask(question("a.test", [closed, dns]))).toEqual(found);
  const reply = await new DnsClient().ask(question("a.test", [closed], { timeoutMs: 400 }));
  expect(reply).toEqual({ outcome: "failed", reason: "ECONNREFUSED", isUnanswered: true });
});

test("look-ups are limited, and waiting for a slot does not count towards the deadline", async () => {
  let underWay = 0;
  let most = 0;
  const dns = await serve(async (query) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await delayed(150);
    underWay -= 1;
    return addressFor(query);
  });
  const client = new DnsClient(3);
  const asked = names(36).map((name) => client.ask(question(name, [dns], { timeoutMs: 1_500, tries: 1 })));
  expect(await Promise.all(asked)).toEqual(asked.map(() => found));
  expect(most).toBe(3);
});

test("look-ups without an answer delay the others only shortly", async () => {
  const dns = await serve((query) =>
    query.questions?.[0]?.name.startsWith("mute") ? null : addressFor(query),
  );
  const client = new DnsClient(2);
  const ended: string[] = [];
  const mute = ["mute1.test", "mute2.test"].map((name) =>
    client.ask(question(name, [dns], { timeoutMs: 6_000 })).finally(() => ended.push(name)),
  );
  expect(await client.ask(question("a.test", [dns]))).toEqual(found);
  expect(ended).toEqual([]);
  expect(await Promise.all(mute)).toMatchObject([{ isUnanswered: true }, { isUnanswered: true }]);
});

test("while no server answers, waiting look-ups fail with the first deadline", async () => {
  const silent = await serve(() => null);
  const client = new DnsClient(1);
  const begun = performance.now();
  const asked = names(100).map((name) => client.ask(question(name, [silent], { timeoutMs: 400, tries: 1 })));
  for (const reply of await Promise.all(asked)) {
    expect(reply).toEqual({ outcome: "failed", reason: "ETIMEOUT", isUnanswered: true });
  }
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test("thousands of waiting look-ups fail if no server answers", async () => {
  const silent = await serve(() => null);
  const client = new DnsClient(1);
  const asked = names(12_000).map((name) =>
    client.ask(question(name, [silent], { timeoutMs: 200, tries: 1 })),
  );
  const replies = await Promise.all(asked);
  expect(replies.filter((reply) => reply.outcome === "failed" && reply.isUnanswered)).toHaveLength(12_000);
});

test("look-ups refused under load are repeated, until the deadline of their first start", async () => {
  const dns = await serve(async (query) => {
    if (query.questions?.[0]?.name.startsWith("no")) return rcode(5);
    await delayed(20);
    return addressFor(query);
  });
  const client = new DnsClient();
  let isEnded = false;
  const askOn = async (name: string) => {
    while (!isEnded) expect(await client.ask(question(name, [dns]))).toEqual(found);
  };
  const others = names(40).map(askOn);
  const begun = performance.now();
  const refused = names(5).map((name) => client.ask(question(`no${name}`, [dns], { timeoutMs: 1_800 })));
  for (const reply of await Promise.all(refused)) {
    expect(reply).toEqual({ outcome: "failed", reason: "EREFUSED", isUnanswered: false });
  }
  expect(performance.now() - begun).toBeLessThan(18_000);
  expect(dns.heard.filter(({ name }) => name.startsWith("no")).length).toBeGreaterThan(10);
  isEnded = true;
  await Promise.all(others);
});

test("REFUSED of authoritative servers is not repeated", async () => {
  const lame = await serve(() => rcode(5));
  const asked = names(30).map((name) =>
    new DnsClient().ask(question(name, [lame], { tries: 1, isOfZone: true })),
  );
  const client = new DnsClient();
  const shared = names(30).map((name) => client.ask(question(name, [lame], { tries: 1, isOfZone: true })));
  for (const reply of await Promise.all([...asked, ...shared])) {
    expect(reply).toMatchObject({ reason: "EREFUSED" });
  }
  expect(lame.heard).toHaveLength(60);
});

test("servers that refuse do not slow down the look-ups at other servers", async () => {
  const refusing = await serve(() => rcode(5));
  let underWay = 0;
  let most = 0;
  const good = await serve(async (query) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await delayed(100);
    underWay -= 1;
    return addressFor(query);
  });
  const client = new DnsClient(60);
  const refused = names(40).map((name) =>
    client.ask(question(name, [refusing], { timeoutMs: 1_200, tries: 1 })),
  );
  await delayed(700);
  const asked = names(60).map((name) => client.ask(question(name, [good])));
  expect(await Promise.all(asked)).toEqual(asked.map(() => found));
  expect(most).toBeGreaterThan(40);
  await Promise.all(refused);
});

test("a truncated answer without TCP is a failure of the server", async () => {
  const cut = await serve((query) => ({ ...addressFor(query), flags: 0x0200 }));
  const refused = await new DnsClient().ask(question("a.test", [cut], { timeoutMs: 600, tries: 1 }));
  expect(refused).toEqual({ outcome: "failed", reason: "ECONNREFUSED", isUnanswered: false });
  const mute = createServer(() => {}).listen(cut.server.port, "127.0.0.1");
  await once(mute, "listening");
  onTestFinished(() => void mute.close());
  const reply = await new DnsClient().ask(question("a.test", [cut], { timeoutMs: 400, tries: 1 }));
  expect(reply).toEqual({ outcome: "failed", reason: "ETIMEOUT", isUnanswered: false });
});

test("a look-up without an answer says whether its servers answered others meanwhile", async () => {
  const dns = await serve((query) => (query.questions?.[0]?.name === "dead.test" ? null : addressFor(query)));
  const silent = await serve(() => null);
  const client = new DnsClient();
  const ask = (name: string, server: ScriptedDns) =>
    client.ask(question(name, [server], { timeoutMs: 300, tries: 1 }));
  const unanswered = { outcome: "failed", reason: "ETIMEOUT", isUnanswered: true };
  // An answer before the look-up began says nothing, nor does one of another server.
  expect(await ask("a.test", dns)).toEqual(found);
  expect(await ask("dead.test", dns)).toEqual(unanswered);
  const [dead, none] = await Promise.all([ask("dead.test", dns), ask("b.test", silent), ask("c.test", dns)]);
  expect(dead).toEqual({ ...unanswered, othersAnswered: true });
  expect(none).toEqual(unanswered);
});

test("a silent server is asked last after a few questions, and first again when it answers", async () => {
  let isSilent = true;
  const first = await serve((query) => (isSilent ? null : addressFor(query)));
  const second = await serve(addressFor);
  const client = new DnsClient();
  const ask = (name: string) => client.ask(question(name, [first, second], { timeoutMs: 900 }));
  for (const name of names(3)) expect(await ask(name)).toEqual(found);
  first.heard.length = 0;
  for (const name of names(10)) expect(await ask(name)).toEqual(found);
  expect(first.heard).toEqual([]);
  // Where the others are silent, too, it is asked again.
  isSilent = false;
  second.heard.length = 0;
  const alone = question("b.test", [first], { timeoutMs: 900 });
  expect(await client.ask(alone)).toEqual(found);
  expect(await ask("c.test")).toEqual(found);
  expect(second.heard).toEqual([]);
});

test("answers that arrive while the thread is busy are not timed out", async () => {
  await using dns = await startBusyDns();
  const busy: ScriptedDns = { server: readDnsServer(dns.address), heard: [] };
  const client = new DnsClient();
  // All ports are open, so that the question leaves in the turn of the loop in which it is asked.
  for (const name of names(16)) await client.ask(question(name, [busy]));
  const asked = client.ask(question("mx.a.test", [busy], { timeoutMs: 150, tries: 1 }));
  for (const until = performance.now() + 400; performance.now() < until; );
  expect(await asked).toMatchObject({ outcome: "found", records: ["127.0.0.1"] });
});

test("questions are sent from several ports with different ids", async () => {
  const dns = await serve(addressFor);
  const client = new DnsClient();
  await Promise.all(names(60).map((name) => client.ask(question(name, [dns]))));
  expect(new Set(dns.heard.map(({ port }) => port)).size).toBeGreaterThan(8);
  expect(new Set(dns.heard.map(({ port, id }) => `${port} ${id}`)).size).toBe(60);
});

test("answers to another question or id, and malformed ones, are ignored", async () => {
  const dns = await serve((query, peer) => {
    const forged = { ...answerTo(query), ...addressFor(query) };
    const liar = createSocket("udp4");
    liar.send(encode(forged), peer.port, peer.address, () => liar.close());
    return encode({ ...forged, id: ((query.id ?? 0) + 1) & 0xffff });
  });
  const reply = await new DnsClient().ask(question("a.test", [dns], { timeoutMs: 300, tries: 1 }));
  expect(reply).toMatchObject({ outcome: "failed", isUnanswered: true });
});

test.each([
  ["192.0.2.53", { host: "192.0.2.53", port: 53 }],
  ["192.0.2.53:5353", { host: "192.0.2.53", port: 5_353 }],
  ["2001:db8::53", { host: "2001:db8::53", port: 53 }],
  ["[2001:db8::53]", { host: "2001:db8::53", port: 53 }],
  ["[2001:db8::53]:5353", { host: "2001:db8::53", port: 5_353 }],
  ["[fe80::1%eth0]:53", { host: "fe80::1%eth0", port: 53 }],
])("%s is a server", (text, server) => {
  expect(readDnsServer(text)).toEqual(server);
});

test.each([
  "",
  "dns.example",
  "192.0.2.53:",
  "192.0.2.53:99999",
  "192.0.2.53:0",
  "[192.0.2.53]:53",
  "2001:db8::53:x",
])("%j is not a server", (text) => {
  expect(() => readDnsServer(text)).toThrow(/is not a DNS server/);
});
