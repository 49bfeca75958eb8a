import { expect, test } from "vitest";
import { reverseName } from "./reverse-name.ts";

test.each([
  ["192.0.2.10", "10.2.0.192.in-addr.arpa"],
  // RFC 3596 section 2.5
  ["4321:0:1:2:3:4:567:89ab", "b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa"],
  ["2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"],
])("the reverse name of %s is %s", (address, name) => {
  expect(reverseName(address)).toBe(name);
});
