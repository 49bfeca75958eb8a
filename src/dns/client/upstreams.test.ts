import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import type { DnsServer } from "#platform/dns-server-address.ts";
import { Upstreams } from "./upstreams.ts";

const server = (at: number): DnsServer => ({ host: `127.0.${at >> 8}.${at & 0xff}`, port: 5_353 });

test("a server is remembered from its first question on", () => {
  const upstreams = new Upstreams();
  expect(upstreams.inTurn([server(1), server(2)])).toEqual([server(1), server(2)]);
  expect(upstreams.size).toBe(0);
  const first = upstreams.of(server(1));
  expect([upstreams.of({ ...server(1) }), upstreams.size]).toEqual([first, 1]);
});

test("a bounded number of idle servers is remembered", async () => {
  const upstreams = new Upstreams(3);
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  const busy = { host: "127.0.0.1", port: socket.address().port };
  const asked = upstreams.of(busy);
  const end = asked.ask(
    { name: "a.test", type: "A", servers: [busy], timeoutMs: 100, tries: 1, wantsDnssec: false },
    { onReply() {}, onFault() {}, onTruncated() {} },
  );
  for (let at = 1; at < 100; at++) upstreams.of(server(at));
  expect(upstreams.size).toBe(3);
  expect(upstreams.of(busy)).toBe(asked);
  end();
});
