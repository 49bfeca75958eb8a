import { expect, test } from "vitest";
import { newId } from "#platform/ids.ts";
import { routeTo, startSmtpTransport } from "#test/support/smtp-transport.ts";
import { leased } from "#test/support/transport-recorder.ts";
import { FIRST_SHARE } from "./lanes/throttle.ts";
import type { DecideEgress } from "./routes/egress.ts";
import type { FindRoute } from "./routes/find-destination.ts";

test("domains of one site share a connection", async () => {
  const { mx, recorder, transport } = await startSmtpTransport(routeTo({ connections: 1 }));
  for (const domain of ["a.test", "b.test", "c.test"]) transport.send(leased("ann", { domain }));
  await recorder.waitFor(3);
  expect(mx.messages.map(({ rcptTo }) => rcptTo)).toEqual(["ann@a.test", "ann@b.test", "ann@c.test"]);
  expect(mx.connections).toBe(1);
});

test("a domain without a mail host counts as an attempt; a look-up that throws does not", async () => {
  const { recorder, transport } = await startSmtpTransport(async (domain) => {
    if (domain === "strange.test") throw new Error("strange");
    return { outcome: "unroutable", status: "bounced", enhanced: "5.1.2", reason: "no such domain" };
  });
  transport.send(leased("ann"));
  transport.send(leased("bob", { domain: "strange.test" }));
  expect(await recorder.waitFor(2)).toMatchObject([
    { kind: "attempted", who: "ann", result: { outcome: "unroutable" } },
    { kind: "requeue", who: "bob", seconds: 5 },
  ]);
});

test("mail whose look-up our own DNS servers did not answer is requeued for seconds, without an attempt", async () => {
  let isAnswered = false;
  const unanswered = {
    outcome: "unroutable",
    status: "deferred",
    enhanced: "4.4.3",
    reason: "ETIMEOUT",
  } as const;
  const { recorder, transport } = await startSmtpTransport(async (domain) =>
    isAnswered ? await routeTo({})(domain) : { ...unanswered, isUnanswered: true },
  );
  transport.send(leased("ann"));
  expect(await recorder.waitFor(1)).toEqual([{ kind: "requeue", who: "ann", seconds: 5 }]);
  isAnswered = true;
  transport.send(leased("ann"));
  await recorder.waitFor(2);
  expect(recorder.delivered).toEqual(["ann"]);
});

test("messages that wait for their route when the transport closes are released at once, and once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { recorder, transport } = await startSmtpTransport(async (domain) => {
    await promise;
    return routeTo({})(domain);
  });
  transport.send(leased("ann"));
  transport.close();
  expect(recorder.heard).toEqual([{ kind: "release", who: "ann" }]);
  transport.send(leased("bob"));
  resolve();
  await new Promise(setImmediate);
  expect(recorder.heard).toEqual([
    { kind: "release", who: "ann" },
    { kind: "release", who: "bob" },
  ]);
});

test("while DNS does not answer, one domain takes no more than its share, and is saturated", async () => {
  const { recorder, transport } = await startSmtpTransport(() => new Promise(() => {}));
  for (let n = 0; n < FIRST_SHARE / 2; n++) transport.send(leased(`user${n}`));
  expect(transport.saturatedDomains()).toEqual(["example.test"]);
  for (let n = 0; n <= FIRST_SHARE / 2; n++) transport.send(leased(`more${n}`));
  expect(recorder.heard).toMatchObject([{ kind: "requeue", who: `more${FIRST_SHARE / 2}` }]);
});

test("the lane of a provider has one limit, however many domains it serves", async () => {
  const lane = { name: "provider", per_site: false, messages_per_second: 1 };
  const { recorder, transport } = await startSmtpTransport(routeTo(lane));
  for (let n = 0; n < 20; n++) transport.send(leased(`user${n}`, { domain: `customer${n}.test` }));
  await recorder.waitFor(15);
  expect(recorder.heard.filter(({ kind }) => kind === "requeue")).toHaveLength(14);
  expect(transport.saturatedDomains()).toHaveLength(20);
  expect(transport.saturatedDomains(0)).toEqual([]);
});

test("of ten thousand saturated domains none is dropped for mail to one of them, and the least recently used one for mail to another", async () => {
  const lane = { name: "provider", per_site: false, messages_per_second: 1 };
  const { transport } = await startSmtpTransport(routeTo(lane));
  const send = (n: number) => transport.send(leased("ann", { domain: `customer${n}.test` }));
  for (let n = 1; n < 10_000; n++) send(n);
  await expect.poll(() => transport.saturatedDomains()).toHaveLength(9_999);
  /** The most recently routed one is the last. */
  const routedTo = (n: number) =>
    expect.poll(() => transport.saturatedDomains().at(-1)).toBe(`customer${n}.test`);
  send(1);
  await routedTo(1);
  send(10_000);
  await routedTo(10_000);
  send(2);
  await routedTo(2);
  expect(transport.saturatedDomains()).toHaveLength(10_000);
  send(10_001);
  await routedTo(10_001);
  expect(transport.saturatedDomains()).toHaveLength(10_000);
  expect(transport.saturatedDomains()).not.toContain("customer3.test");
});

test("a paused lane is saturated, even when no message waits in it", async () => {
  const { recorder, transport } = await startSmtpTransport(routeTo({}));
  transport.send(leased("busy"));
  await recorder.waitFor(1);
  expect(transport.saturatedDomains(0)).toEqual(["example.test"]);
  expect(transport.pausedLanes()).toEqual({ default: 1 });
});

test("a lane without messages is forgotten", async () => {
  const { recorder, transport } = await startSmtpTransport(routeTo({}));
  transport.send(leased("ann"));
  await recorder.waitFor(1);
  expect(transport.saturatedDomains()).toEqual([]);
});

test("a closing transport releases messages that wait for their route", async () => {
  const answer = Promise.withResolvers<Awaited<ReturnType<FindRoute>>>();
  const { recorder, transport } = await startSmtpTransport(() => answer.promise);
  transport.send(leased("ann"));
  transport.close();
  answer.resolve(await routeTo({})("example.test"));
  expect(await recorder.waitFor(1)).toEqual([{ kind: "release", who: "ann" }]);
});

/** An egress path from 127.0.0.2. */
const fromAnother: DecideEgress = async (_message, route) =>
  "outcome" in route
    ? { kind: "unroutable", result: route }
    : {
        kind: "send",
        destination: route,
        path: {
          key: "127.0.0.2",
          session: { localAddress: "127.0.0.2", ehloName: "two.sender.test" },
          sourceIp: "127.0.0.2",
          quotaSlot: null,
        },
      };

test("each egress path has its own connections, bound to its address, with its EHLO name", async () => {
  const { mx, recorder, transport } = await startSmtpTransport(routeTo({ connections: 1 }), {
    decideEgress: fromAnother,
  });
  for (const routing_version of [null, 1, null, 1]) transport.send(leased("ann", { routing_version }));
  await recorder.waitFor(4);
  const peers = mx.messages.map(({ connection, peer, ehlo }) => `${connection} ${peer} ${ehlo}`);
  expect(new Set(peers).size).toBe(2);
  expect(peers.filter((peer) => peer.endsWith("127.0.0.2 two.sender.test"))).toHaveLength(2);
  expect(peers.filter((peer) => peer.endsWith("127.0.0.1 out.sender.test"))).toHaveLength(2);
});

test("a workspace with an egress path of its own saturates a lane for itself only", async () => {
  const { recorder, transport } = await startSmtpTransport(routeTo({ messages_per_second: 1 }), {
    decideEgress: fromAnother,
  });
  const { workspace_id } = leased("ann");
  for (let n = 0; n < 5; n++) transport.send(leased(`user${n}`, { routing_version: 1 }));
  await recorder.waitFor(1);
  expect(transport.saturatedDomains()).toEqual([`${workspace_id} example.test`]);
});

test("a source address that reaches no address of the host defers the message and says so", async () => {
  const onlyV6: DecideEgress = async (message, route) => {
    const egress = await fromAnother(message, route);
    if (egress.kind !== "send" || egress.path === null) return egress;
    return { ...egress, path: { ...egress.path, session: { localAddress: "::1" } } };
  };
  const { recorder, transport } = await startSmtpTransport(routeTo({}), { decideEgress: onlyV6 });
  transport.send(leased("ann", { routing_version: 1 }));
  expect(await recorder.waitFor(1)).toMatchObject([
    { kind: "attempted", result: { reason: "no mail host has an address that ::1 reaches" } },
  ]);
});

test("the quota slot of a message is settled once, however the message ends", async () => {
  const settled: string[] = [];
  const limited: DecideEgress = async (message, route) => {
    const egress = await fromAnother(message, route);
    if (egress.kind !== "send" || egress.path === null) return egress;
    const quotaSlot = {
      settle: ({ outcome }: { readonly outcome: string }) => void settled.push(outcome),
      giveBack: () => void settled.push("given back"),
    };
    return { ...egress, path: { ...egress.path, quotaSlot } };
  };
  const { recorder, transport } = await startSmtpTransport(routeTo({}), { decideEgress: limited });
  transport.send(leased("ann", { routing_version: 1 }));
  await recorder.waitFor(1);
  recorder.answer = () => false;
  transport.send(leased("bob", { routing_version: 1 }));
  await recorder.waitFor(2);
  expect(settled).toEqual(["accepted", "given back"]);
});

test("a campaign whose source address is on another machine is no longer leased here", async () => {
  const campaign = newId();
  const decideEgress: DecideEgress = async () => ({
    kind: "requeue",
    seconds: 0,
    sourceIp: "192.0.2.9",
    foreignCampaign: campaign,
  });
  const { recorder, transport } = await startSmtpTransport(routeTo({}), { decideEgress });
  transport.send(leased("ann", { routing_version: 1 }));
  expect(await recorder.waitFor(1)).toEqual([
    { kind: "hold", who: "ann", seconds: 0, sourceIp: "192.0.2.9" },
  ]);
  expect(transport.foreignCampaigns?.()).toEqual([campaign]);
});
