import { expect, onTestFinished, test } from "vitest";
import { type FakeMxOptions, startFakeMx } from "#test/support/fake-mx.ts";
import { defaultLane, type Lane } from "./default-lanes.ts";
import { type PooledSession, SessionPool } from "./session-pool.ts";

async function startPool(options: FakeMxOptions = {}, change: Partial<Lane> = {}) {
  const mx = await startFakeMx(options);
  const lane = { ...defaultLane, ...change };
  const pool = new SessionPool(lane, { port: mx.port, ehloName: "out.sender.test" });
  onTestFinished(async () => {
    pool.close();
    await mx.close();
  });
  const open = (site = "mx.example.test", addresses = ["127.0.0.1"]) =>
    pool.open({ site, lane, hosts: [{ name: site, addresses }] });
  return { mx, pool, open };
}

const isOpen = (opened: object): opened is PooledSession => "session" in opened;
async function opened(opening: Promise<object>): Promise<PooledSession> {
  const used = await opening;
  if (!isOpen(used)) throw new Error(JSON.stringify(used));
  return used;
}

/** No server listens there. */
const DEAD = "127.9.9.9";
const startTlsIn = (commands: readonly string[]) => commands.filter((line) => line === "STARTTLS").length;

test("when only TLS fails, the host is contacted in clear text, without another TLS attempt", async () => {
  const { mx, open } = await startPool({ tls: "broken" });
  expect((await opened(open())).session.tls).toBeNull();
  expect((await opened(open())).session.tls).toBeNull();
  expect(startTlsIn(mx.commands)).toBe(1);
});

test("a lane that requires TLS never falls back", async () => {
  const { open } = await startPool({ tls: "broken" }, { tls_required: true });
  expect(await open()).toMatchObject({ failure: { result: { outcome: "broken", fault: "tls" } } });
  expect(await open()).toMatchObject({ failure: { result: { outcome: "broken", fault: "tls" } } });
});

test("the next address is tried when one does not answer", async () => {
  const { open } = await startPool();
  expect(isOpen(await open("mx.example.test", [DEAD, "127.0.0.1"]))).toBe(true);
});

test("a permanent refusal counts for a site only if all its hosts refuse", async () => {
  const { mx, open } = await startPool({ answers: { banner: "554 5.7.1 Not you" } });
  const busy = await startFakeMx({
    host: "127.0.0.2",
    port: mx.port,
    answers: { banner: "421 4.3.2 Not now" },
  });
  onTestFinished(() => busy.close());
  const [final, passing] = [{ code: 554 }, { code: 421 }];
  const silent = { outcome: "broken", fault: "unreachable" };
  for (const [addresses, result] of [
    [["127.0.0.1", "127.0.0.1"], final],
    [["127.0.0.1", DEAD], silent],
    [[DEAD, "127.0.0.1"], silent],
    [["127.0.0.2", "127.0.0.1"], passing],
    [[DEAD, "127.0.0.2", "127.0.0.1"], passing],
  ] as const) {
    expect(await open("mx.example.test", [...addresses])).toMatchObject({ failure: { result } });
  }
});

test("a site that cannot be reached cools down, until a connection is opened", async () => {
  const { pool, open } = await startPool();
  await open("mx.example.test", [DEAD]);
  expect(pool.coolingDown("mx.example.test")).toMatchObject({
    failure: { result: { outcome: "broken", fault: "unreachable" }, mxHost: "mx.example.test" },
  });
  expect(pool.coolingDown("other.test")).toBeUndefined();
  await open();
  expect(pool.coolingDown("mx.example.test")).toBeUndefined();
  expect(pool.isCooling).toBe(false);
});

test("a site with open sessions does not cool down after a refused connection", async () => {
  const { pool, open } = await startPool();
  await open();
  expect(isOpen(await open("mx.example.test", [DEAD]))).toBe(false);
  expect(pool.coolingDown("mx.example.test")).toBeUndefined();
});

test("a session is used for its own site only, and by one runner", async () => {
  const { pool, open } = await startPool();
  const used = await opened(open());
  await pool.putAway(used);
  expect(pool.take("other.test")).toBeUndefined();
  expect(pool.has("mx.example.test")).toBe(true);
  expect(pool.take("mx.example.test")).toBe(used);
  expect(pool.take("mx.example.test")).toBeUndefined();
});

test("a session that the server has closed is not taken", async () => {
  const { pool, open } = await startPool();
  const used = await opened(open());
  await pool.putAway(used);
  used.session.destroy();
  expect(pool.has("mx.example.test")).toBe(false);
  expect(pool.take("mx.example.test")).toBeUndefined();
});

test("the longest idle sessions end first", async () => {
  const { mx, pool, open } = await startPool();
  for (const site of ["one.test", "two.test", "three.test"]) await pool.putAway(await opened(open(site)));
  await pool.keepIdle(1);
  expect(["one.test", "two.test", "three.test"].map((site) => pool.has(site))).toEqual([false, false, true]);
  await expect.poll(() => mx.openConnections).toBe(1);
});

test("a closed pool ends its idle sessions, and the others when they are put away", async () => {
  const { mx, pool, open } = await startPool();
  const [idle, busy] = [await opened(open()), await opened(open())];
  await pool.putAway(idle);
  pool.close();
  await expect.poll(() => mx.openConnections).toBe(1);
  await pool.putAway(busy);
  await expect.poll(() => mx.openConnections).toBe(0);
});
