/** Sending IPs, routing rules and warm-up in the whole program, as the receiver sees them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sql from "sql-template-tag";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { type ReceivedMessage, startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene } from "#test/support/scene.ts";
import { password, startSmartHost } from "#test/support/smart-host.ts";

const mx = await startFakeMx();
const smartHost = await startSmartHost();
const folder = await mkdtemp(join(tmpdir(), "posthaste-lanes-"));
const lanes = join(folder, "lanes.json");
await writeFile(lanes, JSON.stringify({ lanes: [{ name: "bigbox", mx_suffixes: ["bigbox.test"] }] }));
const scene = await openScene({
  env: { SMTP_PORT: String(mx.port), LANES_FILE: lanes },
  zone: { ...mailDomain("plain.test"), ...mailDomain("chosen.test"), ...mailDomain("bigbox.test") },
});
const { program, database: db } = scene;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await Promise.all([mx.close(), smartHost.close(), rm(folder, { recursive: true })]);
});

const post = async (path: string, body?: object) => {
  const answer = await program.call("POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
};
const patch = (path: string, body: object) => program.call("PATCH", path, body);
const list = async (path: string): Promise<{ id: string }[]> => (await program.call("GET", path)).body.data;

const addIp = (ip: string, settings: object = {}) => post("/sending-ips", { ip, ...settings });
const addRule = (action: object, settings: object = {}) =>
  post("/routing-rules", { name: "Rule", action, ...settings });

afterEach(async () => {
  for (const { id } of await list("/routing-rules")) await program.call("DELETE", `/routing-rules/${id}`);
  for (const { id } of await list("/sending-ips")) await program.call("DELETE", `/sending-ips/${id}`);
});

const receivedBy = (to: string): Promise<ReceivedMessage> =>
  eventually(`mail for ${to}`, async () => mx.messages.find(({ rcptTo }) => rcptTo === to));

test("without sending IPs mail leaves from the default address, which the timeline shows", async () => {
  const id = await scene.send("usual@plain.test");
  const { timeline } = await scene.messageWhen("delivered", id);
  expect(timeline.at(-1)).toMatchObject({ type: "delivered", source_ip: "127.0.0.1" });
  expect(await receivedBy("usual@plain.test")).toMatchObject({
    peer: "127.0.0.1",
    ehlo: "mail.posthaste.test",
  });
});

test("a rule for a domain sets source address and EHLO name; mail to other domains keeps the default", async () => {
  const { id: source_ip_id } = await addIp("127.0.0.2", { hostname: "out2.shop.test" });
  await addRule({ source_ip_id }, { match: { recipient_domains: ["chosen.test"] } });
  const [id] = await Promise.all([scene.send("domain@chosen.test"), scene.send("domain@plain.test")]);
  expect(await receivedBy("domain@chosen.test")).toMatchObject({ peer: "127.0.0.2", ehlo: "out2.shop.test" });
  expect(await receivedBy("domain@plain.test")).toMatchObject({ peer: "127.0.0.1" });
  const { timeline } = await scene.messageWhen("delivered", id);
  expect(timeline.at(-1)).toMatchObject({ source_ip: "127.0.0.2" });
});

test("a rule for a provider applies to every domain with its mail hosts, and the first matching rule wins", async () => {
  const { id: two } = await addIp("127.0.0.2");
  const { id: three } = await addIp("127.0.0.3");
  await addRule({ source_ip_id: two }, { priority: 20 });
  await addRule({ source_ip_id: three }, { priority: 10, match: { providers: ["bigbox"] } });
  await Promise.all([scene.send("provider@bigbox.test"), scene.send("provider@plain.test")]);
  expect(await receivedBy("provider@bigbox.test")).toMatchObject({
    peer: "127.0.0.3",
    ehlo: "mail.posthaste.test",
  });
  expect(await receivedBy("provider@plain.test")).toMatchObject({ peer: "127.0.0.2" });
});

test("a changed rule applies to the next message", async () => {
  const { id } = await addIp("127.0.0.2");
  const rule = await addRule({ source_ip_id: id });
  await scene.send("before@plain.test");
  expect(await receivedBy("before@plain.test")).toMatchObject({ peer: "127.0.0.2" });
  await patch(`/routing-rules/${rule.id}`, { is_active: false });
  await scene.send("after@plain.test");
  expect(await receivedBy("after@plain.test")).toMatchObject({ peer: "127.0.0.1" });
});

test("a pool spreads messages over its addresses, and a retry uses the address of the first attempt", async () => {
  for (const ip of ["127.0.0.2", "127.0.0.3"]) await addIp(ip, { pool: "main" });
  await addRule({ pool: "main" });
  const people = Array.from({ length: 24 }, (_, n) => `greylist${n}@plain.test`);
  const ids = await Promise.all(people.map((to) => scene.send(to)));
  const first = new Map<string, string>();
  for (const id of ids) {
    const { timeline } = await scene.messageWhen("deferred", id);
    first.set(id, timeline.at(-1).source_ip);
  }
  expect(new Set(first.values())).toEqual(new Set(["127.0.0.2", "127.0.0.3"]));
  await db.run(sql`update delivery_queue set due_at = now()`);
  for (const id of ids) {
    const { timeline } = await scene.messageWhen("delivered", id);
    expect(timeline.at(-1).source_ip).toBe(first.get(id));
  }
});

test("a rule with a smart host sends there with a login, also for domains without a mail host", async () => {
  const relay_url = `smtp://shop:${encodeURIComponent(password)}@127.0.0.1:${smartHost.port}`;
  const rule = await addRule({ relay_url }, { match: { recipient_domains: ["inside.test", "plain.test"] } });
  expect(rule.action).toEqual({ relay_url: `smtp://shop:***@127.0.0.1:${smartHost.port}` });
  const ids = await Promise.all([scene.send("ada@inside.test"), scene.send("relayed@plain.test")]);
  for (const id of ids) await scene.messageWhen("delivered", id);
  expect(new Set(smartHost.relayed.map(({ user, to }) => [user, to].join(" ")))).toEqual(
    new Set(["shop ada@inside.test", "shop relayed@plain.test"]),
  );
});

test("a message for a sending IP that no machine has is requeued with that reason, and sent when a machine has it", async () => {
  const { id: source_ip_id } = await addIp("192.0.2.77");
  const rule = await addRule({ source_ip_id });
  const id = await scene.send("absent@plain.test");
  const waiting = await scene.messageWhen("deferred", id);
  expect(waiting.error_message).toBe("no delivery machine has the sending IP 192.0.2.77");
  const { id: present } = await addIp("127.0.0.2");
  await patch(`/routing-rules/${rule.id}`, { action: { source_ip_id: present } });
  await db.run(sql`update delivery_queue set due_at = now()`);
  await scene.messageWhen("delivered", id);
  expect(await receivedBy("absent@plain.test")).toMatchObject({ peer: "127.0.0.2" });
});

test("a warm-up address sends up to its quota and the pool sends the rest; without a pool mail waits for tomorrow", async () => {
  const { id } = await addIp("127.0.0.2", { pool: "main", warm_up_enabled: true });
  await addIp("127.0.0.3", { pool: "main" });
  const pool = await addRule({ pool: "main" });
  const sendMany = (name: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => scene.send(`${name}${n}@plain.test`)));
  const peersOf = (name: string) =>
    mx.messages.filter(({ rcptTo }) => rcptTo.startsWith(name)).map(({ peer }) => peer);
  for (const message of await sendMany("overflow", 130)) await scene.messageWhen("delivered", message);
  expect(peersOf("overflow").filter((peer) => peer === "127.0.0.2")).toHaveLength(50);

  await patch(`/routing-rules/${pool.id}`, { action: { source_ip_id: id } });
  const [held = ""] = await sendMany("held", 1);
  const waiting = await eventually("the message to wait for tomorrow", () =>
    db.row<{ hours: number; attempts: number }>(sql`
      select extract(epoch from due_at - now()) / 3600 as hours, attempts from delivery_queue
      where message_id = ${held} and leased_by is null and source_ip = '127.0.0.2'`),
  );
  expect(waiting.attempts).toBe(0);
  const state = await eventually("the sent messages to be counted", async () => {
    const { body } = await program.call("GET", `/sending-ips/${id}`);
    return body.data.warm_up.sent_today === 50 && body.data;
  });
  expect(state.warm_up).toMatchObject({ enabled: true, day: 1 });
  expect(state.warm_up.providers).toContainEqual({
    provider: "default",
    day: 1,
    ceiling: 50,
    sent_today: 50,
    deferred_today: 0,
  });

  await patch(`/sending-ips/${id}`, { warm_up_enabled: false });
  await scene.messageWhen("delivered", held);
  expect(peersOf("held")).toEqual(["127.0.0.2"]);
});

test.describe("campaigns", () => {
  let listId = "";
  beforeAll(async () => {
    await addVerifiedDomain(program.call, scene.dns, "shop.test");
    listId = (await post("/mailing-lists", { name: "News" })).id;
    for (const name of ["ann", "bob"]) {
      await post(`/mailing-lists/${listId}/subscribers`, { email: `${name}@chosen.test` });
    }
  });

  const sendCampaign = async (route: object) => {
    const { id } = await post("/campaigns", {
      name: "June",
      subject: "News",
      from_email: "news@shop.test",
      mailing_list_id: listId,
      html_content: "<p>Hello</p>",
      ...route,
    });
    const before = mx.received;
    await post(`/campaigns/${id}/send`);
    return (await mx.waitForMessages(before + 2)).slice(before).map(({ peer, ehlo }) => [peer, ehlo]);
  };

  test("leave from the sending IP in their request, even if a rule says otherwise", async () => {
    const { id } = await addIp("127.0.0.2");
    await addRule({ source_ip_id: id });
    await addIp("127.0.0.3", { hostname: "out3.shop.test" });
    expect(await sendCampaign({ virtual_mta_ip: "127.0.0.3" })).toEqual([
      ["127.0.0.3", "out3.shop.test"],
      ["127.0.0.3", "out3.shop.test"],
    ]);
  });

  test("leave by the routing rule in their request, given in either field", async () => {
    const { id } = await addIp("127.0.0.4", { hostname: "out4.shop.test" });
    const rule = await addRule({ source_ip_id: id }, { is_automatic: false });
    const out = [
      ["127.0.0.4", "out4.shop.test"],
      ["127.0.0.4", "out4.shop.test"],
    ];
    expect(await sendCampaign({ routing_rule_id: rule.id })).toEqual(out);
    expect(await sendCampaign({ virtual_mta_ip: `routing_rule:${rule.id}` })).toEqual(out);
    await scene.send("bystander@plain.test");
    expect(await receivedBy("bystander@plain.test")).toMatchObject({ peer: "127.0.0.1" });
  });
});
