import { expect, it } from "vitest";
import { trustedProxies } from "./source-network.ts";

it.each([
  ["192.0.2.1", ["192.0.2.1", "::ffff:192.0.2.1"], ["192.0.2.2", "::1", "unknown", ""]],
  ["192.0.2.0/24", ["192.0.2.255"], ["192.0.3.0"]],
  ["192.0.2.0/255.255.255.128", ["192.0.2.127"], ["192.0.2.128"]],
  ["0.0.0.0/0", ["203.0.113.9"], ["2001:db8::1"]],
  ["2001:db8::/32", ["2001:db8:ffff::1"], ["2001:db9::"]],
  ["2001:db8::1", ["2001:db8:0:0::1"], ["2001:db8::2"]],
  ["loopback", ["127.0.0.1", "127.9.9.9", "::1"], ["128.0.0.1"]],
  ["linklocal", ["169.254.1.1", "fe80::1"], ["169.255.0.0"]],
  ["uniquelocal", ["10.0.0.1", "172.31.0.1", "192.168.0.1", "fd00::1"], ["172.32.0.1"]],
])("%s is told from other addresses", (entry, inside, outside) => {
  const isProxy = trustedProxies("TRUSTED_PROXIES", [entry]);
  expect([inside.filter(isProxy), outside.filter(isProxy)]).toEqual([inside, []]);
});

it.each([
  "proxy.example",
  "192.0.2.0/33",
  "2001:db8::/129",
  "192.0.2.1/24/1",
  "192.0.2.0/255.0.255.0",
  "192.0.2.0/x",
])("%s is refused by name", (entry) =>
  expect(() => trustedProxies("TRUSTED_PROXIES", [entry])).toThrow(
    `${entry} is neither an IP address nor a network`,
  ),
);
